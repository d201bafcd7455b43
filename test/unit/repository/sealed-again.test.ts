/** What the administrator has signed, sealed once more by whoever has a write-only key, under other numbers and in other places. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isFull } from '../../../src/base/stored-by.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { encodeCbor } from '../../../src/format/cbor.ts';
import { OBJECT_TYPES } from '../../../src/format/header.ts';
import {
  configMap,
  encodeChainContext,
  encodeSigned,
  tombstoneMap,
  type TombstoneRecord,
} from '../../../src/format/records.ts';
import { SILENT_CHECK, type Finding } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import { newestConfig, openConfig, usableConfig } from '../../../src/repository/configuration.ts';
import { appendRecord } from '../../../src/repository/chain.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { addKey, removeKey, rotateKeys } from '../../../src/repository/keys/keys.ts';
import { findLost, giveUpLost } from '../../../src/repository/chains/lost-records.ts';
import { sealObject } from '../../../src/repository/objects/objects.ts';
import { SILENT_PRUNE, prune } from '../../../src/repository/prune/prune.ts';
import { recover } from '../../../src/repository/check/recover.ts';
import { SILENT_REKEY, rekey } from '../../../src/repository/renew/rekey.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots, type Snapshot } from '../../../src/repository/snapshots.ts';
import { readTombstones } from '../../../src/repository/tombstones.ts';
import { listEverySnapshot } from '../../../src/repository/chains/whole-list.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';
import { lostFiles, tinyBackup } from '../../support/tiny-archiver.ts';
import { thiefWith, type Thief } from '../../support/write-only-thief.ts';

const HOUR = 3_600_000;
const { signal } = new AbortController();
const cost = { m: 64, t: 1, p: 1 };
const secret: Secret = { kind: 'machine', secret: randomBytes(32) };

let clock: ManualClock;
let destination: Destination;
let states: string;
/** The administrator's machine, another one, and the one that was broken into. */
let repository: Repository;
let slot: string;
let thief: Thief;

beforeEach(async () => {
  clock = manualClock();
  states = mkdtempSync(join(tmpdir(), 'holdfast-sealed-again-'));
  destination = createMemoryDestination(() => clock.now());
  const secrets = [{ secret, label: 'test' }];
  await createRepository(destination, { ...machine('admin'), secrets, cost }, signal);
  repository = await open('admin');
  const stolen: Secret = { kind: 'write-only', secret: randomBytes(32) };
  ({ slot } = await addKey(repository, { secret: stolen, label: 'server', cost }, signal));
  thief = thiefWith(await openRepository(destination, stolen, machine('server'), signal));
});
afterEach(() => rmSync(states, { recursive: true }));

function machine(name: string) {
  return { clock, stateDirectory: join(states, name), allowWeakCost: true };
}

async function open(name: string): Promise<Repository> {
  return await openRepository(destination, secret, machine(name), signal);
}

async function backup(through: Repository = repository, tree = newTree()): Promise<Snapshot> {
  const snapshot = await tinyBackup(through, tree, {}, signal);
  await clock.advance(1_000);
  return snapshot;
}

const newTree = () => ({ file: randomBytes(20_000) });

async function findings(through: Repository = repository): Promise<readonly Finding[]> {
  const report = await check(through, { readData: false, workers: 0 }, SILENT_CHECK, signal);
  return report.findings.filter(({ severity }) => severity !== 'note');
}

/** Returns how many records they were. */
async function giveUpAllLost(): Promise<number> {
  const lost = await findLost(repository, signal);
  const records = lost.map(({ record }) => record);
  await giveUpLost(repository, records, signal);
  return lost.length;
}

async function configNumbers(): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const page of destination.list('config/', signal)) keys.push(...page.map(({ key }) => key));
  return keys.sort();
}

