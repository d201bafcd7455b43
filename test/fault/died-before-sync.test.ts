/** What a process that died has stored, but perhaps not made durable: nothing is built on it before it is. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DestinationError } from '../../src/base/errors.ts';
import { systemClock } from '../../src/base/clock.ts';
import { repairFrom } from '../../src/copier/repair.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { check } from '../../src/repository/check/check.ts';
import { SILENT_CHECK, type Finding } from '../../src/repository/check/check-report.ts';
import { rotateKeys } from '../../src/repository/keys/keys.ts';
import { listNamed, packKey } from '../../src/repository/objects/listing.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { hookedDestination } from '../support/hooked-destination.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';
import { seededRandom } from '../support/seeded-random.ts';

/** In their order: what was stored, and what was made durable. */
/** What a machine goes by, and second copies of it. */
const KEYS = ['keys/ring-1', 'config/1', 'copies/keys/ring-1', 'copies/config/1'];

interface Noted {
  readonly did: 'put' | 'durable';
  readonly key: string;
}

function notingDestination(inner: Destination): {
  readonly destination: Destination;
  readonly noted: Noted[];
} {
  const noted: Noted[] = [];
  const hooked = hookedDestination(inner, { put: (key) => void noted.push({ did: 'put', key }) });
  const makeDurable = async (keys: readonly string[]): Promise<void> => {
    await Promise.resolve();
    noted.push(...keys.map((key) => ({ did: 'durable' as const, key })));
  };
  return { destination: { ...hooked, makeDurable }, noted };
}

function isDurablePack({ did, key }: Noted): boolean {
  return did === 'durable' && key.startsWith('packs/');
}

function refusing(prefix: string, inner: Destination): Destination {
  return hookedDestination(inner, {
    put: (key) => {
      if (key.startsWith(prefix)) throw new DestinationError('denied', 'the process dies here');
    },
  });
}

test('packs of a run that died are made durable before an index object names them', async () => {
  await using engine = await openEngine();
  for (const name of ['a', 'b', 'c']) writeFileSync(join(engine.source, name), seededRandom(7).bytes(60_000));
  const dying = await engine.open(refusing('index/', engine.calls));
  await expect(engine.backup(undefined, { repository: dying })).rejects.toThrow('the process dies here');
  const left = engine.calls.calls.filter(({ method, key }) => method === 'put' && key.startsWith('packs/'));
  expect(left.length).toBeGreaterThan(0);

  const { destination, noted } = notingDestination(engine.calls);
  await engine.backup(undefined, { repository: await engine.open(destination) });
  const firstIndex = noted.findIndex(({ did, key }) => did === 'put' && key.startsWith('index/'));
  const durable = noted.slice(0, firstIndex).filter(isDurablePack);
  expect(firstIndex).toBeGreaterThan(0);
  expect(durable.map(({ key }) => key).sort()).toEqual(left.map(({ key }) => key).sort());

  // What an index object names was durable before it.
  const next = notingDestination(engine.calls);
  await engine.backup(undefined, { repository: await engine.open(next.destination) });
  expect(next.noted.filter(isDurablePack)).toEqual([]);
});

/** Runs a backup that another one, of the same files, overtakes, and that then dies. */
async function dieOvertaken(engine: Engine): Promise<{ readonly first: string[]; readonly left: string[] }> {
  const names = async (): Promise<string[]> => [
    ...(await listNamed(engine.repository.destination, 'packs/', never)).keys(),
  ];
  const overtake = async (): Promise<string[]> => {
    await engine.backup();
    return await names();
  };
  let overtaking: Promise<string[]> | undefined;
  const overtaken = hookedDestination(refusing('index/', engine.calls), {
    put: async (key) => {
      if (!key.startsWith('packs/')) return;
      overtaking ??= overtake();
      await overtaking;
    },
  });
  const dying = await engine.open(overtaken);
  await expect(engine.backup(undefined, { repository: dying })).rejects.toThrow('the process dies here');
  const first = (await overtaking) ?? [];
  return { first, left: (await names()).filter((name) => !first.includes(name)) };
}

test('packs of a run that died are made durable before a repair gives up others that hold the same', async () => {
  await using engine = await openEngine();
  for (const name of ['a', 'b', 'c']) writeFileSync(join(engine.source, name), seededRandom(7).bytes(60_000));
  const { first, left } = await dieOvertaken(engine);
  expect(left.length).toBe(first.length);

  const { destination, noted } = notingDestination(engine.calls);
  const repository = await engine.open(destination);
  const silent = { begin: () => {}, read: () => {}, copied: () => {}, failed: () => {} };
  const request = { repository, other: engine.repository, damaged: new Set(first) };
  const { bytes, packsReplaced } = await repairFrom(request, silent, never);
  // At most the tree of the directory above them all, in which others come and go.
  expect(bytes).toBeLessThan(1_000);
  expect([...packsReplaced].sort()).toEqual(first.sort());
  // First they are marked as damaged, which gives nothing up; at last as repaired.
  const marked = noted.findLastIndex(({ did, key }) => did === 'put' && key.startsWith('trash/'));
  const named = noted.findIndex(({ did, key }) => did === 'put' && key.startsWith('index/'));
  const durable = noted.slice(0, named).filter(isDurablePack);
  expect(durable.map(({ key }) => key).sort()).toEqual(left.map(packKey).sort());
  expect(named).toBeGreaterThan(0);
  expect(marked).toBeGreaterThan(named);
});

