import { mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { systemClock, type Clock } from '../../../src/base/clock.ts';
import type { Destinations, Place } from '../../../src/daemon/places/destinations.ts';
import { Reading } from '../../../src/daemon/snapshots/reading.ts';
import { openDestination } from '../../../src/destination/open/open.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import { collect } from '../../support/collect.ts';
import { directory, file, handMadeSnapshot } from '../../support/hand-made-snapshot.ts';
import { manualClock } from '../../support/manual-clock.ts';

const { signal } = new AbortController();
let site: string;
let location: string;
let typed: string;

beforeEach(async () => {
  site = mkdtempSync(join(tmpdir(), 'holdfast-reading-'));
  location = join(site, 'repository');
  typed = 'four words';
  const secret = { kind: 'passphrase', text: typed } as const;
  const repository = await createRepository(
    await openDestination(location, { create: true }),
    {
      clock: systemClock,
      stateDirectory: join(site, 'state'),
      secrets: [{ secret, label: 'test' }],
      cost: { m: 64, t: 1, p: 1 },
    },
    signal,
  );
  await repository.close();
});

afterEach(() => {
  rmSync(site, { recursive: true, force: true });
});

function reading(clock: Clock = systemClock): { readonly reads: Reading; readonly place: Place } {
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
  const stateDirectory = join(site, 'state');
  return { place, reads: new Reading({ clock, stateDirectory, destinations, weakCost: true }) };
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

  describe('of which a large file is fetched', () => {
    const bytes = Buffer.alloc(600_000, 'x');

    async function fetching(clock: Clock) {
      const repository = await openRepository(
        await openDestination(location),
        { kind: 'passphrase', text: typed },
        { clock, stateDirectory: undefined, allowWeakCost: true },
        signal,
      );
      const chunks = Array.from({ length: 3 }, (_, i) => bytes.subarray(i * 200_000, (i + 1) * 200_000));
      const { id } = await handMadeSnapshot(repository, directory({ large: file(chunks) }), {}, signal);
      await repository.close();
      const { reads, place } = reading(clock);
      const content = await reads.content(place, id, asByteString('/large'));
      const parts = content.read(undefined, signal)[Symbol.asyncIterator]();
      const first = await parts.next();
      return { reads, place, id, parts, first: Buffer.from(first.value ?? []) };
    }

    it('stays open until that has ended, however long it takes, and is closed then', async () => {
      const clock = manualClock();
      const { reads, parts, first } = await fetching(clock);
      await clock.advance(10 * 60_000);
      expect(isHeldOpen()).toBe(true);
      const rest = await collect({ [Symbol.asyncIterator]: () => parts });
      expect(Buffer.concat([first, ...rest]).equals(bytes)).toBe(true);
      await clock.advance(2_000);
      expect(isHeldOpen()).toBe(true);
      await clock.advance(91_000);
      await vi.waitFor(() => expect(isHeldOpen()).toBe(false));
      await reads[Symbol.asyncDispose]();
    });

    it('is closed when that has ended, if a snapshot was forgotten meanwhile', async () => {
      const { reads, place, id, parts } = await fetching(manualClock());
      await reads.forget(place, id);
      expect(isHeldOpen()).toBe(true);
      await parts.return?.(undefined);
      expect(isHeldOpen()).toBe(false);
      await reads[Symbol.asyncDispose]();
    });
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