/** Forgetting, by the rules too, pruning, and looking at all of it goes on. */
async function expectGoesOn(through: Repository = repository): Promise<void> {
  const tree = newTree();
  const kept = await backup(through, tree);
  const gone = await backup(through);
  await forgetSnapshots(through, [gone.id], 'test', signal);
  const { live } = await listEverySnapshot(through, 'the rules remove nothing', signal);
  expect(live.map(({ id }) => id)).toContain(kept.id);
  await clock.advance(1_000);
  await prune(through, {}, SILENT_PRUNE, signal);
  await clock.advance(80 * HOUR);
  const { removedSnapshots, removedPacks } = await prune(through, {}, SILENT_PRUNE, signal);
  expect(removedSnapshots).toBeGreaterThan(0);
  expect(removedPacks).toBeGreaterThan(0);
  expect(await lostFiles(through, kept, tree, signal)).toEqual([]);
}

/** As previews of 0.1 did: signed for no number and no place. */
async function configOfBefore(n: number): Promise<void> {
  const context = Buffer.alloc(8);
  context.writeBigUInt64BE(BigInt(n));
  const map = configMap(repository.config);
  const plaintext = encodeSigned(map, (unsigned) => repository.sign('hf1/config', unsigned));
  const { bytes } = sealObject(repository.keys, OBJECT_TYPES.config, context, plaintext);
  await destination.put(`config/${n}`, bytes, signal);
}

async function tombstoneOfBefore(record: Partial<TombstoneRecord>, through = repository): Promise<string> {
  const whole = { kind: 'snapshots' as const, names: [], reason: 'before', atMs: 1, fence: 0, ...record };
  const map = tombstoneMap(whole);
  const plaintext = encodeSigned(map, (unsigned) => through.sign('hf1/tomb', unsigned));
  const seal = (position: Parameters<typeof encodeChainContext>[0]) => {
    const context = encodeChainContext(position);
    const sealed = sealObject(through.keys, OBJECT_TYPES.tombstone, context, plaintext);
    return { ...sealed, key: `trash/${sealed.name}` };
  };
  const { name } = await appendRecord(through, seal, { live: 0 }, signal);
  return name;
}

