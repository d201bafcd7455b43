import { mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { Destinations, Place } from '../../../src/daemon/destinations.ts';
import { Reading } from '../../../src/daemon/reading.ts';
import { openDestination } from '../../../src/destination/open.ts';
import { createRepository } from '../../../src/repository/repository.ts';

const { signal } = new AbortController();
let directory: string;
let location: string;
let typed: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-reading-'));
  location = join(directory, 'repository');
  typed = 'four words';
  const secret = { kind: 'passphrase', text: typed } as const;
  const repository = await createRepository(
    await openDestination(location, { create: true }),
    {
      clock: systemClock,
      stateDirectory: join(directory, 'state'),
      secrets: [{ secret, label: 'test' }],
      cost: { m: 64, t: 1, p: 1 },
    },
    signal,
  );
  await repository.close();
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function reading(): { readonly reads: Reading; readonly place: Place } {
  const place: Place = {
    name: 'disk',
    url: `file://${location}`,
    location,
    shown: location,
    directory: location,
    passphrase: null,
    access: undefined,
  };
  const destinations: Pick<Destinations, 'open'> = {
    open: async () => ({
      name: 'disk',
      url: location,
      access: undefined,
      person: undefined,
      secret: { kind: 'passphrase', text: typed },
      repositoryId: null,
      uploadLimit: null,
    }),
  };
  const stateDirectory = join(directory, 'state');
  return { place, reads: new Reading({ clock: systemClock, stateDirectory, destinations, weakCost: true }) };
}

/** Whether this process has the directory open: its drive cannot be unmounted then. */
function isHeldOpen(): boolean {
  return readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(join('/proc/self/fd', fd)) === location;
    } catch {
      return false;
    }
  });
}

describe.runIf(process.platform === 'linux')('a repository that is read for a while', () => {
  it('is held open meanwhile, and not afterwards', async () => {
    const { reads, place } = reading();
    expect((await reads.snapshots(place)).snapshots).toEqual([]);
    expect(isHeldOpen()).toBe(true);
    await reads[Symbol.asyncDispose]();
    expect(isHeldOpen()).toBe(false);
  });

  it('is not held open when its passphrase is wrong', async () => {
    const { reads, place } = reading();
    typed = 'other words';
    await expect(reads.snapshots(place)).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
    expect(isHeldOpen()).toBe(false);
  });

  it('is not held open when its lists cannot be read, and is read once they can', async () => {
    const { reads, place } = reading();
    const index = join(location, 'index');
    rmSync(index, { recursive: true, force: true });
    symlinkSync(index, index);
    await expect(reads.snapshots(place)).rejects.toThrow(/Cannot list/);
    expect(isHeldOpen()).toBe(false);
    rmSync(index);
    expect((await reads.snapshots(place)).snapshots).toEqual([]);
    await reads[Symbol.asyncDispose]();
  });
});
