/** Storages undo deletions: by versions that somebody restores, by copies that lag, by programs that synchronise. */
// Turn 1 of 8.
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { SILENT_CHECK, type Severity } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { rotateKeys } from '../../../src/repository/keys/keys.ts';
import { SILENT_PRUNE, prune } from '../../../src/repository/prune/prune.ts';
import { SILENT_REKEY, rekey } from '../../../src/repository/renew/rekey.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots } from '../../../src/repository/snapshots.ts';
import { listEverySnapshot } from '../../../src/repository/chains/whole-list.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { lostFiles, tinyBackup, type TinyTree } from '../../support/tiny-archiver.ts';

const HOUR = 3_600_000;
const GRACE = 72 * HOUR;
const { signal } = new AbortController();
const secret: Secret = { kind: 'machine', secret: randomBytes(32) };
const cost = { m: 64, t: 1, p: 1 };
const KINDS = ['packs/', 'index/', 'snapshots/', 'trash/', 'heads/', 'config/', 'leases/', 'keys/'];

let clock: ManualClock;
let memory: Destination;
/** Everything that was ever stored. */
let stored: Map<string, Uint8Array>;
let repository: Repository;
/** What each live snapshot must give back, by the id it had first. */
let trees: Map<string, TinyTree>;
const random = seededRandom(7);

/** Two writers and one that is gone, a forgotten snapshot, new keys, and nothing left under the old ones. */
beforeEach(async () => {
  clock = manualClock();
  stored = new Map();
  trees = new Map();
  memory = createMemoryDestination(() => clock.now());
  const destination: Destination = {
    ...memory,
    put: async (key, body, stop) => {
      stored.set(key, Buffer.from(body));
      return await memory.put(key, body, stop);
    },
  };
  const secrets = [{ secret, label: 'test' }];
  const sizes = { packTarget: 65_536, segmentTarget: 65_536 };
  const options = { clock, stateDirectory: undefined, secrets, cost, ...sizes };
  repository = await createRepository(destination, options, signal);
  const other = await open(destination);
  const gone = await backup(await open(destination));
  const second = await backup(other);
  await backup(repository);
  await backup(other);
  trees.delete(gone);
  trees.delete(second);
  await forgetSnapshots(repository, [gone, second], 'test', signal);
  await pruneAfterGrace();
  await rotateKeys(repository, signal);
  await rekeyed();
  await backup(repository);
  await backup(other);
  await pruneAfterGrace();
  await rekeyed();
  expect(repository.keyring.generations.map(({ g }) => g)).toEqual([2]);
});

async function open(destination: Destination = memory): Promise<Repository> {
  const options = { clock, stateDirectory: undefined, allowWeakCost: true };
  return await openRepository(destination, secret, options, signal);
}

async function backup(by: Repository): Promise<string> {
  const names = ['one', 'two', 'three'];
  const tree: TinyTree = Object.fromEntries(names.map((name) => [name, random.bytes(20_000)]));
  const { id } = await tinyBackup(by, tree, {}, signal);
  trees.set(id, tree);
  await clock.advance(1_000);
  return id;
}

async function pruneAfterGrace(): Promise<void> {
  await clock.advance(GRACE + HOUR);
  await prune(repository, {}, SILENT_PRUNE, signal);
  await clock.advance(1_000);
}

async function rekeyed(): Promise<void> {
  await rekey(repository, {}, SILENT_REKEY, signal);
  await clock.advance(1_000);
}

/** Everything of these kinds that was ever deleted is there again. */
async function bringBack(kinds: readonly string[]): Promise<readonly string[]> {
  const present = new Set(await keysNow());
  const back = [...stored.keys()].filter(
    (key) => !present.has(key) && kinds.some((kind) => key.startsWith(kind)),
  );
  for (const key of back) await memory.put(key, stored.get(key) ?? Buffer.alloc(0), signal);
  // No longer than a lease that came back counts.
  await clock.advance(HOUR);
  return back;
}