describe('a configuration that was sealed again', () => {
  it('under the highest number there is makes nothing of it: rotation, sealing anew and every machine go on', async () => {
    await backup();
    for (const n of [Number.MAX_SAFE_INTEGER, 999_999_999, 2, 3]) await thief.configAgain('config/1', n);
    await rotateKeys(repository, signal);
    await rekey(repository, {}, SILENT_REKEY, signal);
    expect((await usableConfig(repository, signal)).number).toBe(4);
    for (const name of ['admin', 'another', 'a third one']) {
      const opened = await open(name);
      expect(opened.writer.memory.config).toBe(4);
      await backup(opened);
    }
    await expectGoesOn(await open('admin'));
    await rekey(repository, {}, SILENT_REKEY, signal);
    expect((await open('another')).writer.memory.config).toBe(4);
  });

  it('under a number that it was not signed for is passed over', async () => {
    const key = await thief.configAgain('config/1', 7);
    await thief.configAgain('config/1', 8);
    expect(await usableConfig(repository, signal)).toMatchObject({ number: 1, bound: true });
    await expect(async () => {
      const bytes = await destination.get(key, undefined, signal);
      openConfig(repository.keyring, repository.keys, bytes, 7);
    }).rejects.toThrow('it was signed for number 1');
  });

  it('signed for no number counts for nothing beside one that is', async () => {
    await configOfBefore(7);
    expect(await usableConfig(repository, signal)).toMatchObject({ number: 1, bound: true });
  });

  it('keeps nobody from the second copy of the one that is gone', async () => {
    await thief.configAgain('config/1', 50);
    await destination.put('config/60', randomBytes(300), signal);
    await configOfBefore(70);
    await destination.delete('config/1', signal);
    for (const name of ['admin', 'new']) {
      const opened = await open(name);
      expect(opened.config).toEqual(repository.config);
      const { keyring, keys } = opened;
      const found = await newestConfig(destination, { keyring, keys, early: undefined }, signal);
      expect(found).toMatchObject({ number: 1, bound: true });
    }
    expect(await findings()).not.toEqual([]);
  });

  it('is never remembered, so that nothing was rolled back when it is gone', async () => {
    const key = await thief.configAgain('config/1', 50);
    for (const name of ['admin', 'new']) expect((await open(name)).writer.memory.config).toBeLessThan(2);
    await destination.delete(key, signal);
    await expect(open('admin')).resolves.toBeDefined();
    await expect(open('new')).resolves.toBeDefined();
  });

  it('is told, and taken away by recover', async () => {
    const key = await thief.configAgain('config/1', 50);
    expect(await findings()).toMatchObject([{ severity: 'warning', object: key }]);
    expect((await recover(repository, signal)).removed).toEqual([key]);
    expect(await findings()).toEqual([]);
    expect(await configNumbers()).toEqual(['config/1']);
  });

  it('counts where nothing else is there, by no number; prune and rekey sign one for its number', async () => {
    await configOfBefore(2);
    await destination.delete('config/1', signal);
    await destination.delete('copies/config/1', signal);
    rmSync(join(states, 'admin'), { recursive: true });
    await thief.configAgain('config/2', 999_999_999);
    await thief.configAgain('config/2', 40_000);
    const opened = await open('admin');
    expect(opened.writer.memory.config).toBe(0);
    await prune(opened, {}, SILENT_PRUNE, signal);
    expect(await usableConfig(opened, signal)).toMatchObject({ number: 3, bound: true });
    expect((await open('admin')).writer.memory.config).toBe(3);
    await prune(opened, {}, SILENT_PRUNE, signal);
    expect(await configNumbers()).toHaveLength(4);
  });

  it('under a number that none has is not fetched where another stands', async () => {
    await configOfBefore(2);
    for (const key of ['config/1', 'copies/config/1']) await destination.delete(key, signal);
    const strange = await Promise.all([1e12, 1e13, 1e14].map((n) => thief.configAgain('config/2', n)));
    const fetched: string[] = [];
    const seen = hookedDestination(destination, { get: (key) => void fetched.push(key) });
    const { keyring, keys } = repository;
    const found = await newestConfig(seen, { keyring, keys, early: undefined }, signal);
    expect(found).toMatchObject({ number: 2, bound: false });
    expect(fetched.filter((key) => strange.includes(key))).toEqual([]);
  });

  it('that says a newer program is needed, in its record or its header, keeps nobody out', async () => {
    await destination.put('config/8', Buffer.from('4846310002060100'.padEnd(400, '0'), 'hex'), signal);
    const context = Buffer.alloc(8);
    context.writeBigUInt64BE(9n);
    const newer = encodeSigned({ ...configMap(repository.config), v: 2 }, () => Buffer.alloc(64));
    const { bytes } = sealObject(repository.keys, OBJECT_TYPES.config, context, newer);
    await destination.put('config/9', bytes, signal);
    await expect(open('new')).resolves.toBeDefined();
  });

  it('which an attack has left as the only one is read, and replaced', async () => {
    const n = Number.MAX_SAFE_INTEGER;
    await thief.configAgain('config/1', n);
    await configOfBefore(1_000_000_000_000);
    for (const key of ['config/1', 'copies/config/1']) await destination.delete(key, signal);
    const path = join(
      states,
      'admin',
      'repositories',
      readdirSync(join(states, 'admin', 'repositories'))[0] ?? '',
    );
    const { boundConfig: _, ...before } = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...before, config: 2 ** 53 }));
    const opened = await open('admin');
    await rekey(opened, {}, SILENT_REKEY, signal);
    expect(await usableConfig(opened, signal)).toMatchObject({ number: 1, bound: true });
    await expectGoesOn(await open('admin'));
  });
});

