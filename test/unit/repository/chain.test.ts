import { randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { DestinationError, RepositoryError } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { NO_RECORD } from '../../../src/format/records.ts';
import { leaveCopiedIdentity } from '../../../src/repository/chain.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import { LEASE_TIMES } from '../../../src/repository/lease-objects.ts';
import { SILENT_PRUNE, prune } from '../../../src/repository/prune/prune.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots } from '../../../src/repository/snapshots.ts';
import { putTombstone } from '../../../src/repository/put-tombstone.ts';
import { readTombstones } from '../../../src/repository/tombstones.ts';
import { faultyDestination } from '../../support/faulty-destination.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { tinyBackup } from '../../support/tiny-archiver.ts';

const { signal } = new AbortController();
const secret = { kind: 'machine' as const, secret: randomBytes(32) };
let stateDirectory: string;
let destination: Destination;
let repository: Repository;
const copies: string[] = [];

beforeEach(async () => {
  stateDirectory = await mkdtemp(join(tmpdir(), 'holdfast-chain-'));
  destination = createMemoryDestination();
  const secrets = [{ secret, label: 'test' }];
  repository = await createRepository(
    destination,
    { clock: systemClock, stateDirectory, secrets, cost: { m: 64, t: 1, p: 1 } },
    signal,
  );
});

afterEach(async () => {
  for (const directory of [stateDirectory, ...copies.splice(0)]) await rm(directory, { recursive: true });
});

/** Another process of this host. */
async function again(through: Destination = destination): Promise<Repository> {
  return await openRepository(through, secret, { clock: systemClock, stateDirectory }, signal);
}

async function expectOneChain(records: number): Promise<void> {
  const { findings } = await check(await again(), { readData: false }, SILENT_CHECK, signal);
  expect(findings).toEqual([]);
  const { live, tombstones } = await listSnapshots(repository, signal);
  const numbers = [...live, ...tombstones.all].map(({ chain }) => chain.seq).sort((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: records }, (_, i) => i + 1));
  expect(new Set([...live, ...tombstones.all].map(({ chain }) => chain.writer)).size).toBe(1);
}

const tree = { a: Buffer.from('a') };

async function keysBelow(prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const page of destination.list(prefix, signal)) keys.push(...page.map(({ key }) => key));
  return keys;
}

/** Another host, which began with a copy of this one's state directory. */
async function copyOfThisHost(): Promise<Repository> {
  const copied = `${stateDirectory}-copy`;
  await cp(stateDirectory, copied, { recursive: true });
  copies.push(copied);
  return await openRepository(destination, secret, { clock: systemClock, stateDirectory: copied }, signal);
}

/** One more record. */
async function forgetOne(by: Repository): Promise<void> {
  const record = { kind: 'snapshots' as const, names: [NO_RECORD], reason: 'test', atMs: 0, fence: 0 };
  await putTombstone(by, record, { live: 0 }, signal);
}

