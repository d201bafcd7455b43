/** A snapshot that is stored again while somebody else forgets it. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RepositoryError } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import { listNamed, packKey } from '../../../src/repository/objects/listing.ts';
import { ForgottenMeanwhile } from '../../../src/repository/forgotten-meanwhile.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { putTombstone } from '../../../src/repository/put-tombstone.ts';
import { replaceSnapshot, rewriteSnapshot } from '../../../src/repository/renew/replace-snapshot.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
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
let beforeTombstone: () => Promise<void>;

beforeEach(async () => {
  whileStored = async () => {};
  beforeHead = () => {};
  beforeTombstone = async () => {};
  memory = createMemoryDestination();
  const secrets = [{ secret, label: 'test' }];
  const options = { clock, stateDirectory: undefined, secrets, cost: { m: 64, t: 1, p: 1 } };
  const hooked = hookedDestination(memory, {
    put: async (key) => {
      if (key.startsWith('snapshots/')) await whileStored();
      if (key.startsWith('heads/')) beforeHead();
      if (key.startsWith('trash/')) await beforeTombstone();
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

describe('two who store a snapshot again at the same time', () => {
  it('leave what both have stored', async () => {
    const other = await open();
    let theirs: Promise<Snapshot> | undefined;
    // Both look before either has stored anything.
    whileStored = async () => {
      whileStored = async () => {};
      theirs = rewriteSnapshot(other, old, { tags: ['theirs'] }, signal);
      await theirs;
    };
    const ours = await rewriteSnapshot(repository, old, { tags: ['ours'] }, signal);
    const live = await liveNow();
    expect(new Set(live.map(({ id }) => id))).toEqual(new Set([ours.id, (await theirs)?.id]));
    expect(live).toHaveLength(2);
  });

  it('forget it when what took its place was forgotten', async () => {
    const other = await open();
    whileStored = async () => {
      whileStored = async () => {};
      const { id } = await rewriteSnapshot(other, old, { tags: ['theirs'] }, signal);
      await forgetSnapshots(other, [id], 'by somebody', signal);
    };
    await expect(rewriteSnapshot(repository, old, { tags: ['ours'] }, signal)).rejects.toMatchObject({
      code: 'SNAPSHOT_NOT_FOUND',
    });
    expect(await liveNow()).toEqual([]);
  });

  it('forget it when somebody removed the old one as well, whoever comes first', async () => {
    const other = await open();
    const third = await open();
    whileStored = async () => {
      whileStored = async () => {};
      await rewriteSnapshot(other, old, { tags: ['theirs'] }, signal);
      const record = { kind: 'snapshots' as const, names: [old.id], places: [old.chain], atMs: 0, fence: 0 };
      await putTombstone(third, { ...record, reason: 'by somebody' }, { live: 0 }, signal);
    };
    await expect(rewriteSnapshot(repository, old, { tags: ['ours'] }, signal)).rejects.toMatchObject({
      code: 'SNAPSHOT_NOT_FOUND',
    });
  });

  it('leave it when one of three stands, whichever is read last', async () => {
    const others = [await open(), await open()];
    const forgotten = new ForgottenMeanwhile(
      repository,
      (await listSnapshots(repository, signal)).tombstones,
    );
    const [gone = old] = await Promise.all(
      others.map(async (one, n) => await rewriteSnapshot(one, old, { tags: [`${n}`] }, signal)),
    );
    await forgetSnapshots(repository, [gone.id], 'by somebody', signal);
    expect(await forgotten.allOf([old.id], signal)).toEqual([old.id]);
    expect(forgotten.isReplaced(old.id)).toBe(true);
    expect(await liveNow()).toHaveLength(1);
  });

  it.each([
    ['leave it where nobody says any more why the old one was forgotten', true],
    ['forget it there when it lacks something', false],
  ])('%s', async (_what, isWhole) => {
    const other = await open();
    whileStored = async () => {
      whileStored = async () => {};
      const record = { kind: 'snapshots' as const, names: [old.id], places: [old.chain], atMs: 0, fence: 0 };
      await putTombstone(other, { ...record, reason: 'compacted' }, { live: 0 }, signal);
      if (isWhole) return;
      for (const name of (await listNamed(memory, 'packs/', signal)).keys())
        await memory.delete(packKey(name), signal);
    };
    const made = rewriteSnapshot(repository, old, { tags: ['ours'] }, signal);
    if (isWhole) expect((await liveNow()).map(({ id }) => id)).toEqual([(await made).id]);
    else await expect(made).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
    expect((await listSnapshots(await open(), signal)).live).toHaveLength(isWhole ? 1 : 0);
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

  it('leaves it to the next one who has adopted it', async () => {
    const stop = new AbortController();
    let adopted: string | undefined;
    // Its own tombstone is late: the right to it had gone, and whoever has that now has found both.
    beforeTombstone = async () => {
      beforeTombstone = async () => {};
      stop.abort(lost);
      const other = await open();
      const { live, tombstones } = await listSnapshots(other, signal);
      const twin = live.find(({ id }) => id !== old.id);
      const forgotten = new ForgottenMeanwhile(other, tombstones);
      const record = recordAgain(old, 0);
      const next = { old, record, forgotten, own: 0, fence: 2, held: async () => {}, twin };
      adopted = (await replaceSnapshot(other, next, signal)).id;
    };
    const { id } = await replaced(stop, async () => {});
    expect(id).toBe(adopted);
    expect((await liveNow()).map((one) => one.id)).toEqual([id]);
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

  it.each(['with the snapshot', 'with its head'])(
    'sees to it also when the destination is slow %s',
    async (when) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const stop = new AbortController();
      const aMinute = (): void => void vi.advanceTimersByTime(60_000);
      whileStored = async () => {
        await forgetByOther();
        stop.abort(lost);
        if (when === 'with the snapshot') aMinute();
      };
      beforeHead = () => {
        beforeHead = () => {};
        if (when === 'with its head') aMinute();
      };
      await expect(replaced(stop, async () => {})).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
      expect(await storedNow()).toBe(2);
      expect(await liveNow()).toEqual([]);
    },
  );
});