describe('a ring', () => {
  it('that somebody has put in the way of the next one is stepped over', async () => {
    const ring = await destination.get('keys/ring-1', undefined, signal);
    for (const n of [3, 4, 999_999_999]) await thief.again(`keys/ring-${n}`, ring);
    await rotateKeys(repository, signal);
    expect((await open('another')).ringNumber).toBe(5);
    expect((await recover(repository, signal)).removed).toContain('keys/ring-999999999');
  });
});

describe('garbage by the thousand', () => {
  it.each(['config/', 'keys/ring-'])(
    'below %s costs whoever opens the repository a few round trips',
    async (prefix) => {
      await rotateKeys(repository, signal);
      for (let n = 10; n < 1_510; n += 1) await destination.put(`${prefix}${n}`, randomBytes(99), signal);
      let rounds = 0;
      let isOpen = false;
      const counting = hookedDestination(destination, {
        get: async () => {
          // All that are asked for together come in one round.
          if (!isOpen) {
            isOpen = true;
            rounds += 1;
            setImmediate(() => (isOpen = false));
          }
          await new Promise((resolve) => setImmediate(resolve));
        },
      });
      const opened = await openRepository(counting, secret, machine('stranger'), signal);
      expect(opened.ringNumber).toBe(3);
      expect(rounds).toBeLessThan(3_000 / destination.properties.maxParallel + 50);
      await backup(opened);
    },
  );
});

describe('a tombstone that was sealed again', () => {
  it('in the chain of another writer, or at another number, is none', async () => {
    const gone = await backup();
    await forgetSnapshots(repository, [gone.id], 'test', signal);
    const [mark] = (await readTombstones(repository, signal)).all;
    const another = await open('another');
    const newest = await backup(another);
    const { writer, seq } = newest.chain;
    for (const place of [
      { writer, seq: seq + 1, prev: newest.id },
      { writer, seq: 3_000_000_000, prev: newest.id },
      { writer, seq, prev: '0'.repeat(64) },
    ])
      await thief.tombstoneAgain(mark?.name ?? '', place);
    const found = await findings();
    expect(found.map(({ severity }) => severity)).toEqual(['warning', 'warning', 'warning']);
    expect(await findLost(repository, signal)).toEqual([]);
    await expectGoesOn();
    await expectGoesOn(another);
    expect((await recover(repository, signal)).removed).toHaveLength(3);
    expect(await findings()).toEqual([]);
  });

  it('in its own place is the same record, and no fork, also when the one is gone', async () => {
    const gone = await backup();
    await forgetSnapshots(repository, [gone.id], 'test', signal);
    const [mark] = (await readTombstones(repository, signal)).all;
    await thief.tombstoneAgain(mark?.name ?? '');
    await backup();
    expect(await findings()).toEqual([]);
    await expectGoesOn();
  });

  it('which was signed for no place keeps its effect, and moves no number', async () => {
    const gone = await backup();
    const old = await tombstoneOfBefore({ names: [gone.id] });
    await backup();
    const another = await open('another');
    const first = await backup(another);
    const { writer } = first.chain;
    for (const seq of [2, 3, 3_000_000_000]) await thief.tombstoneAgain(old, { writer, seq, prev: first.id });
    expect((await listSnapshots(repository, signal)).tombstones.snapshots.has(gone.id)).toBe(true);
    expect(await findings()).toEqual([]);
    expect(repository.writer.memory.heads[writer]).toEqual({ seq: 1, record: first.id });
    expect(await findLost(repository, signal)).toEqual([]);
    await expectGoesOn(another);
    // Nor does anybody miss them.
    const { all } = await readTombstones(repository, signal);
    for (const { name, chain } of all.filter((one) => one.chain.writer === writer && !one.bound))
      if (chain.seq !== 1) await destination.delete(`trash/${name}`, signal);
    expect(await findings()).toEqual([]);
  });

  it.each([2, 2 ** 52])(
    'names no place of which a signature is made when it goes: number %d',
    async (seq) => {
      const old = await tombstoneOfBefore({ kind: 'packs', names: ['cd'.repeat(32)] });
      await backup();
      const another = await open('another');
      const first = await backup(another);
      const { writer } = first.chain;
      await thief.tombstoneAgain(old, { writer, seq, prev: first.id });
      for (let times = 1; times <= 3; times += 1) {
        await clock.advance(80 * HOUR);
        await prune(repository, {}, SILENT_PRUNE, signal);
      }
      expect((await readTombstones(repository, signal)).all.filter(({ bound }) => !bound)).toEqual([]);
      expect(await findings()).toEqual([]);
      await expectGoesOn(another);
      expect((await backup(another)).chain.writer).toBe(writer);
    },
  );

  it('covers no record of another writer that is gone', async () => {
    const another = await open('another');
    await backup(another);
    const hidden = await backup(another);
    await backup(another);
    const old = await tombstoneOfBefore({});
    await backup();
    await destination.delete(`snapshots/${hidden.id}`, signal);
    const { writer, seq, prev } = hidden.chain;
    await thief.tombstoneAgain(old, { writer, seq, prev });
    expect(await findings()).toMatchObject([{ severity: 'error', object: `record ${hidden.id}` }]);
    expect(await findLost(repository, signal)).toMatchObject([{ record: { writer, seq, name: hidden.id } }]);
  });
});

