import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { DestinationError } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import { loadIndex, readIndexObjects } from '../../../src/repository/chunk-index.ts';
import { LEASE_TIMES, newLeaseRecord, putLease } from '../../../src/repository/lease-objects.ts';
import { acquirePruneLease, openSession } from '../../../src/repository/take-lease.ts';
import { listNamed, packKey } from '../../../src/repository/objects/listing.ts';
import { PRUNE_LIMITS, type PruneOptions } from '../../../src/repository/prune/prune-plan.ts';
import {
  SILENT_PRUNE,
  executePrune,
  planPrune,
  prune,
  type PrunePhase,
  type PruneResult,
} from '../../../src/repository/prune/prune.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import {
  commitSnapshot,
  forgetSnapshots,
  listSnapshots,
  type Snapshot,
} from '../../../src/repository/snapshots.ts';
import { placesIn, readTombstones } from '../../../src/repository/tombstones.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { recordingDestination, type RecordingDestination } from '../../support/recording-destination.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { lostFiles, tinyBackup, type TinyOptions, type TinyTree } from '../../support/tiny-archiver.ts';

const HOUR = 3_600_000;
const GRACE = 72 * HOUR;
const { signal } = new AbortController();
const secret = { kind: 'machine' as const, secret: randomBytes(32) };
let random = seededRandom(3);
let clock: ManualClock;
let destination: RecordingDestination;
let repository: Repository;
/** What each live snapshot must give back. */
let trees: Map<string, TinyTree>;

beforeEach(async () => {
  random = seededRandom(3);
  clock = manualClock();
  trees = new Map();
  await create();
});

async function create(options: { readonly graceSeconds?: number } = {}): Promise<void> {
  destination = recordingDestination(createMemoryDestination(() => clock.now()));
  repository = await createRepository(
    destination,
    {
      clock,
      stateDirectory: undefined,
      secrets: [{ secret, label: 'test' }],
      cost: { m: 64, t: 1, p: 1 },
      packTarget: 65_536,
      segmentTarget: 65_536,
      ...options,
    },
    signal,
  );
}

async function backup(
  tree: TinyTree,
  options: TinyOptions = {},
  through: Repository = repository,
): Promise<Snapshot> {
  const snapshot = await tinyBackup(through, tree, options, signal);
  trees.set(snapshot.id, tree);
  await clock.advance(1_000);
  return snapshot;
}

async function forget(...snapshots: Snapshot[]): Promise<void> {
  await forgetSnapshots(
    repository,
    snapshots.map(({ id }) => id),
    'test',
    signal,
  );
  for (const { id } of snapshots) trees.delete(id);
  await clock.advance(1_000);
}

async function run(options: PruneOptions = {}): Promise<PruneResult> {
  const result = await prune(repository, options, SILENT_PRUNE, signal);
  await clock.advance(1_000);
  return result;
}

async function names(
  prefix: Parameters<typeof listNamed>[1],
  of: Destination = destination,
): Promise<string[]> {
  return [...(await listNamed(of, prefix, signal)).keys()].sort();
}

/** A check finds nothing, and every live snapshot gives back what was put in. */
async function expectSound(): Promise<void> {
  const { findings } = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
  expect(findings).toEqual([]);
  const { live } = await listSnapshots(repository, signal);
  expect(live.map(({ id }) => id).sort()).toEqual([...trees.keys()].sort());
  for (const snapshot of live)
    expect(await lostFiles(repository, snapshot, trees.get(snapshot.id) ?? {}, signal)).toEqual([]);
}

/** One that looked before its packs were marked, was stored after that, and is forgotten when they are due. */
async function forgottenParent(
  tree: TinyTree,
): Promise<{ readonly parent: Snapshot; readonly marked: readonly string[] }> {
  await forget(await backup(tree));
  const parent = await backup(tree, {
    step: async (name) => {
      if (name === 'commit') await run();
    },
  });
  const marked = await names('packs/');
  await clock.advance(GRACE);
  await forget(parent);
  return { parent, marked };
}

/** The changes made at the destination since the last reset, leases left aside. */
function changes(): string[] {
  return destination.calls
    .filter(
      ({ method, key }) => (method === 'put' || method === 'delete') && !/^(?:leases|reserve)\//.test(key),
    )
    .map(({ method, key }) => `${method} ${key.split('/')[0]}`);
}

