/**
 * Entry file of the process that scans a source on a file system that may hang: it prints signs of life, then the
 * result, and ends.
 */
import { writeSync } from 'node:fs';
import { pollFar, type FarPollOrder } from './far-poll.ts';

const STDOUT = 1;
/** Milliseconds between two signs of life. */
const OFTEN = 1_000;

let saidMs = 0;
const found = pollFar(JSON.parse(process.argv[2] ?? '') as FarPollOrder, () => {
  const now = performance.now();
  if (now - saidMs < OFTEN) return;
  saidMs = now;
  writeSync(STDOUT, '\n');
});
writeSync(STDOUT, `${JSON.stringify(found)}\n`);