describe('what nobody has signed', () => {
  it('is no tombstone of a newer program, and recover takes it away', async () => {
    const context = encodeChainContext({ writer: 'ab'.repeat(16), seq: 1, prev: '0'.repeat(64) });
    const { bytes, name } = sealObject(
      repository.keys,
      OBJECT_TYPES.tombstone,
      context,
      encodeCbor({ v: 2, signature: randomBytes(64) }),
    );
    await destination.put(`trash/${name}`, bytes, signal);
    expect((await readTombstones(repository, signal)).ignored).toMatchObject([
      { error: { code: 'CORRUPT_DATA' } },
    ]);
    await expectGoesOn();
    expect((await recover(repository, signal)).removed).toEqual([`trash/${name}`]);
    expect(await findings()).toEqual([]);
  });

  it('is no key slot, and goes with its copy; that of a key in the making stays', async () => {
    const planted = `keys/${'ab'.repeat(16)}`;
    for (const key of [planted, `copies/${planted}`]) await destination.put(key, randomBytes(90), signal);
    const made = await addKey(
      repository,
      { secret: { kind: 'machine', secret: randomBytes(32) }, label: 'new', cost },
      signal,
    );
    const file = await destination.get(`keys/${made.slot}`, undefined, signal);
    await removeKey(made.repository, made.slot, signal);
    await destination.put(`keys/${made.slot}`, file, signal);
    expect((await findings(made.repository)).filter(({ severity }) => severity === 'error')).toEqual([]);
    expect((await recover(made.repository, signal)).removed).toEqual([planted, `copies/${planted}`]);
  });
});