const files = (count: number): TinyTree =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`file${i}`, random.bytes(20_000)]));

describe('prune', () => {
  it('has nothing to do where everything is needed', async () => {
    await backup(files(5));
    destination.reset();
    const { plan, markedPacks } = await run();
    expect(markedPacks).toBe(0);
    expect(plan).toMatchObject({
      mark: [],
      repack: [],
      revive: [],
      remove: [],
      waiting: [],
      young: [],
      snapshots: 1,
    });
    expect(changes()).toEqual([]);
    await expectSound();
  });

  it('marks what no snapshot needs, and deletes it once the grace period is over', async () => {
    const kept = await backup({ kept: random.bytes(30_000) });
    const gone = await backup(files(10));
    const needed = await loadIndex(repository, { without: new Set() }, signal);
    await forget(gone);
    const first = await run();
    expect(first.markedPacks).toBe(needed.packs.length - 2);
    expect(first.removedPacks).toBe(0);
    await expectSound();
    await clock.advance(GRACE - 10_000);
    expect(await run()).toMatchObject({ markedPacks: 0, removedPacks: 0, removedSnapshots: 0 });
    await clock.advance(10_000);
    const last = await run();
    expect(last).toMatchObject({
      removedPacks: first.markedPacks,
      removedBytes: first.markedBytes,
      removedSnapshots: 1,
    });
    expect(await names('packs/')).toHaveLength(2);
    expect(await names('snapshots/')).toEqual([kept.id]);
    await expectSound();
  });

  it('changes the index before packs go, and keeps every pack that stays in it', async () => {
    await backup(files(4));
    const gone = await backup(files(4));
    await backup(files(3));
    await forget(gone);
    await run();
    await clock.advance(GRACE);
    destination.reset();
    await run();
    const made = changes();
    expect(made.lastIndexOf('put index')).toBeLessThan(made.indexOf('delete packs'));
    expect(made.indexOf('put index')).toBeGreaterThanOrEqual(0);
    const index = await loadIndex(repository, { without: new Set() }, signal);
    expect(index.missing).toEqual([]);
    expect(index.uncovered).toEqual([]);
    expect(index.packs.map(({ name }) => name).sort()).toEqual(await names('packs/'));
    await expectSound();
  });

  it('leaves superseded index objects to the next prune, for those who have just listed them', async () => {
    await backup(files(1));
    const gone = await backup(files(1));
    await forget(gone);
    await run();
    const before = await names('index/');
    await clock.advance(GRACE);
    await run();
    expect(await names('index/')).toEqual(expect.arrayContaining(before));
    await run();
    const superseded = [...(await readIndexObjects(repository, [], signal)).values()].flatMap(
      ({ supersedes }) => supersedes,
    );
    expect((await names('index/')).filter((name) => superseded.includes(name))).toEqual([]);
    await expectSound();
  });

  it('copies what is live out of mostly dead packs, and deletes those later', async () => {
    const all = files(9);
    const gone = await backup(all);
    const kept = await backup({ file0: all['file0'] ?? {}, file4: all['file4'] ?? {} });
    await forget(gone);
    const first = await run();
    expect(first.plan.repack.length).toBeGreaterThan(0);
    expect(first.repack.done).toHaveLength(first.plan.repack.length);
    expect(first.repack.newPacks).toHaveLength(1);
    await expectSound();
    await clock.advance(GRACE);
    await run();
    await expectSound();
    const { size } = await destination.stat(packKey(first.repack.newPacks[0] ?? ''), signal);
    expect(size).toBeLessThan(45_000);
    expect((await listSnapshots(repository, signal)).live.map(({ id }) => id)).toEqual([kept.id]);
    expect(await names('packs/')).toHaveLength(2);
  });

  it('copies chunks of plain and isolated snapshots under their own keys', async () => {
    const all = files(9);
    const part = { file0: all['file0'] ?? {} };
    const salt = randomBytes(16);
    const gone = [await backup(all, { record: { plain: true } }), await backup(all, { record: { salt } })];
    await backup(part, { record: { plain: true } });
    await backup(part, { record: { salt } });
    await forget(...gone);
    const { repack } = await run();
    expect(repack.newPacks).toHaveLength(2);
    await clock.advance(GRACE);
    await run();
    await expectSound();
  });

  it('writes anew no more than it is allowed to, and nothing when told so', async () => {
    const all = files(9);
    const gone = await backup(all);
    await backup({ file0: all['file0'] ?? {}, file4: all['file4'] ?? {} });
    await forget(gone);
    expect((await planPrune(repository, { repackBelow: 0 }, signal)).repack).toEqual([]);
    const whole = await planPrune(repository, {}, signal);
    expect(whole.repack.length).toBe(2);
    expect((await planPrune(repository, { maxRepackBytes: 70_000 }, signal)).repack).toHaveLength(1);
  });

  it('takes back the mark from packs that a snapshot needs again', async () => {
    const tree = files(6);
    const gone = await backup(tree);
    await forget(gone);
    // A backup that looked before the packs were marked and commits after that.
    let marked: PruneResult | undefined;
    const late = await backup(tree, {
      step: async (name) => {
        if (name === 'commit') marked ??= await run();
      },
    });
    expect(marked?.markedPacks).toBeGreaterThan(0);
    expect((await readTombstones(repository, signal)).packs.size).toBe(marked?.markedPacks);
    await clock.advance(GRACE);
    expect(await run()).toMatchObject({ revivedPacks: marked?.markedPacks, removedPacks: 0 });
    expect((await readTombstones(repository, signal)).packs.size).toBe(0);
    expect((await listSnapshots(repository, signal)).live.map(({ id }) => id)).toEqual([late.id]);
    await expectSound();
  });

  it('takes back only the marks of packs that are needed, and deletes the others', async () => {
    const one = files(3);
    const two = files(3);
    const gone = [await backup(one), await backup(two)];
    await forget(...gone);
    await backup(one, {
      step: async (name) => {
        if (name === 'commit') await run();
      },
    });
    await clock.advance(GRACE);
    const result = await run();
    expect(result.revivedPacks).toBeGreaterThan(0);
    expect(result.removedPacks).toBeGreaterThan(0);
    await expectSound();
  });

  it('deletes no pack that the parent of a backup needed until a moment ago', async () => {
    const tree = files(6);
    const { parent, marked } = await forgottenParent(tree);
    // A backup has taken over the parent's tree, looked for the last time, and is not stored yet.
    expect(await run()).toMatchObject({ revivedPacks: 0, removedPacks: 0 });
    expect(await names('packs/')).toEqual(marked);
    const next = await commitSnapshot(repository, parent.record, { live: 1 }, signal);
    trees.set(next.id, tree);
    expect(await run()).toMatchObject({ revivedPacks: marked.length });
    await expectSound();
    // Without one they go with the first prune after the time that a backup has for that.
    await forget(next);
    await run();
    await clock.advance(GRACE);
    expect(await run()).toMatchObject({ removedPacks: marked.length });
  });

  it('keeps for no longer what was needed until a moment ago where the grace period is short', async () => {
    await create({ graceSeconds: 120 });
    const gone = await backup(files(6));
    await forget(gone);
    const { markedPacks } = await run();
    expect(markedPacks).toBeGreaterThan(0);
    // A sixth of the grace period, a minute, and as long as a list may be old: no longer than the grace period. What is
    // due before waits, and so does the snapshot that tells which packs those are.
    for (const seconds of [130, 60]) {
      await clock.advance(seconds * 1_000);
      expect(await run()).toMatchObject({ removedPacks: 0, removedSnapshots: 0 });
    }
    await clock.advance(10_000);
    expect(await run()).toMatchObject({ removedPacks: markedPacks, removedSnapshots: 1 });
    await expectSound();
  });

  it.each(['corrupt-reply', 'denied'] as const)(
    'deletes nothing that is due while it cannot know what such a parent needed: %s',
    async (kind) => {
      const { marked } = await forgottenParent(files(6));
      let isBroken = false;
      const broken = hookedDestination(destination, {
        get: (key) => {
          if (!key.startsWith('packs/')) return;
          isBroken = true;
          throw new DestinationError(kind, 'planned', { retry: 'never', details: { key } });
        },
      });
      const through = await openRepository(broken, secret, { clock, stateDirectory: undefined }, signal);
      const { plan, removedPacks } = await prune(through, {}, SILENT_PRUNE, signal);
      expect(isBroken).toBe(true);
      expect(removedPacks).toBe(0);
      expect(plan.waiting).toHaveLength(marked.length);
      // Whoever vouches that nobody else writes need not wait.
      expect((await run({ noOtherWriters: true })).removedPacks).toBe(marked.length);
    },
  );

  it('deletes no pack that a snapshot has come to need since it looked first', async () => {
    const tree = files(6);
    const gone = await backup(tree);
    await forget(gone);
    expect((await run()).markedPacks).toBeGreaterThan(0);
    const marked = await names('packs/');
    await clock.advance(GRACE);
    // What another writer commits as the first pack is about to go.
    const elsewhere = await openRepository(destination, secret, { clock, stateDirectory: undefined }, signal);
    let late: Snapshot | undefined;
    let isRemoving = false;
    const observer = {
      ...SILENT_PRUNE,
      phase: (phase: PrunePhase) => void (isRemoving = phase === 'removing'),
    };
    const committing = hookedDestination(destination, {
      list: async (prefix) => {
        if (!isRemoving || late !== undefined || prefix !== 'trash/') return;
        late = await commitSnapshot(elsewhere, gone.record, { live: 1 }, signal);
        trees.set(late.id, tree);
      },
    });
    const through = await openRepository(committing, secret, { clock, stateDirectory: undefined }, signal);
    const { removedPacks } = await prune(through, {}, observer, signal);
    expect(late).toBeDefined();
    expect(removedPacks).toBe(0);
    expect(await names('packs/')).toEqual(marked);
    await clock.advance(1_000);
    expect((await run()).revivedPacks).toBe(marked.length);
    // The index had left them out already; it names them again.
    const { packs, uncovered } = await loadIndex(repository, { without: new Set() }, signal);
    expect(packs.map(({ name }) => name).sort()).toEqual(marked);
    expect(uncovered).toEqual([]);
    expect((await listSnapshots(repository, signal)).live.map(({ id }) => id)).toEqual([late?.id]);
    await expectSound();
  });

  it('never marks what a backup at work has stored, and clears it when that backup died', async () => {
    await backup(files(1));
    const halted = tinyBackup(
      repository,
      files(4),
      {
        step: async (name) => {
          if (name !== 'look') return;
          // Its packs are older by now than anything but its session.
          await clock.advance(120_000);
          const { plan } = await run();
          expect(plan.mark).toEqual([]);
          expect(plan.young.length).toBeGreaterThan(0);
          expect(plan.sessions).toHaveLength(1);
          throw new Error('died');
        },
      },
      signal,
    );
    await expect(halted).rejects.toThrow('died');
    expect((await run()).markedPacks).toBeGreaterThan(0);
    await clock.advance(GRACE);
    await run();
    expect(await names('packs/')).toHaveLength(2);
    await expectSound();
  });

  it('forgets nothing that was forgotten, however often tombstones are put together', async () => {
    for (let round = 0; round < 25; round += 1) {
      const snapshot = await backup({ [`file${round}`]: random.bytes(5_000) });
      if (round % 5 !== 4) await forget(snapshot);
      await clock.advance(GRACE);
      await run();
      const { tombstones } = await listSnapshots(repository, signal);
      expect(tombstones.all.length).toBeLessThan(16);
    }
    await clock.advance(GRACE);
    await run();
    await expectSound();
    expect(await names('packs/')).toHaveLength(10);
    expect((await readTombstones(repository, signal)).snapshots.size).toBeGreaterThan(20);
  });

  it('keeps of all that is removed where it stood, however often tombstones are put together', async () => {
    await backup({ kept: random.bytes(30_000) });
    const stood = new Map<string, unknown>();
    for (let n = 0; n < 2 * PRUNE_LIMITS.mergeFrom; n += 1) {
      const gone = await backup({ [`gone${n}`]: random.bytes(30_000) });
      stood.set(gone.id, { writer: gone.chain.writer, seq: gone.chain.seq });
      await forget(gone);
      for (const { name, chain } of (await readTombstones(repository, signal)).all)
        stood.set(name, { writer: chain.writer, seq: chain.seq });
      await clock.advance(GRACE);
      await run();
    }
    const { all, snapshots } = await readTombstones(repository, signal);
    expect(all.length).toBeLessThan(2 * PRUNE_LIMITS.mergeFrom);
    const places = placesIn(all);
    expect([...places.keys()].sort()).toEqual([...snapshots].sort());
    for (const [name, place] of places) if (stood.has(name)) expect(place).toEqual(stood.get(name));
    expect([...stood.keys()].filter((name) => places.has(name)).length).toBeGreaterThan(20);
    await expectSound();
  });

  it('keeps the index in few objects', async () => {
    for (let i = 0; i < 30; i += 1) await backup({ file: random.bytes(1_000) });
    expect(await names('index/')).toHaveLength(30);
    await run();
    await run();
    expect(await names('index/')).toHaveLength(1);
    await expectSound();
  });

  it('does only what the plan says, even when more has become possible', async () => {
    const one = await backup(files(3));
    const two = await backup(files(3));
    await backup(files(1));
    await forget(one);
    const plan = await planPrune(repository, {}, signal);
    await forget(two);
    const result = await executePrune(repository, plan, SILENT_PRUNE, signal);
    expect(result.plan.mark.map(({ name }) => name).sort()).toEqual(plan.mark.map(({ name }) => name).sort());
    expect((await planPrune(repository, {}, signal)).mark.length).toBeGreaterThan(0);
    const other = { ...plan, repository: '0'.repeat(32) };
    await expect(executePrune(repository, other, SILENT_PRUNE, signal)).rejects.toMatchObject({
      code: 'REFUSED',
    });
  });

  it('changes nothing to make a plan', async () => {
    const gone = await backup(files(3));
    await forget(gone);
    destination.reset();
    const plan = await planPrune(repository, {}, signal);
    expect(plan.mark.length).toBeGreaterThan(0);
    expect(changes()).toEqual([]);
    expect(JSON.parse(JSON.stringify(plan))).toMatchObject({ mark: plan.mark, snapshots: 0 });
  });

  it('clears leases of processes that died', async () => {
    const session = 'ab'.repeat(8);
    await putLease(repository, `session.${session}`, 1, newLeaseRecord(repository, session), signal);
    await run();
    expect(destination.count('delete', `leases/session.${session}`)).toBe(0);
    await clock.advance(LEASE_TIMES.expiry + 1_000);
    await run();
    expect(destination.count('delete', `leases/session.${session}`)).toBe(1);
  });
});