test('a record of a run that died is made durable before the next one names it', async () => {
  await using engine = await openEngine();
  writeFileSync(join(engine.source, 'a'), 'text');
  const { repository } = engine;
  const { memory } = repository.writer;
  const { snapshot } = await engine.backup();
  // As the memory of the run says that dies between storing its record and noting that it has.
  const key = `snapshots/${snapshot.id}`;
  const { destination, noted } = notingDestination(engine.calls);
  const later = await engine.open(destination);
  const { writer, seq, prev } = memory;
  await later.writer.remember({ writer, seq, prev, announced: { seq: seq + 1, record: snapshot.id, key } });
  await engine.backup(undefined, { repository: later });
  const durable = noted.findIndex((one) => one.did === 'durable' && one.key === key);
  const stored = noted.findIndex((one) => one.did === 'put' && one.key.startsWith('snapshots/'));
  expect(durable).toBeGreaterThanOrEqual(0);
  expect(stored).toBeGreaterThan(durable);
  const [, second] = await engine.snapshots();
  expect(second?.chain).toMatchObject({ writer, seq: seq + 2, prev: snapshot.id });
});

/** `engine`'s repository seen by a machine with a memory, whose storage notes what is made to last, or cannot. */
async function openRemembering(engine: Engine, stateDirectory: string) {
  const { destination, noted } = notingDestination(engine.calls);
  let failure: DestinationError | undefined;
  const makeDurable = async (
    ...request: Parameters<NonNullable<Destination['makeDurable']>>
  ): Promise<void> => {
    if (failure !== undefined) throw failure;
    await destination.makeDurable?.(...request);
  };
  const options = { clock: systemClock, stateDirectory };
  const open = async (): Promise<Repository> =>
    await openRepository({ ...destination, makeDurable }, engine.secret, options, never);
  const failWith = (error: DestinationError | undefined): void => void (failure = error);
  return { open, failWith, noted };
}

test('keys of a machine that died are made durable before anything is sealed under them', async () => {
  await using engine = await openEngine();
  writeFileSync(join(engine.source, 'a'), 'text');
  const { open, failWith, noted } = await openRemembering(engine, join(engine.directory, 'memory'));
  const repository = await open();
  expect(noted).toEqual(KEYS.map((key) => ({ did: 'durable', key })));
  noted.length = 0;

  await rotateKeys(engine.repository, never);
  failWith(new DestinationError('denied', 'it cannot be synced'));
  await expect(repository.followRing(never)).rejects.toThrow('it cannot be synced');
  expect([repository.ringNumber, repository.writer.memory.ring, noted]).toEqual([1, 1, []]);

  failWith(undefined);
  await repository.followRing(never);
  expect(noted.map(({ key }) => key)).toEqual(['keys/ring-2', 'copies/keys/ring-2']);
  const { snapshot } = await engine.backup(undefined, { repository });
  expect(snapshot.generation).toBe(2);
  expect(repository.writer.memory.ring).toBe(2);
});

test('a repository whose keys cannot be made durable can be read, and they are not remembered', async () => {
  await using engine = await openEngine();
  writeFileSync(join(engine.source, 'a'), 'text');
  await engine.backup();
  const { open, failWith, noted } = await openRemembering(engine, join(engine.directory, 'memory'));
  failWith(new DestinationError('denied', 'the disk takes no writes any more'));
  const reading = await open();
  expect(await listSnapshots(reading, never)).toMatchObject({ live: [{}] });
  expect(reading.writer.memory).toMatchObject({ ring: 0, config: 0 });
  failWith(undefined);
  const later = await open();
  expect(noted.map(({ key }) => key)).toEqual(KEYS);
  expect(later.writer.memory).toMatchObject({ ring: 1, config: 1 });
  // It has been noted: nothing is synced at the next opening.
  await open();
  expect(noted).toHaveLength(KEYS.length);
});

test('nothing is committed under keys that could not be made durable when the repository was opened', async () => {
  await using engine = await openEngine();
  writeFileSync(join(engine.source, 'a'), 'text');
  const { open, failWith, noted } = await openRemembering(engine, join(engine.directory, 'memory'));
  failWith(new DestinationError('denied', 'it cannot be synced'));
  const repository = await open();
  await expect(engine.backup(undefined, { repository })).rejects.toThrow('it cannot be synced');
  expect(await engine.snapshots()).toEqual([]);

  failWith(undefined);
  noted.length = 0;
  const { snapshot } = await engine.backup(undefined, { repository });
  const keys = noted.findIndex(({ did, key }) => did === 'durable' && key === 'keys/ring-1');
  const stored = noted.findIndex(({ key }) => key === `snapshots/${snapshot.id}`);
  expect(keys).toBeGreaterThanOrEqual(0);
  expect(stored).toBeGreaterThan(keys);
});

test('a record is made durable before a check remembers it, which would call the repository rolled back without it', async () => {
  await using engine = await openEngine();
  writeFileSync(join(engine.source, 'a'), 'text');
  const { snapshot } = await engine.backup();
  const { writer, seq } = snapshot.chain;
  const { open, failWith, noted } = await openRemembering(engine, join(engine.directory, 'memory'));
  const repository = await open();
  const findings = async (): Promise<readonly Finding[]> =>
    (await check(repository, { readData: false }, SILENT_CHECK, never)).findings;
  failWith(new DestinationError('denied', 'the disk takes no writes any more'));
  expect(await findings()).toEqual([]);
  expect(repository.writer.memory.heads).toEqual({});

  failWith(undefined);
  noted.length = 0;
  expect(await findings()).toEqual([]);
  expect(noted).toContainEqual({ did: 'durable', key: `snapshots/${snapshot.id}` });
  expect(repository.writer.memory.heads).toEqual({ [writer]: { seq, record: snapshot.id } });
  noted.length = 0;
  await findings();
  expect(noted).toEqual([]);
});
