import { mkdtempSync, rmSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DestinationError } from '../../../src/base/errors.ts';
import { MetadataDatabase } from '../../../src/cache/metadata-database.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { FirstLook, type KeyCopies } from '../../../src/repository/first-look.ts';
import { extendProtection, protectionWarning } from '../../../src/repository/protection.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { forgetSnapshots } from '../../../src/repository/snapshots.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';
import { recordingDestination, type RecordingDestination } from '../../support/recording-destination.ts';
import { tinyBackup } from '../../support/tiny-archiver.ts';

const { signal } = new AbortController();
const secret = { kind: 'machine' as const, secret: randomBytes(32) };
const DAY_MS = 86_400_000;
const DAYS = 40;
const noCopies: KeyCopies = {
  read: () => undefined,
  replace: () => {},
  known: { complete: false, large: false, listed: [] },
};

let directory: string;
let clock: ManualClock;
let store: RecordingDestination;
/** By key: until when an object is protected. */
let locked: Map<string, number>;
let retained: string[];
let refusal: DestinationError | undefined;
/** What it is about; all by default. */
let refused: (key: string) => boolean;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-protection-'));
  clock = manualClock();
  locked = new Map();
  retained = [];
  refusal = undefined;
  refused = () => true;
  store = recordingDestination(lockingDestination());
  const secrets = [{ secret, label: 'test' }];
  await createRepository(
    store,
    { clock, stateDirectory: directory, secrets, cost: { m: 64, t: 1, p: 1 } },
    signal,
  );
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** A store that protects what is put, and refuses to delete what is protected. */
function lockingDestination(): Destination {
  const inner = createMemoryDestination(() => clock.now());
  return {
    ...inner,
    properties: { ...inner.properties, remote: true, flatLists: true },
    put: async (key, body, own) => {
      const stat = await inner.put(key, body, own);
      locked.set(key, clock.now() + DAYS * DAY_MS);
      return stat;
    },
  };
}

/** Another run, with what this machine remembers. */
async function run(
  work: (repository: Repository) => Promise<void>,
  remembers = true,
): Promise<Awaited<ReturnType<typeof extendProtection>>> {
  const retain: Destination['retain'] = async (key) => {
    if (refusal !== undefined && refused(key)) throw refusal;
    retained.push(key);
    locked.set(key, clock.now() + DAYS * DAY_MS);
    await Promise.resolve();
  };
  const properties = { ...store.properties, retainDays: DAYS };
  const look = new FirstLook({ ...store, properties, retain }, 'everything', noCopies);
  const cache = new MetadataDatabase({
    path: join(directory, remembers ? 'one.db' : `${randomBytes(4).toString('hex')}.db`),
    key: Buffer.alloc(32, 7),
    limitBytes: 100_000_000,
    clock,
  });
  const options = { clock, stateDirectory: directory, look };
  const repository = (await openRepository(look.destination, secret, options, signal)).cachedBy(cache);
  retained = [];
  await work(repository);
  store.reset();
  const result = await extendProtection(repository, signal);
  cache.close();
  return result;
}

async function backUp(repository: Repository): Promise<void> {
  await tinyBackup(repository, { [`f${randomBytes(4).toString('hex')}`]: randomBytes(100) }, {}, signal);
}

async function keysNeeded(): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const page of store.list('', signal)) keys.push(...page.map(({ key }) => key));
  return keys.filter((key) => !/^(?:heads|leases|trash)\//.test(key));
}

function kinds(keys: readonly string[]): readonly string[] {
  return [...new Set(keys.map((key) => key.slice(0, key.indexOf('/'))))].toSorted();
}