describe('prune where snapshots are added all the time', () => {
  /** One more backup whenever prune has looked at everything and lists the tombstones once more. */
  async function amongWriters(options: PruneOptions = {}): Promise<PruneResult> {
    let made = 0;
    const hooks = {
      list: async (prefix: string, count: number) => {
        if (prefix !== 'trash/' || count < 3) return;
        made += 1;
        await backup({ [`new-${made}`]: Buffer.from(`new ${made}`) });
      },
    };
    const through = hookedDestination(destination, hooks);
    const busy = await openRepository(through, secret, { clock, stateDirectory: undefined }, signal);
    try {
      return await prune(busy, options, SILENT_PRUNE, signal);
    } finally {
      expect(made).toBeGreaterThanOrEqual(PRUNE_LIMITS.stockTries);
    }
  }

  it('goes by the grace period after a few looks, and deletes what was due', async () => {
    await backup(files(3));
    const gone = await backup(files(6));
    await forget(gone);
    const { markedPacks } = await amongWriters();
    expect(markedPacks).toBeGreaterThan(0);
    await clock.advance(GRACE);
    expect((await amongWriters()).removedPacks).toBe(markedPacks);
    await expectSound();
  });

  it('refuses to go without one', async () => {
    await backup(files(3));
    await expect(amongWriters({ graceSeconds: 0, noOtherWriters: true })).rejects.toMatchObject({
      code: 'REPOSITORY_LOCKED',
    });
  });
});