describe("a writer's chain", () => {
  it('goes on from process to process', async () => {
    const first = await tinyBackup(repository, tree, {}, signal);
    await tinyBackup(await again(), tree, {}, signal);
    await forgetSnapshots(await again(), [first.id], 'test', signal);
    await tinyBackup(repository, tree, {}, signal);
    expect((await listSnapshots(repository, signal)).live).toHaveLength(2);
    const { findings } = await check(await again(), { readData: false }, SILENT_CHECK, signal);
    expect(findings).toEqual([]);
  });

  it('holds a record that is stored for stored though this host can no longer note it', async () => {
    const memory = join(stateDirectory, 'repositories', `${repository.id}.json`);
    let announced: Buffer | undefined;
    const blocking = hookedDestination(destination, {
      put: async (key) => {
        if (!key.startsWith('snapshots/')) return;
        announced = await readFile(memory);
        await rm(memory);
        await mkdir(join(memory, 'in the way'), { recursive: true });
      },
    });
    const { id } = await tinyBackup(await again(blocking), tree, {}, signal);
    expect((await listSnapshots(repository, signal)).live.map((one) => one.id)).toEqual([id]);
    await rm(memory, { recursive: true });
    await writeFile(memory, announced ?? '');
    await tinyBackup(await again(), tree, {}, signal);
    await expectOneChain(2);
  });

  it('stores the head of a record that stands though it is told to stop just then', async () => {
    const stop = new AbortController();
    const stopping = hookedDestination(destination, {
      put: async (key) => {
        if (key.startsWith('heads/')) stop.abort();
        await Promise.resolve();
      },
    });
    const host = await again(stopping);
    const record = { kind: 'snapshots' as const, names: [NO_RECORD], reason: 'test', atMs: 0, fence: 0 };
    await putTombstone(host, record, { live: 0 }, stop.signal);
    expect(stop.signal.aborted).toBe(true);
    expect(await keysBelow(`heads/${host.writer.memory.writer}/`)).toHaveLength(1);
  });

  it.each([
    ['an abort', new DOMException('stopped', 'AbortError')],
    ['the loss of a right', new RepositoryError('REPOSITORY_LOCKED', 'The right to prune was lost')],
  ])(
    'reports no failure of a record that stands when %s ends the wait for its head',
    async (_what, reason) => {
      const stop = new AbortController();
      const silent = hookedDestination(destination, {
        put: async (key) => {
          if (!key.startsWith('heads/')) return;
          stop.abort(reason);
          // As a request does whose signal is over.
          await delay(LEASE_TIMES.settle + 100);
          throw reason;
        },
      });
      const host = await again(silent);
      const record = { kind: 'snapshots' as const, names: [NO_RECORD], reason: 'test', atMs: 0, fence: 0 };
      const { name } = await putTombstone(host, record, { live: 0 }, stop.signal);
      expect(await keysBelow('trash/')).toEqual([`trash/${name}`]);
      expect(host.writer.memory).toMatchObject({ prev: name, announced: undefined });
    },
  );

  it('gives no number twice though the record over which a run died was stored, and removed by others since', async () => {
    const memory = join(stateDirectory, 'repositories', `${repository.id}.json`);
    let announced = '';
    const dying = hookedDestination(destination, {
      put: async (key) => void (key.startsWith('trash/') && (announced = await readFile(memory, 'utf8'))),
    });
    await forgetOne(await again(dying));
    const [key = ''] = await keysBelow('trash/');
    for (const head of await keysBelow('heads/')) await destination.delete(head, signal);
    await writeFile(memory, announced);
    // As prune removes a record: first it is named.
    const other = await openRepository(
      destination,
      secret,
      { clock: systemClock, stateDirectory: undefined },
      signal,
    );
    const compacted = { kind: 'snapshots' as const, reason: 'compacted', atMs: 0, fence: 0 };
    await putTombstone(other, { ...compacted, names: [key.slice('trash/'.length)] }, { live: 0 }, signal);
    await destination.delete(key, signal);
    const host = await again();
    await forgetOne(host);
    const { all } = await readTombstones(host, signal);
    const own = all.filter(({ chain }) => chain.writer === host.writer.memory.writer);
    expect(own.map(({ chain }) => chain)).toMatchObject([{ seq: 2, prev: key.slice('trash/'.length) }]);
    const { findings } = await check(await again(), { readData: false }, SILENT_CHECK, signal);
    expect(findings).toEqual([]);
  });

  it('gives the number of a record again that never came to be stored', async () => {
    const memory = join(stateDirectory, 'repositories', `${repository.id}.json`);
    let announced = '';
    const dying = hookedDestination(destination, {
      put: async (key) => void (key.startsWith('trash/') && (announced = await readFile(memory, 'utf8'))),
    });
    await forgetOne(await again(dying));
    for (const key of [...(await keysBelow('trash/')), ...(await keysBelow('heads/'))])
      await destination.delete(key, signal);
    await writeFile(memory, announced);
    const host = await again();
    await forgetOne(host);
    expect((await readTombstones(host, signal)).all.map(({ chain }) => chain.seq)).toEqual([1]);
  });

  it('keeps 64 heads, without listing them each time, and clears away what a broken-off run left', async () => {
    const fresh = await openRepository(
      destination,
      secret,
      { clock: systemClock, stateDirectory: undefined },
      signal,
    );
    const headNumbers = async (): Promise<readonly number[]> =>
      (await keysBelow(`heads/${fresh.writer.memory.writer}/`))
        .map((key) => Number(key.slice(-16)))
        .sort((a, b) => a - b);
    const range = (from: number, to: number): readonly number[] =>
      Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const lists = vi.spyOn(destination, 'list');
    for (let n = 1; n <= 63; n += 1) await forgetOne(fresh);
    expect(lists.mock.calls.filter(([prefix]) => prefix.startsWith('heads/'))).toEqual([]);
    for (let n = 64; n <= 70; n += 1) await forgetOne(fresh);
    expect(await headNumbers()).toEqual(range(7, 70));
    await destination.put(
      `heads/${fresh.writer.memory.writer}/${'2'.padStart(16, '0')}`,
      Buffer.from('x'),
      signal,
    );
    for (let n = 71; n <= 128; n += 1) await forgetOne(fresh);
    expect(await headNumbers()).toEqual(range(65, 128));
  });

  it('has no two records with one number when several processes of a host write at once', async () => {
    const processes = await Promise.all(Array.from({ length: 6 }, async () => await again()));
    await Promise.all(
      processes.map(async (one) => {
        for (let i = 0; i < 4; i += 1) await tinyBackup(one, tree, {}, signal);
      }),
    );
    await expectOneChain(24);
  });

  it('has no two records with one number after a run that died before it knew its record was stored', async () => {
    for (const fault of ['lose-reply', 'fail'] as const) {
      using dying = faultyDestination(destination, [
        { on: 'put', under: 'snapshots/', fault, error: new DestinationError('unreachable', 'killed') },
      ]);
      await expect(tinyBackup(await again(dying), tree, {}, signal)).rejects.toThrow('killed');
      await tinyBackup(await again(), tree, {}, signal);
    }
    // The one whose reply was lost is there.
    expect((await listSnapshots(repository, signal)).live).toHaveLength(3);
    const { findings } = await check(await again(), { readData: false }, SILENT_CHECK, signal);
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  it('is given up by a copy of the state directory that finds the other in its place, before a number is given twice', async () => {
    await tinyBackup(repository, tree, {}, signal);
    const copy = await copyOfThisHost();
    const other = await tinyBackup(repository, tree, {}, signal);
    const { live } = await listSnapshots(copy, signal);
    await leaveCopiedIdentity(copy, live, signal);
    expect(copy.writer.takeForeign()).toMatchObject({ seq: 2, record: other.id, host: other.record.host });
    expect(copy.writer.takeForeign()).toBeUndefined();
    const { chain } = await tinyBackup(copy, tree, {}, signal);
    expect(chain).toMatchObject({ seq: 1, prev: NO_RECORD });
    expect(chain.writer).not.toBe(other.chain.writer);
    const { findings } = await check(await again(), { readData: false }, SILENT_CHECK, signal);
    expect(findings).toEqual([]);
  });

  it('is forked once at most by copies that write at the same moment, and check says which snapshots those were', async () => {
    await tinyBackup(repository, tree, {}, signal);
    const copy = await copyOfThisHost();
    const both = [await tinyBackup(repository, tree, {}, signal), await tinyBackup(copy, tree, {}, signal)];
    expect(both.map(({ chain }) => chain.seq)).toEqual([2, 2]);
    expect(copy.writer.takeForeign()).toMatchObject({ seq: 2, record: both[0]?.id });
    expect(repository.writer.takeForeign()).toBeUndefined();
    await tinyBackup(repository, tree, {}, signal);
    expect((await tinyBackup(copy, tree, {}, signal)).chain.seq).toBe(1);
    const report = await check(await again(), { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
    expect(report).toMatchObject({ status: 'ok', findings: [{ severity: 'warning' }] });
    for (const { id, record } of both) {
      expect(report.findings[0]?.what).toContain(
        `snapshot ${id.slice(0, 8)} of host ${record.host} from ${new Date(record.startedMs).toISOString()}`,
      );
    }
    expect((await listSnapshots(copy, signal)).live).toHaveLength(5);
    await prune(copy, {}, SILENT_PRUNE, signal);
  });

  it('is left for another by a tombstone too, and is not by a head of our own that was stored twice', async () => {
    await forgetOne(repository);
    const copy = await copyOfThisHost();
    await forgetOne(repository);
    await forgetOne(copy);
    expect(copy.writer.takeForeign()).toMatchObject({ seq: 2, host: null, atMs: null });
    const error = new DestinationError('exists', 'stored by a try whose reply was lost');
    using twice = faultyDestination(destination, [
      { on: 'put', under: 'heads/', fault: 'lose-reply', error },
    ]);
    const own = await again(twice);
    await forgetOne(own);
    expect(own.writer.takeForeign()).toBeUndefined();
  });

  it('is not held up by the lock of a process that is gone', async () => {
    const path = join(stateDirectory, 'repositories', `${repository.id}.json`);
    await writeFile(`${path}.lock`, '4194304 left behind');
    await tinyBackup(repository, tree, {}, signal);
    await expectOneChain(1);
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ seq: 1 });
  });

  it('waits for the lock of a process that is alive, until it is aborted', async () => {
    const path = join(stateDirectory, 'repositories', `${repository.id}.json`);
    await writeFile(`${path}.lock`, `${process.pid} at work`);
    await expect(tinyBackup(repository, tree, {}, AbortSignal.timeout(200))).rejects.toMatchObject({
      name: 'AbortError',
    });
    await rm(`${path}.lock`);
    await tinyBackup(repository, tree, {}, signal);
  });
});
