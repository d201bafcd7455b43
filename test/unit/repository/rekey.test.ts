import { createHash, randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import { surveyGenerations, type GenerationUse } from '../../../src/repository/keys/generations.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { addKey, removeKey, rotateKeys } from '../../../src/repository/keys/keys.ts';
import { acquirePruneLease, openSession } from '../../../src/repository/take-lease.ts';
import { listNamed } from '../../../src/repository/objects/listing.ts';
import { SILENT_PRUNE, prune } from '../../../src/repository/prune/prune.ts';
import {
  SILENT_REKEY,
  planRekey,
  rekey,
  type RekeyOptions,
  type RekeyPhase,
  type RekeyResult,
} from '../../../src/repository/renew/rekey.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots, type Snapshot } from '../../../src/repository/snapshots.ts';
import { readTombstones } from '../../../src/repository/tombstones.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';
import { recordingDestination, type RecordingDestination } from '../../support/recording-destination.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { lostFiles, tinyBackup, type TinyOptions, type TinyTree } from '../../support/tiny-archiver.ts';

const HOUR = 3_600_000;
const GRACE = 72 * HOUR;
const { signal } = new AbortController();
const secret: Secret = { kind: 'machine', secret: randomBytes(32) };
const cost = { m: 64, t: 1, p: 1 };
let random = seededRandom(7);
let clock: ManualClock;
let destination: RecordingDestination;
/** Awaited before something is stored; what it throws is the failure. */
let beforePut: (key: string) => Promise<void>;
let repository: Repository;
/** What each live snapshot must give back, by the id it had first. */
let trees: Map<string, TinyTree>;

beforeEach(async () => {
  random = seededRandom(7);
  clock = manualClock();
  beforePut = async () => {};
  const memory = createMemoryDestination(() => clock.now());
  destination = recordingDestination(hookedDestination(memory, { put: async (key) => await beforePut(key) }));
  trees = new Map();
  const secrets = [{ secret, label: 'test' }];
  const sizes = { packTarget: 65_536, segmentTarget: 65_536 };
  repository = await createRepository(
    destination,
    { clock, stateDirectory: undefined, secrets, cost, ...sizes },
    signal,
  );
});

async function open(by: Secret = secret): Promise<Repository> {
  return await openRepository(
    destination,
    by,
    { clock, stateDirectory: undefined, allowWeakCost: true },
    signal,
  );
}

const files = (count: number): TinyTree =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`file${i}`, random.bytes(20_000)]));

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

async function rekeyed(options: RekeyOptions = {}, through: Repository = repository): Promise<RekeyResult> {
  const result = await rekey(through, options, SILENT_REKEY, signal);
  await clock.advance(1_000);
  return result;
}

async function pruneAfterGrace(): Promise<void> {
  await clock.advance(GRACE + HOUR);
  await prune(repository, {}, SILENT_PRUNE, signal);
  await clock.advance(1_000);
}

async function use(generation: number): Promise<GenerationUse> {
  const found = (await surveyGenerations(repository, signal)).find((one) => one.generation === generation);
  if (found === undefined) throw new Error(`there is no generation ${generation}`);
  return found;
}