describe('prune without other writers', () => {
  it('needs no grace period and leaves nothing behind', async () => {
    const all = files(9);
    const gone = [await backup(all), await backup(files(4))];
    await backup({ file0: all['file0'] ?? {} });
    await forget(...gone);
    const result = await run({ graceSeconds: 0, noOtherWriters: true });
    expect(result.removedPacks).toBe(result.markedPacks);
    expect(result.removedBytes).toBe(result.markedBytes);
    expect(await names('packs/')).toHaveLength(2);
    expect(await names('index/')).toHaveLength(1);
    expect(await names('snapshots/')).toHaveLength(1);
    await expectSound();
  });

  it("is what a shorter grace period than the repository's own demands", async () => {
    for (const graceSeconds of [0, 1, GRACE / 1_000 - 1]) {
      await expect(run({ graceSeconds })).rejects.toMatchObject({ code: 'REFUSED' });
      await expect(planPrune(repository, { graceSeconds }, signal)).rejects.toMatchObject({
        code: 'REFUSED',
      });
    }
    await run({ graceSeconds: GRACE / 1_000 });
  });

  it('is refused while a backup is at work', async () => {
    await using session = await openSession(repository, {}, signal);
    expect(session.lost).toBeUndefined();
    const attempt = run({ graceSeconds: 0, noOtherWriters: true });
    await expect(attempt).rejects.toMatchObject({
      code: 'REPOSITORY_LOCKED',
      message: expect.stringContaining('A backup is running on'),
    });
  });

  it('says so when the process of that backup is there no longer', async () => {
    await using session = await openSession(repository, {}, signal);
    expect(session.lost).toBeUndefined();
    const alive = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('no such process'), { code: 'ESRCH' });
    });
    try {
      const attempt = run({ graceSeconds: 0, noOtherWriters: true });
      await expect(attempt).rejects.toMatchObject({
        code: 'REPOSITORY_LOCKED',
        message: expect.stringMatching(/^A backup on .+ \(process \d+\) ended unexpectedly$/),
        hint: expect.stringContaining('no longer counts five minutes after'),
      });
    } finally {
      alive.mockRestore();
    }
  });
});

