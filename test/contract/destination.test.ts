// Turn 3 of 8.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { withRetry } from '../../src/destination/retry.ts';
import { destinationContract } from './destination-suite.ts';

// Thousands of synced files: a file system in memory keeps this to seconds where there is one.
const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

destinationContract('local', async () => {
  const directory = await mkdtemp(join(scratch, 'holdfast-contract-'));
  return {
    open: () => openLocalDestination(directory),
    remove: () => rm(directory, { recursive: true }),
  };
});

destinationContract('memory', async () => {
  const destination = createMemoryDestination();
  return { open: async () => destination, remove: async () => {} };
});

destinationContract('withRetry(memory)', async () => {
  const destination = createMemoryDestination();
  return { open: async () => withRetry(destination), remove: async () => {} };
});