/** A check finds nothing, and every snapshot gives back what was put in: for a host that opens it now. */
async function expectSound(): Promise<void> {
  const fresh = await open();
  const { findings } = await check(fresh, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
  expect(findings.filter(({ severity }) => severity !== 'note')).toEqual([]);
  const { live } = await listSnapshots(fresh, signal);
  const first = live.map(({ id, record }) => record.original ?? id);
  expect(first.sort()).toEqual([...trees.keys()].sort());
  for (const snapshot of live) {
    const tree = trees.get(snapshot.record.original ?? snapshot.id) ?? {};
    expect(await lostFiles(fresh, snapshot, tree, signal)).toEqual([]);
  }
}

describe('rotation', () => {
  it('has everything that is stored afterwards sealed under new keys, and leaves the rest readable', async () => {
    await backup(files(3));
    await rotateKeys(repository, signal);
    expect(repository.keys.generation).toBe(2);
    expect(await use(2)).toMatchObject({ state: 'current', packs: 0, snapshots: 0 });
    const before = await use(1);
    await backup(files(3));
    expect(await use(1)).toEqual(before);
    expect(await use(2)).toMatchObject({ snapshots: 1, indexObjects: 1 });
    await expectSound();
  });

  it('is refused long before the keyring is full, so that a key can still be removed', async () => {
    const { keyring } = repository;
    const many = Array.from({ length: 899 }, (_, i) => ({
      g: i + 2,
      key: randomBytes(32),
      state: 'old' as const,
    }));
    await repository.adoptRing({ ...keyring, generations: [...keyring.generations, ...many] }, 1, signal);
    await expect(rotateKeys(repository, signal)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    const other: Secret = { kind: 'machine', secret: randomBytes(32) };
    const { slot } = await addKey(repository, { secret: other, label: 'other', cost }, signal);
    await removeKey(repository, slot, signal);
    expect(repository.keyring.generations).toHaveLength(901);
  });
});

describe('a repository that was opened before another host changed the keys', () => {
  it('lists what that host has stored since', async () => {
    const elsewhere = await open();
    await rotateKeys(elsewhere, signal);
    const made = await backup(files(2), {}, elsewhere);
    const { live, damaged } = await listSnapshots(repository, signal);
    expect(damaged).toEqual([]);
    expect(live.map(({ id }) => id)).toEqual([made.id]);
    expect(repository.ringNumber).toBe(2);
  });

  it('heeds tombstones that are sealed by keys which it did not know', async () => {
    await backup(files(4));
    await backup(files(4));
    const elsewhere = await open();
    await rotateKeys(elsewhere, signal);
    const { markedPacks } = await rekeyed({}, elsewhere);
    expect(markedPacks).toBeGreaterThan(0);
    const { packs, ignored } = await readTombstones(repository, signal);
    expect(ignored).toEqual([]);
    expect(packs.size).toBe(markedPacks);
  });

  it('reports what no keyring explains as it did before', async () => {
    const snapshot = await backup(files(1));
    const bytes = Buffer.from(await destination.get(`snapshots/${snapshot.id}`, undefined, signal));
    bytes.writeUInt32BE(77, 8);
    const name = createHash('sha256').update(bytes).digest('hex');
    await destination.put(`snapshots/${name}`, bytes, signal);
    const { damaged } = await listSnapshots(repository, signal);
    expect(damaged.map(({ error }) => error.message)).toEqual([
      `snapshot ${name} names key generation 77, which the keyring lacks`,
    ]);
  });

  it('is told that its key was removed instead of taking everything for damaged', async () => {
    const other: Secret = { kind: 'machine', secret: randomBytes(32) };
    const { slot } = await addKey(repository, { secret: other, label: 'other', cost }, signal);
    const host = await open(other);
    await removeKey(repository, slot, signal);
    await backup(files(1));
    await expect(listSnapshots(host, signal)).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
  });
});

describe('rekey', () => {
  it('has nothing to do where there is one generation', async () => {
    await backup(files(3));
    destination.reset();
    expect(await rekeyed()).toMatchObject({ packs: 0, markedPacks: 0, snapshots: [], retired: [] });
    const puts = destination.calls.filter(
      ({ method, key }) => method === 'put' && !key.startsWith('leases/'),
    );
    expect(puts).toEqual([]);
  });

  it('stores packs, snapshots, index and configuration anew, and deletes nothing that is needed', async () => {
    const [one, two] = [await backup(files(6)), await backup(files(6))];
    await rotateKeys(repository, signal);
    const before = await use(1);
    expect(before.packs).toBeGreaterThan(3);
    const result = await rekeyed();
    expect(result.packs).toBe(before.packs);
    expect(result.snapshots.map(({ old }) => old)).toEqual([one.id, two.id]);
    expect(result.left).toEqual({ packs: 0, young: [], postponed: [], writeOnly: [], unreadable: [] });
    expect(await use(1)).toMatchObject({
      packs: 0,
      markedPacks: before.packs,
      snapshots: 0,
      forgottenSnapshots: 2,
    });
    expect(await use(2)).toMatchObject({ snapshots: 2, configurations: 1 });
    expect((await listNamed(destination, 'packs/', signal)).size).toBeGreaterThan(before.packs);
    await expectSound();
  });

  it('leaves only what prunes and newer records replace, and retires the generation when that is gone', async () => {
    await backup(files(6));
    const forgotten = await backup(files(6));
    await forgetSnapshots(repository, [forgotten.id], 'test', signal);
    trees.delete(forgotten.id);
    await rotateKeys(repository, signal);
    expect((await rekeyed()).retired).toEqual([{ generation: 1, outcome: 'in use' }]);
    await pruneAfterGrace();
    await expectSound();
    expect((await rekeyed()).retired).toEqual([{ generation: 1, outcome: 'retired' }]);
    expect(repository.keyring.generations.map(({ g }) => g)).toEqual([2]);
    expect((await surveyGenerations(repository, signal)).map(({ generation }) => generation)).toEqual([2]);
    await expectSound();
    const rings: string[] = [];
    for await (const page of destination.list('keys/ring-', signal))
      rings.push(...page.map(({ key }) => key));
    expect(rings).toHaveLength(2);
    // One that is damaged does not lock anybody out.
    const newest = await destination.get(`keys/ring-${repository.ringNumber}`, undefined, signal);
    await destination.delete(`keys/ring-${repository.ringNumber}`, signal);
    await expectSound();
    await destination.put(`keys/ring-${repository.ringNumber}`, newest, signal);
    await backup(files(2));
    await rotateKeys(repository, signal);
    expect(repository.keys.generation).toBe(3);
    await rekeyed();
    await expectSound();
  });

  it('keeps a generation through the grace period, and while a backup is at work', async () => {
    await rotateKeys(repository, signal);
    expect((await rekeyed()).retired).toEqual([{ generation: 1, outcome: 'grace period' }]);
    await clock.advance(GRACE);
    {
      await using session = await openSession(repository, {}, signal);
      expect(session.startedMs).toBeGreaterThan(0);
      expect((await rekeyed()).retired).toMatchObject([{ outcome: expect.stringMatching(/in use|backup/) }]);
    }
    expect((await rekeyed()).retired).toEqual([{ generation: 1, outcome: 'retired' }]);
    await expectSound();
  });

  it('does not keep a host from opening that has read the configuration before and gets the keyring only afterwards', async () => {
    await rotateKeys(repository, signal);
    await clock.advance(GRACE);
    let retired = 0;
    const slow = hookedDestination(destination, {
      get: async (key) => {
        if (!key.startsWith('keys/ring-') || retired > 0) return;
        retired += 1;
        // By then what is fetched beside the keyring is here.
        await new Promise(setImmediate);
        expect((await rekeyed()).retired).toEqual([{ generation: 1, outcome: 'retired' }]);
      },
    });
    const how = { clock, stateDirectory: undefined, allowWeakCost: true };
    const opened = await openRepository(slow, secret, how, signal);
    expect(retired).toBe(1);
    expect(opened.keyring.generations.map(({ g }) => g)).toEqual([2]);
    expect(opened.config).toEqual(repository.config);
  });

  it('stops at its limit, and the next run does the rest', async () => {
    await backup(files(12));
    await rotateKeys(repository, signal);
    const { packs, packBytes } = await use(1);
    const first = await rekeyed({ maxBytes: packBytes / 2 });
    expect(first.packs).toBeGreaterThan(0);
    expect(first.packs + first.left.packs).toBe(packs);
    await expectSound();
    const second = await rekeyed();
    expect(first.packs + second.packs).toBe(packs);
    expect((await use(1)).packs).toBe(0);
    await expectSound();
  });

  it('copies nothing a second time after it was broken off before the tombstones', async () => {
    await backup(files(12));
    await rotateKeys(repository, signal);
    const { packs } = await use(1);
    beforePut = async (key) => {
      if (key.startsWith('trash/')) throw new Error('broken off');
    };
    await expect(rekeyed()).rejects.toThrow('broken off');
    beforePut = async () => {};
    await clock.advance(HOUR);
    expect((await planRekey(repository, signal)).dead).toHaveLength(packs);
    const { writtenBytes, markedPacks } = await rekeyed();
    expect([writtenBytes, markedPacks]).toEqual([0, packs]);
    await expectSound();
  });

  it('does not make a snapshot a third time after it was broken off before the old one was forgotten', async () => {
    const snapshot = await backup(files(2));
    await rotateKeys(repository, signal);
    let stored = false;
    beforePut = async (key) => {
      if (key.startsWith('snapshots/')) stored = true;
      if (key.startsWith('trash/') && stored) throw new Error('broken off');
    };
    await expect(rekeyed()).rejects.toThrow('broken off');
    beforePut = async () => {};
    await clock.advance(HOUR);
    const { live } = await listSnapshots(repository, signal);
    const twin = live.find(({ id }) => id !== snapshot.id);
    expect(live).toHaveLength(2);
    expect((await rekeyed()).snapshots).toEqual([{ old: snapshot.id, id: twin?.id }]);
    await expectSound();
  });

  it('leaves alone what a backup at work may have stored or build on', async () => {
    await backup(files(4));
    await backup(files(4));
    await rotateKeys(repository, signal);
    let during: RekeyResult | undefined;
    const late = await openRepository(destination, secret, { clock, stateDirectory: undefined }, signal);
    await backup(
      files(4),
      {
        step: async (name) => {
          if (name === 'commit' && during === undefined) during = await rekeyed();
        },
      },
      late,
    );
    expect(during?.left.postponed).toHaveLength(1);
    expect(during?.snapshots).toHaveLength(1);
    await expectSound();
    expect((await rekeyed()).snapshots).toHaveLength(1);
    await expectSound();
  });

  it('beside a backup that still uses old keys loses nothing: that backup begins again', async () => {
    const tree = files(8);
    await backup(tree);
    const late = await open();
    let times = 0;
    const more = { ...tree, more: random.bytes(5_000) };
    await backup(
      more,
      {
        step: async (name) => {
          if (name === 'begin') times += 1;
          if (name !== 'index' || times > 1) return;
          await rotateKeys(repository, signal);
          await rekeyed();
        },
      },
      late,
    );
    expect(times).toBe(2);
    expect(late.keys.generation).toBe(2);
    await expectSound();
    await pruneAfterGrace();
    await expectSound();
  });

  it('lets a prune have its turn, and goes on when that has ended', async () => {
    await backup(files(12));
    await rotateKeys(repository, signal);
    const { packs } = await use(1);
    // Each pack takes a quarter of an hour.
    beforePut = async (key) => {
      if (key.startsWith('packs/')) await clock.advance(HOUR / 4);
    };
    const elsewhere = await open();
    const phases: RekeyPhase[] = [];
    let others = 0;
    const ended = new AbortController();
    const observer = { ...SILENT_REKEY, phase: (phase: RekeyPhase) => phases.push(phase) };
    const run = rekey(repository, { batchBytes: 1 }, observer, signal).finally(() => ended.abort());
    for (let step = 0; !ended.signal.aborted && step < 10_000; step += 1) {
      await clock.advance(1_000);
      if (phases.at(-1) !== 'waiting' || others > 0) continue;
      others += 1;
      await using lease = await acquirePruneLease(elsewhere, {}, signal);
      const before = phases.length;
      for (let i = 0; i < 180; i += 1) await clock.advance(1_000);
      expect(phases).toHaveLength(before);
      expect(lease.lost).toBeUndefined();
    }
    expect((await run).packs).toBe(packs);
    expect(others).toBe(1);
    expect(phases.filter((phase) => phase === 'waiting').length).toBeGreaterThan(1);
    await expectSound();
  });

  it('passes over a damaged pack and says so', async () => {
    await backup(files(8));
    const [name = ''] = (await listNamed(destination, 'packs/', signal)).keys();
    const key = `packs/${name.slice(0, 2)}/${name}`;
    const bytes = Buffer.from(await destination.get(key, undefined, signal));
    bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
    await destination.delete(key, signal);
    await destination.put(key, bytes, signal);
    await clock.advance(1_000);
    await rotateKeys(repository, signal);
    const { skipped, retired } = await rekeyed();
    expect(skipped.map((one) => one.name)).toEqual([name]);
    expect(retired).toEqual([{ generation: 1, outcome: 'in use' }]);
    expect((await use(1)).packs).toBe(1);
  });
});

describe('a list that lacks packs', () => {
  it.each([
    ['which is that of everything', (prefix: string) => prefix === ''],
    ['as all do from the moment on at which generations are counted', () => true],
  ])('does not cost the key to them: one %s', async (_, isHiddenIn) => {
    let phase: RekeyPhase | undefined;
    let isCounting = false;
    let hidden = 0;
    const hiding: Destination = {
      ...destination,
      properties: destination.properties,
      async *list(prefix, now) {
        // Generations are counted once old heads are removed.
        isCounting ||= phase === 'snapshots' && prefix === 'heads/';
        for await (const page of destination.list(prefix, now)) {
          const shown =
            isCounting && isHiddenIn(prefix) ? page.filter(({ key }) => !key.startsWith('packs/')) : page;
          hidden += page.length - shown.length;
          yield shown;
        }
      },
    };
    const through = await openRepository(
      hiding,
      secret,
      { clock, stateDirectory: undefined, allowWeakCost: true },
      signal,
    );
    await backup(files(60));
    await rotateKeys(repository, signal);
    for (let i = 0; i < 2; i += 1) {
      await rekeyed({ maxBytes: 200_000 });
      await pruneAfterGrace();
    }
    const observer = {
      ...SILENT_REKEY,
      phase: (now: RekeyPhase) => {
        phase = now;
      },
    };
    const { left, retired } = await rekey(through, { maxBytes: 200_000 }, observer, signal);
    expect(hidden).toBeGreaterThan(0);
    expect(left.packs).toBeGreaterThan(0);
    expect(retired).toEqual([{ generation: 1, outcome: 'in use' }]);
    await expectSound();
  });
});

describe('a snapshot that is forgotten while rekey is at work', () => {
  async function forgetAt(isMoment: (key: string) => boolean): Promise<void> {
    const [first, second] = [await backup(files(2)), await backup(files(2))];
    await rotateKeys(repository, signal);
    let isForgotten = false;
    beforePut = async (key) => {
      if (isForgotten || !isMoment(key)) return;
      isForgotten = true;
      await forgetSnapshots(await open(), [second.id], 'by somebody', signal);
      trees.delete(second.id);
    };
    const { snapshots } = await rekeyed();
    expect(isForgotten).toBe(true);
    expect(snapshots.map(({ old }) => old)).toEqual([first.id]);
    await expectSound();
  }

  it('before its turn is not stored anew', async () => {
    await forgetAt((key) => key.startsWith('packs/'));
  });

  it('while it is stored anew is forgotten again', async () => {
    let stored = 0;
    await forgetAt((key) => {
      if (key.startsWith('snapshots/')) stored += 1;
      return stored === 2;
    });
  });
});