describe('prune stops and removes nothing', () => {
  /** Something to delete: marked long ago. */
  async function prepare(): Promise<{ kept: Snapshot; packs: string[] }> {
    const kept = await backup(files(3));
    const gone = await backup(files(6));
    await forget(gone);
    await run();
    await clock.advance(GRACE);
    return { kept, packs: await names('packs/') };
  }

  async function expectStopped(code: string, packs: readonly string[]): Promise<void> {
    destination.reset();
    await expect(run()).rejects.toMatchObject({ code });
    expect(changes().filter((change) => change !== 'put index')).toEqual([]);
    expect(await names('packs/')).toEqual(packs);
  }

  async function flip(key: string): Promise<void> {
    const bytes = await destination.get(key, undefined, signal);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    await destination.delete(key, signal);
    await destination.put(key, bytes, signal);
  }

  it('when a snapshot cannot be read', async () => {
    const { kept, packs } = await prepare();
    await flip(`snapshots/${kept.id}`);
    await expectStopped('CORRUPT_DATA', packs);
  });

  it('when one snapshot of several cannot be read', async () => {
    await backup(files(2));
    const { kept, packs } = await prepare();
    await flip(`snapshots/${kept.id}`);
    await expectStopped('CORRUPT_DATA', packs);
  });

  it('when a snapshot is hidden', async () => {
    const { kept, packs } = await prepare();
    await destination.delete(`snapshots/${kept.id}`, signal);
    await expectStopped('CORRUPT_DATA', packs);
  });

  it('when a list has shrunk since it looked first', async () => {
    const { packs } = await prepare();
    const needed = packs.at(-1) ?? '';
    let hidden = 0;
    let isHiding = false;
    const forgetful = {
      ...destination,
      async *list(prefix: string, on: AbortSignal) {
        for await (const page of destination.list(prefix, on)) {
          const shown = page.filter(({ key }) => !isHiding || key !== packKey(needed));
          hidden += page.length - shown.length;
          yield shown;
        }
      },
    };
    const through = await openRepository(forgetful, secret, { clock, stateDirectory: undefined }, signal);
    const observer = {
      ...SILENT_PRUNE,
      phase: (phase: PrunePhase) => void (isHiding = phase === 'removing'),
    };
    await expect(prune(through, {}, observer, signal)).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('less than a moment ago'),
    });
    expect(hidden).toBeGreaterThan(0);
    expect(await names('packs/')).toEqual(packs);
  });

  it('when a chunk that a snapshot needs is missing', async () => {
    await prepare();
    const { packs } = await loadIndex(
      repository,
      { without: (await readTombstones(repository, signal)).packs },
      signal,
    );
    await destination.delete(packKey(packs[0]?.name ?? ''), signal);
    await expectStopped('CORRUPT_DATA', await names('packs/'));
  });

  it('when another prune is at work', async () => {
    const { packs } = await prepare();
    const elsewhere = await openRepository(destination, secret, { clock, stateDirectory: undefined }, signal);
    await using lease = await acquirePruneLease(elsewhere, {}, signal);
    expect(lease.lost).toBeUndefined();
    await expectStopped('REPOSITORY_LOCKED', packs);
  });

  it('when the destination does not allow deleting', async () => {
    const { packs } = await prepare();
    let cleared = 0;
    const removeLeftovers = async () => {
      cleared += 1;
      return await Promise.resolve({ files: 0, bytes: 0 });
    };
    const clearing = { ...destination, removeLeftovers };
    const appendOnly = { ...clearing, properties: { ...destination.properties, canDelete: false } };
    const through = await openRepository(appendOnly, secret, { clock, stateDirectory: undefined }, signal);
    await expect(prune(through, {}, SILENT_PRUNE, signal)).rejects.toMatchObject({ code: 'REFUSED' });
    expect(await names('packs/')).toEqual(packs);
    expect(cleared).toBe(0);
    // Where it does, what killed runs have left there goes, too.
    const allowed = await openRepository(clearing, secret, { clock, stateDirectory: undefined }, signal);
    await prune(allowed, {}, SILENT_PRUNE, signal);
    expect(cleared).toBe(1);
  });

  it("when the storage's clock jumps while it works", async () => {
    await prepare();
    const before = await names('packs/');
    let puts = 0;
    const jumping = {
      ...destination,
      put: async (key: string, body: Uint8Array, on: AbortSignal) => {
        if (key.startsWith('leases/prune/')) puts += 1;
        if (puts === 2) clock.jump(6 * 60_000);
        return await destination.put(key, body, on);
      },
    };
    const through = await openRepository(jumping, secret, { clock, stateDirectory: undefined }, signal);
    await expect(prune(through, {}, SILENT_PRUNE, signal)).rejects.toThrow('clock of the destination jumped');
    expect(puts).toBeGreaterThanOrEqual(2);
    expect(await names('packs/')).toEqual(before);
  });

  it('when it slept just before it deletes, though nobody has taken its right', async () => {
    const { packs } = await prepare();
    let asleep = 0;
    let isRemoving = false;
    const observer = {
      ...SILENT_PRUNE,
      phase: (phase: PrunePhase) => void (isRemoving = phase === 'removing'),
    };
    // The last look before packs go.
    const sleepy = hookedDestination(destination, {
      list: (prefix) => {
        if (!isRemoving || asleep > 0 || prefix !== 'trash/') return;
        asleep += 1;
        clock.jump(LEASE_TIMES.expiry + 1_000);
      },
    });
    const through = await openRepository(sleepy, secret, { clock, stateDirectory: undefined }, signal);
    await expect(prune(through, {}, observer, signal)).rejects.toMatchObject({ code: 'REFUSED' });
    expect(asleep).toBe(1);
    expect(await names('packs/')).toEqual(packs);
    expect((await run()).removedPacks).toBeGreaterThan(0);
    await expectSound();
  });

  it.each([
    { what: 'its machine slept', counts: 0, code: 'REFUSED' },
    { what: 'it was stopped, and its clocks went on,', counts: 1, code: 'REPOSITORY_LOCKED' },
  ])('when $what just before it marks', async ({ counts, code }) => {
    await backup(files(3));
    await forget(await backup(files(6)));
    let asleepMs = 0;
    const phase = (now: PrunePhase): void => {
      if (now !== 'marking') return;
      asleepMs += LEASE_TIMES.expiry + 1_000;
      clock.jump(LEASE_TIMES.expiry + 1_000);
    };
    const slow = { ...clock, monotonic: () => clock.monotonic() + asleepMs * counts };
    const through = await openRepository(
      destination,
      secret,
      { clock: slow, stateDirectory: undefined },
      signal,
    );
    destination.reset();
    await expect(prune(through, {}, { ...SILENT_PRUNE, phase }, signal)).rejects.toMatchObject({ code });
    expect(asleepMs).toBeGreaterThan(0);
    expect(changes()).toEqual([]);
    expect((await run()).markedPacks).toBeGreaterThan(0);
    await expectSound();
  });

  it('whatever the clock of this machine says', async () => {
    await backup(files(3));
    const gone = await backup(files(6));
    await forget(gone);
    await run();
    // Ten years later here, a second later at the storage.
    const wrong = { ...clock, now: () => clock.now() + 10 * 365 * 24 * HOUR };
    const through = await openRepository(
      destination,
      secret,
      { clock: wrong, stateDirectory: undefined },
      signal,
    );
    const result = await prune(through, {}, SILENT_PRUNE, signal);
    expect(result).toMatchObject({ removedPacks: 0, removedSnapshots: 0 });
    await expectSound();
  });
});