describe('numbers that a write-only key gives itself', () => {
  it.each([3_000_000_000, Number.MAX_SAFE_INTEGER])('cost nothing, and hold nobody up: %d', async (seq) => {
    const began = performance.now();
    const name = await thief.snapshot(seq);
    await thief.snapshot(700);
    expect(await findings()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ severity: 'warning', what: expect.stringContaining(String(seq)) }),
      ]),
    );
    const lost = await findLost(repository, signal);
    expect(lost.length).toBeLessThan(1_000);
    await expectGoesOn();
    await forgetSnapshots(repository, [name], 'planted', signal);
    await expectGoesOn();
    expect(repository.writer.memory.heads).not.toHaveProperty(name);
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it('and what it makes of its own snapshots leave everybody else in peace while the key is in use', async () => {
    const first = await backup();
    await thief.snapshot(1);
    await thief.snapshot(5);
    await thief.snapshot(2, { plain: true });
    await thief.head(
      { writer: first.chain.writer.slice(0, 16).padEnd(32, '0'), seq: 1, prev: first.id },
      first.id,
    );
    await expectGoesOn();
    await removeKey(repository, slot, signal);
    const { live, damaged } = await listSnapshots(repository, signal);
    const planted = live.filter(({ storedBy }) => !isFull(storedBy)).map(({ id }) => id);
    await forgetSnapshots(repository, [...planted, ...damaged.map(({ id }) => id)], 'planted', signal);
    // Nothing keeps the packs of a removed key: what may only be hidden has to be given up by name.
    await expect(prune(repository, {}, SILENT_PRUNE, signal)).rejects.toMatchObject({ code: 'CORRUPT_DATA' });
    await giveUpAllLost();
    await expectGoesOn();
  });

  it('and heads that name what stands elsewhere leave nothing behind which cannot be given up', async () => {
    const first = await backup();
    await thief.snapshot(1);
    const [made] = (await listSnapshots(repository, signal)).live.filter(({ storedBy }) => !isFull(storedBy));
    const { writer } = made?.chain ?? first.chain;
    await thief.head({ writer, seq: 4, prev: first.id }, first.id);
    await thief.head({ writer, seq: 2, prev: first.id }, first.id);
    await expectGoesOn();
    await removeKey(repository, slot, signal);
    await forgetSnapshots(repository, [made?.id ?? ''], 'planted', signal);
    expect(await giveUpAllLost()).toBeGreaterThan(0);
    await expectGoesOn();
  });

  it('which a machine remembers from before are given up by name, and by no number', async () => {
    const first = await backup(await open('another'));
    const { writer } = first.chain;
    const planted = { seq: 3_000_000_000, record: 'ab'.repeat(32) };
    await repository.writer.remember({ heads: { [writer]: planted } });
    await expect(prune(repository, {}, SILENT_PRUNE, signal)).rejects.toMatchObject({ code: 'CORRUPT_DATA' });
    expect(await giveUpAllLost()).toBe(1);
    await expectGoesOn();
    expect(await findings()).toEqual([]);
  });
});

describe('a head', () => {
  it('that nobody with a key has made, in the way of the next record, takes no machine its identity', async () => {
    const { chain } = await backup();
    for (const seq of [chain.seq + 1, chain.seq + 2]) {
      const key = `heads/${chain.writer}/${String(seq).padStart(16, '0')}`;
      await destination.put(key, Buffer.from('4846310002070100'.padEnd(400, '0'), 'hex'), signal);
    }
    for (let n = 1; n <= 2; n += 1) await backup();
    const newest = await backup();
    expect(newest.chain).toMatchObject({ writer: chain.writer, seq: chain.seq + 3 });
    expect(repository.writer.takeForeign()).toBeUndefined();
    const strange = `heads/${'ab'.repeat(16)}/0000000000000001`;
    await destination.put(strange, Buffer.from('garbage'), signal);
    await expectGoesOn();
    expect((await recover(repository, signal)).removed).toContain(strange);
  });

  it('that cannot be read is given up at one time, with the numbers below it', async () => {
    const { chain } = await backup(await open('another'));
    const key = `heads/${chain.writer}/${String(chain.seq + 3).padStart(16, '0')}`;
    await destination.put(key, randomBytes(200), signal);
    await expect(prune(repository, {}, SILENT_PRUNE, signal)).rejects.toMatchObject({ code: 'CORRUPT_DATA' });
    const lost = await findLost(repository, signal);
    expect(lost.map(({ record }) => record.seq)).toEqual([1, 2, 3].map((n) => chain.seq + n));
    await giveUpAllLost();
    expect(await findLost(repository, signal)).toEqual([]);
    await expectGoesOn(await open('another'));
    expect((await recover(repository, signal)).removed).toContain(key);
    expect(await findings()).toEqual([]);
  });
});
