/** A destination that was put back to an earlier state is noticed by a machine that has seen more of it. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { addKey } from '../../../src/repository/keys/keys.ts';
import { putConfig } from '../../../src/repository/configuration.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { deleteTwice } from '../../../src/repository/objects/second-copies.ts';

const { signal } = new AbortController();
const cost = { m: 64, t: 1, p: 1 };
const machine: Secret = { kind: 'machine', secret: randomBytes(32) };

let destination: Destination;
let repository: Repository;
let stateDirectory: string;

beforeEach(async () => {
  stateDirectory = mkdtempSync(join(tmpdir(), 'holdfast-rolled-back-'));
  destination = createMemoryDestination();
  const secrets = [{ secret: machine, label: 'this host' }];
  repository = await createRepository(
    destination,
    { clock: systemClock, stateDirectory, secrets, cost },
    signal,
  );
});
afterEach(() => {
  rmSync(stateDirectory, { recursive: true });
});

async function open(memory: string | undefined = stateDirectory): Promise<Repository> {
  return await openRepository(destination, machine, { clock: systemClock, stateDirectory: memory }, signal);
}

describe('a repository', () => {
  it('whose newest keyring is gone is refused by who has seen it, since a removed key would open it again', async () => {
    const secret: Secret = { kind: 'machine', secret: randomBytes(32) };
    await addKey(repository, { secret, label: 'other', cost }, signal);
    expect((await open()).ringNumber).toBe(2);
    await deleteTwice(destination, 'keys/ring-2', signal);
    await expect(open()).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('(keys/ring-2 is missing): it was replaced with an earlier copy'),
    });
  });

  it('whose newest configuration is gone is refused by who has seen it', async () => {
    await putConfig(repository, { ...repository.config, graceSeconds: 1_000 }, 2, signal);
    expect((await open()).config.graceSeconds).toBe(1_000);
    await deleteTwice(destination, 'config/2', signal);
    await expect(open()).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('(config/2 is missing): it was replaced with an earlier copy'),
    });
  });

  it('is opened by a machine that has not seen more of it', async () => {
    await putConfig(repository, { ...repository.config, graceSeconds: 1_000 }, 2, signal);
    await deleteTwice(destination, 'config/2', signal);
    expect((await open(join(stateDirectory, 'another'))).ringNumber).toBe(1);
  });
});
