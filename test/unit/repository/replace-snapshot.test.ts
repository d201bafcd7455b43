/** A snapshot that is stored again while somebody else forgets it. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RepositoryError } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../../src/repository/check-report.ts';
import { check } from '../../../src/repository/check.ts';
import { ForgottenMeanwhile } from '../../../src/repository/forgotten-meanwhile.ts';
import type { Secret } from '../../../src/repository/key-slots.ts';
import { replaceSnapshot, rewriteSnapshot } from '../../../src/repository/replace-snapshot.ts';
import { createRepository, openRepository, type Repository } from '../../../src/repository/repository.ts';
import {
  forgetSnapshots,
  listSnapshots,
  recordAgain,
  type Snapshot,
} from '../../../src/repository/snapshots.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tinyBackup } from '../../support/tiny-archiver.ts';

const clock = manualClock();
const secret: Secret = { kind: 'machine', secret: randomBytes(32) };
const { signal } = new AbortController();

let memory: Destination;
let repository: Repository;
let old: Snapshot;
/** Awaited before the new snapshot is there. */
let whileStored: () => Promise<void>;
/** Called before its head is there. */
let beforeHead: () => void;

beforeEach(async () => {
  whileStored = async () => {};
  beforeHead = () => {};
  memory = createMemoryDestination();
  const secrets = [{ secret, label: 'test' }];
  const options = { clock, stateDirectory: undefined, secrets, cost: { m: 64, t: 1, p: 1 } };
  const hooked = hookedDestination(memory, {
    put: async (key) => {
      if (key.startsWith('snapshots/')) await whileStored();
      if (key.startsWith('heads/')) beforeHead();
    },
  });
  repository = await createRepository(hooked, options, signal);
  old = await tinyBackup(repository, { file: randomBytes(100) }, {}, signal);
});

afterEach(() => {
  vi.useRealTimers();
});

async function open(): Promise<Repository> {
  const options = { clock, stateDirectory: undefined, allowWeakCost: true };
  return await openRepository(memory, secret, options, signal);
}

const forgetByOther = async (): Promise<void> =>
  await forgetSnapshots(await open(), [old.id], 'by somebody', signal);

/** What there is, for a host that opens it now; check finds no gap. */
async function liveNow(): Promise<readonly Snapshot[]> {
  const fresh = await open();
  const { findings } = await check(fresh, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  return (await listSnapshots(fresh, signal)).live;
}

const storedNow = async (): Promise<number> => {
  let count = 0;
  for await (const page of memory.list('snapshots/', signal)) count += page.length;
  return count;
};

describe('a snapshot with other tags', () => {
  it('stands in the place of the old one', async () => {
    const { id } = await rewriteSnapshot(repository, old, { tags: ['kept'] }, signal);
    const live = await liveNow();
    expect(live.map((one) => [one.id, one.record.tags, one.record.original])).toEqual([
      [id, ['kept'], old.id],
    ]);
  });

  it('is not stored when the old one was forgotten before', async () => {
    await forgetByOther();
    await expect(rewriteSnapshot(repository, old, { tags: ['kept'] }, signal)).rejects.toMatchObject({
      code: 'SNAPSHOT_NOT_FOUND',
    });
    expect(await storedNow()).toBe(1);
    expect(await liveNow()).toEqual([]);
  });

  it('is forgotten at once when the old one was forgotten while it was stored', async () => {
    whileStored = forgetByOther;
    await expect(rewriteSnapshot(repository, old, { tags: ['kept'] }, signal)).rejects.toMatchObject({
      code: 'SNAPSHOT_NOT_FOUND',
    });
    expect(await storedNow()).toBe(2);
    expect(await liveNow()).toEqual([]);
  });
});

describe('whoever has to have a right to it', () => {
  const lost = new RepositoryError('REPOSITORY_LOCKED', 'The right to prune was lost');

  async function replaced(stop: AbortController, held: () => Promise<void>): Promise<Snapshot> {
    const { tombstones } = await listSnapshots(repository, signal);
    const forgotten = new ForgottenMeanwhile(repository, tombstones);
    const record = recordAgain(old, 0);
    return await replaceSnapshot(repository, { old, record, forgotten, own: 1, fence: 1, held }, stop.signal);
  }

  it('stores nothing when it has gone', async () => {
    const held = async (): Promise<never> => await Promise.reject(lost);
    await expect(replaced(new AbortController(), held)).rejects.toBe(lost);
    expect(await storedNow()).toBe(1);
    await tinyBackup(repository, { file: randomBytes(100) }, {}, signal);
    expect(await liveNow()).toHaveLength(2);
  });

  it('sees to what was stored when it goes in between', async () => {
    const stop = new AbortController();
    whileStored = async () => {
      await forgetByOther();
      stop.abort(lost);
    };
    await expect(replaced(stop, async () => {})).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
    expect(await storedNow()).toBe(2);
    expect(await liveNow()).toEqual([]);
  });

  it('sees to it also when the destination has become slow', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stop = new AbortController();
    whileStored = async () => {
      await forgetByOther();
      stop.abort(lost);
    };
    beforeHead = () => {
      beforeHead = () => {};
      vi.advanceTimersByTime(60_000);
    };
    await expect(replaced(stop, async () => {})).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
    expect(await storedNow()).toBe(2);
    expect(await liveNow()).toEqual([]);
  });
});