async function keysNow(): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const page of memory.list('', signal)) keys.push(...page.map(({ key }) => key));
  return keys;
}

async function severities(): Promise<ReadonlySet<Severity>> {
  const { findings } = await check(await open(), { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
  return new Set(findings.map(({ severity }) => severity).filter((one) => one !== 'note'));
}

async function expectWhole(): Promise<void> {
  const fresh = await open();
  const { live } = await listSnapshots(fresh, signal);
  expect(live.map(({ id, record }) => record.original ?? id).sort()).toEqual([...trees.keys()].sort());
  for (const snapshot of live) {
    const tree = trees.get(snapshot.record.original ?? snapshot.id) ?? {};
    expect(await lostFiles(fresh, snapshot, tree, signal)).toEqual([]);
  }
}

describe.each([...KINDS.map((kind) => [kind]), KINDS])(
  'what was deleted of %s and comes back',
  (...kinds) => {
    it('is no damage, stops nothing, and goes when everything is sealed anew once more', async () => {
      expect((await bringBack(kinds)).length).toBeGreaterThan(0);
      expect([...(await severities())]).toEqual(
        kinds.includes('keys/') && kinds.length === 1 ? [] : ['warning'],
      );
      await expectWhole();

      await backup(repository);
      await listEverySnapshot(await open(), 'the rules remove nothing', signal);
      await rekeyed();
      await pruneAfterGrace();
      await pruneAfterGrace();
      expect([...(await severities())]).toEqual([]);
      await expectWhole();
      expect(repository.keyring.generations.map(({ g }) => g)).toEqual([2]);
    });
  },
);

describe('what is damaged where nothing came back', () => {
  /** As one wrong bit leaves it: sealed, as its header says, under the generation that has gone. */
  async function damage(key: string): Promise<void> {
    const bytes = Buffer.from(await memory.get(key, undefined, signal));
    bytes.writeUInt32BE(1, 8);
    await memory.delete(key, signal);
    await memory.put(key, bytes, signal);
  }

  it.each(['packs/', 'snapshots/', 'trash/'])('is damage still: %s', async (kind) => {
    for (const key of await keysNow()) if (key.startsWith(kind)) await damage(key);
    expect([...(await severities())]).toContain('error');
    const before = (await keysNow()).filter((key) => key.startsWith(kind));
    await rekey(repository, {}, SILENT_REKEY, signal).catch(() => {});
    await clock.advance(GRACE + HOUR);
    await prune(repository, {}, SILENT_PRUNE, signal).catch(() => {});
    expect(await keysNow()).toEqual(expect.arrayContaining(before));
  });
});

describe('the newest head of a writer that is gone', () => {
  async function damageNewestHead(): Promise<string> {
    const own = `heads/${repository.writer.memory.writer}/`;
    const key = (await keysNow()).findLast((one) => one.startsWith('heads/') && !one.startsWith(own));
    if (key === undefined) throw new Error('there is no other writer');
    await memory.delete(key, signal);
    await memory.put(key, randomBytes(200), signal);
    return key;
  }

  it('stops neither prune nor rules when it is damaged, and check says that it is', async () => {
    await damageNewestHead();
    await listEverySnapshot(await open(), 'the rules remove nothing', signal);
    await pruneAfterGrace();
    expect([...(await severities())]).toContain('error');
    await expectWhole();
  });

  it('still tells that a snapshot is hidden', async () => {
    const [, writer, seq] = (await damageNewestHead()).split('/');
    const { live } = await listSnapshots(await open(), signal);
    const hidden = live.find(({ chain }) => chain.writer === writer && chain.seq === Number(seq));
    await memory.delete(`snapshots/${hidden?.id}`, signal);
    await expect(pruneAfterGrace()).rejects.toThrow(`record ${Number(seq)} of writer ${writer} is gone`);
  });
});
