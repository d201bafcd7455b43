/** What the mark of a pack that holds damage keeps, and for how long. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Destination, ListedObject } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import { markDamaged } from '../../../src/repository/check/damaged-packs.ts';
import { loadForReading, loadForWriting } from '../../../src/repository/contents/index-for.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { rotateKeys } from '../../../src/repository/keys/keys.ts';
import { listNamed, packKey } from '../../../src/repository/objects/listing.ts';
import { prune, SILENT_PRUNE } from '../../../src/repository/prune/prune.ts';
import { putTombstone } from '../../../src/repository/put-tombstone.ts';
import { planRekey, rekey, SILENT_REKEY } from '../../../src/repository/renew/rekey.ts';
import { createRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { forgetSnapshots } from '../../../src/repository/snapshots.ts';
import { lastPacks, readTombstones, REPAIRED, unsoundPacks } from '../../../src/repository/tombstones.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';
import { lostFiles, tinyBackup, type TinyTree } from '../../support/tiny-archiver.ts';

const GRACE = 72 * 3_600_000;
const secret: Secret = { kind: 'machine', secret: randomBytes(32) };
const { signal } = new AbortController();

let clock: ManualClock;
let destination: Destination;
let repository: Repository;

async function begin(): Promise<void> {
  clock = manualClock();
  destination = inOrder(createMemoryDestination(() => clock.now()));
  const secrets = [{ secret, label: 'test' }];
  const options = { clock, stateDirectory: undefined, secrets, cost: { m: 64, t: 1, p: 1 } };
  repository = await createRepository(destination, options, signal);
}

/** Lists by name, as stores do; names come from chance. */
function inOrder(inner: Destination): Destination {
  return {
    ...inner,
    async *list(prefix, now) {
      const all: ListedObject[] = [];
      for await (const page of inner.list(prefix, now)) all.push(...page);
      yield all.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
  };
}

beforeEach(begin);

const tree = (): TinyTree => ({ one: randomBytes(20_000), two: randomBytes(20_000) });

async function packs(kind: 'data' | 'tree'): Promise<readonly string[]> {
  const tombstones = await readTombstones(repository, signal);
  const all = await loadForReading(repository, lastPacks(tombstones), signal);
  return all.packs.filter((pack) => pack.kind === kind).map(({ name }) => name);
}

/** One byte of the first segment. */
async function rot(name: string): Promise<void> {
  const bytes = Buffer.from(await destination.get(packKey(name), undefined, signal));
  bytes[90] = (bytes[90] ?? 0) ^ 0xff;
  await destination.delete(packKey(name), signal);
  await destination.put(packKey(name), bytes, signal);
}

async function run(repackBelow = 0.5): Promise<void> {
  await prune(repository, { repackBelow }, SILENT_PRUNE, signal);
  await clock.advance(1_000);
}

const unsound = async (): Promise<ReadonlySet<string>> =>
  unsoundPacks(await readTombstones(repository, signal));

describe('a pack that was written anew, and whose new copy rots within the grace period', () => {
  // Index objects are listed in an order that comes from chance.
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('is needed again, run %i', async () => {
    const content = tree();
    const snapshot = await tinyBackup(repository, content, {}, signal);
    const before = new Set(await packs('data'));
    await clock.advance(1_000);
    await run(2);
    const [copy = ''] = (await packs('data')).filter((name) => !before.has(name));
    await rot(copy);
    const { packsDamaged } = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
    expect([...packsDamaged]).toEqual([copy]);
    await markDamaged(repository, packsDamaged, signal);
    const last = lastPacks(await readTombstones(repository, signal));
    const index = await loadForReading(repository, last, signal);
    expect(await lostFiles(repository, snapshot, content, signal, index)).toEqual([]);
    await clock.advance(GRACE + 3_600_000);
    await run();
    await clock.advance(GRACE + 3_600_000);
    await run();
    expect(await lostFiles(repository, snapshot, content, signal)).toEqual([]);
    expect(await packs('data')).toEqual([...before]);
  });
});

describe('damage that a snapshot needs and no backup makes good', () => {
  it('is said by every check, also by one that reads no data, and no longer once nothing needs it', async () => {
    const snapshot = await tinyBackup(repository, tree(), {}, signal);
    const [name = ''] = await packs('data');
    const now = async () => await check(repository, { readData: false, workers: 0 }, SILENT_CHECK, signal);
    await rot(name);
    expect((await now()).status).toBe('ok');
    await markDamaged(repository, new Set([name]), signal);
    const { status, findings, counts } = await now();
    expect(status).toBe('damaged');
    expect(findings).toMatchObject([
      { severity: 'error', object: `pack ${name}`, snapshots: [snapshot.id], filesTotal: 2 },
    ]);
    expect(counts.packsRead).toBe(1);
    await forgetSnapshots(repository, [snapshot.id], 'test', signal);
    expect(await now()).toMatchObject({ status: 'ok', counts: { packsRead: 0 } });
  });

  it('is not said of a pack that was marked and is sound', async () => {
    await tinyBackup(repository, tree(), {}, signal);
    await markDamaged(repository, new Set(await packs('data')), signal);
    const report = await check(repository, { readData: false, workers: 0 }, SILENT_CHECK, signal);
    expect(report).toMatchObject({ status: 'ok', findings: [], counts: { packsRead: 1 } });
  });
});

describe('two packs with damage in different places', () => {
  it.each([1, 2, 3, 4])('both stay, since only together they have everything, run %i', async () => {
    const content = tree();
    const first = await tinyBackup(repository, content, {}, signal);
    const [one = ''] = await packs('data');
    await markDamaged(repository, new Set([one]), signal);
    await tinyBackup(repository, content, {}, signal);
    const [two = ''] = (await packs('data')).filter((name) => name !== one);
    await markDamaged(repository, new Set([two]), signal);
    await forgetSnapshots(repository, [first.id], 'test', signal);
    for (let turn = 0; turn < 2; turn += 1) {
      await clock.advance(GRACE + 3_600_000);
      await run();
    }
    const { packs: marked } = await readTombstones(repository, signal);
    expect(new Set(await packs('data'))).toEqual(new Set([one, two]));
    // What is read from the one is not copied from the other as well.
    await rotateKeys(repository, signal);
    const { packs: planned } = await planRekey(repository, signal);
    expect(planned.map((fate) => fate.name)).toHaveLength(2);
    // Once a sound one has it they go.
    await tinyBackup(repository, content, {}, signal);
    await clock.advance(GRACE + 3_600_000);
    await run();
    expect((await packs('data')).filter((name) => marked.has(name))).toEqual([]);
  });
});

describe('the mark', () => {
  it('of a pack that was repaired stays, also when a snapshot has come to need it', async () => {
    const content = tree();
    await tinyBackup(repository, content, {}, signal);
    const names = await packs('data');
    const record = { kind: 'packs' as const, names, reason: REPAIRED, atMs: clock.now(), fence: 1 };
    await putTombstone(repository, record, { live: 1 }, signal);
    await clock.advance(GRACE + 1_000);
    await run();
    expect([...(await unsound())]).toEqual(names);
    expect([...(await listNamed(destination, 'packs/', signal)).keys()]).toEqual(
      expect.arrayContaining([...names]),
    );
  });

  it('stays when the pack is gone, and counts when the storage brings it back', async () => {
    const content = tree();
    const first = await tinyBackup(repository, content, {}, signal);
    const [name = ''] = await packs('data');
    const bytes = await destination.get(packKey(name), undefined, signal);
    await markDamaged(repository, new Set([name]), signal);
    await forgetSnapshots(repository, [first.id], 'test', signal);
    await clock.advance(1_000);
    await run();
    await clock.advance(GRACE + 1_000);
    await run();
    await run();
    expect((await listNamed(destination, 'packs/', signal)).has(name)).toBe(false);
    expect([...(await unsound())]).toEqual([name]);
    await destination.put(packKey(name), bytes, signal);
    const { packs: marked } = await readTombstones(repository, signal);
    const index = await loadForWriting(repository, { marked, plain: false }, signal);
    expect(index.packs.map((pack) => pack.name)).not.toContain(name);
    const second = await tinyBackup(repository, content, {}, signal);
    expect(await lostFiles(repository, second, content, signal)).toEqual([]);
    expect(await packs('data')).toHaveLength(2);
  });

  it('is sealed anew with everything else', async () => {
    const first = await tinyBackup(repository, tree(), {}, signal);
    const names = new Set(await packs('data'));
    await markDamaged(repository, names, signal);
    await forgetSnapshots(repository, [first.id], 'test', signal);
    for (let turn = 0; turn < 2; turn += 1) {
      await run();
      await clock.advance(GRACE + 1_000);
    }
    await rotateKeys(repository, signal);
    await rekey(repository, {}, SILENT_REKEY, signal);
    const { all } = await readTombstones(repository, signal);
    const marks = all.filter(({ record }) => record.reason === 'damaged');
    expect(marks.map(({ record, generation }) => [record.names, generation])).toEqual([
      [[...names], repository.keys.generation],
    ]);
  });
});