describe('the time of protection', () => {
  it('is extended for what others have stored, and not for what this run has put', async () => {
    const first = await run(backUp);
    expect(first).toMatchObject({ left: 0, failure: undefined });
    expect(kinds(retained)).toEqual(['config', 'copies', 'keys']);
    expect(first?.extended).toBe(retained.length);
  });

  it('is not asked about again within a day', async () => {
    await run(backUp);
    await clock.advance(DAY_MS / 2);
    expect(await run(backUp)).toEqual({ extended: 0, left: 0, failure: undefined });
    expect(store.calls).toEqual([]);
  });

  it('begins anew for all that is needed once half of it is over, with a few requests until then', async () => {
    await run(backUp);
    await clock.advance((DAYS / 2 - 1) * DAY_MS);
    await run(backUp);
    expect(retained).toEqual([]);
    expect(store.calls.length).toBeLessThanOrEqual(2);
    await clock.advance(2 * DAY_MS);
    const before = new Map(locked);
    const result = await run(backUp);
    expect(kinds(retained)).toEqual(['config', 'copies', 'index', 'keys', 'packs', 'snapshots']);
    expect(result?.left).toBe(0);
    for (const key of retained) expect(locked.get(key)).toBeGreaterThan(before.get(key) ?? 0);
  });

  it('never runs out for what is needed, however long backups go on', async () => {
    for (let day = 0; day < 2 * DAYS; day += 10) {
      await run(backUp);
      for (const key of await keysNeeded()) expect(locked.get(key), key).toBeGreaterThan(clock.now());
      await clock.advance(10 * DAY_MS);
    }
  });

  it('runs out for packs that prune has marked and for snapshots that are forgotten', async () => {
    let forgotten = '';
    await run(async (repository) => {
      const { id } = await tinyBackup(repository, { a: randomBytes(100) }, {}, signal);
      forgotten = id;
      await forgetSnapshots(repository, [id], 'test', signal);
    });
    await clock.advance((DAYS / 2 + 1) * DAY_MS);
    await run(backUp);
    expect(retained.length).toBeGreaterThan(0);
    expect(retained).not.toContain(`snapshots/${forgotten}`);
  });

  it('of many objects is extended a thousand at a time, the most urgent first', async () => {
    for (let n = 0; n < 1_500; n += 1)
      await store.put(`packs/00/${n.toString(16).padStart(64, '0')}`, Buffer.from('x'), signal);
    const first = await run(backUp);
    expect(first).toMatchObject({ extended: 1000, failure: undefined });
    expect(kinds(retained)).toEqual(['config', 'copies', 'keys', 'packs']);
    const left = first?.left ?? 0;
    expect(left).toBeGreaterThanOrEqual(500);
    expect(await run(backUp)).toMatchObject({ extended: left, left: 0 });
  });

  it('is learned anew when this machine has forgotten what it knew', async () => {
    await run(backUp);
    await clock.advance(2 * DAY_MS);
    await run(backUp, false);
    expect(kinds(retained)).toEqual(['config', 'copies', 'index', 'keys', 'packs', 'snapshots']);
  });

  it('that may not be extended is told, and asked for again by the next run', async () => {
    refusal = new DestinationError('denied', 'Cannot protect keys/x: access is denied');
    const result = await run(backUp, false);
    expect(result).toMatchObject({ extended: 0, failure: { kind: 'denied' } });
    expect(protectionWarning(result ?? { extended: 0, left: 0, failure: undefined })).toMatch(
      /backup is complete, but .* access is denied\. Allow s3:PutObjectRetention/,
    );
    refusal = undefined;
    expect(await run(backUp)).toMatchObject({ left: 0, failure: undefined });
  });

  it('that may not be extended for some objects is extended for the others', async () => {
    refusal = new DestinationError('denied', 'access is denied');
    refused = (key) => key.startsWith('keys/');
    await run(backUp);
    const result = await run(backUp, false);
    expect(kinds(retained)).toEqual(['config', 'copies', 'index', 'packs', 'snapshots']);
    expect(result).toMatchObject({ left: 2, failure: { kind: 'denied' } });
  });

  it('is not asked for any more once the store is out of reach', async () => {
    await run(backUp);
    refusal = new DestinationError('unreachable', 'no network');
    const tried: string[] = [];
    refused = (key) => {
      tried.push(key);
      return true;
    };
    const result = await run(backUp, false);
    expect(result?.failure?.kind).toBe('unreachable');
    expect(tried.length).toBeLessThanOrEqual(store.properties.maxParallel);
    expect(result?.left).toBeGreaterThan(tried.length);
  });

  it('is nobody’s concern where nothing is protected', async () => {
    const plain = new FirstLook(store, 'everything', noCopies);
    const options = { clock, stateDirectory: directory, look: plain };
    const repository = await openRepository(plain.destination, secret, options, signal);
    await backUp(repository);
    expect(await extendProtection(repository, signal)).toBeUndefined();
  });
});
