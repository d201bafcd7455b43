// Turn 7 of 8.
import { randomBytes } from 'node:crypto';
import { appendFileSync, linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { DestinationError } from '../../src/base/errors.ts';
import { DEFAULT_COMPRESSION } from '../../src/codec/compress.ts';
import { ObjectSeal } from '../../src/codec/seal.ts';
import { copySnapshots, missingIn, type CopyObserver, type CopySummary } from '../../src/copier/copy.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { check } from '../../src/repository/check/check.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { createRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { snapshotDifferences } from '../support/compare-snapshot.ts';
import { entryOf, never, openEngine, type Engine } from '../support/engine.ts';
import { hookedDestination } from '../support/hooked-destination.ts';
import { recordingDestination, type RecordingDestination } from '../support/recording-destination.ts';

let engine: Engine;
const at = (name: string): string => join(engine.source, name);

beforeEach(async () => {
  engine = await openEngine();
  mkdirSync(at('deep/er'), { recursive: true });
  for (let i = 0; i < 40; i += 1) writeFileSync(at(`deep/file-${i}`), randomBytes(3_000));
  writeFileSync(at('deep/er/large'), randomBytes(6_000_000));
  writeFileSync(at('one'), 'one');
  linkSync(at('one'), at('deep/one-too'));
  symlinkSync('one', at('link'));
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

interface Target {
  readonly repository: Repository;
  readonly calls: RecordingDestination;
}

async function newTarget(like?: Repository): Promise<Target> {
  const calls = recordingDestination(createMemoryDestination());
  const repository = await createRepository(
    calls,
    {
      clock: systemClock,
      stateDirectory: undefined,
      secrets: [{ secret: { kind: 'machine', secret: randomBytes(32) }, label: 'other' }],
      cost: { m: 64, t: 1, p: 1 },
      packTarget: 1_048_576,
      segmentTarget: 131_072,
      ...(like === undefined ? {} : { like }),
    },
    never,
  );
  return { repository, calls };
}

/** Bytes of a segment that holds a part of the large file. */
const LARGE = 100_000;

const silent: CopyObserver = { begin: () => {}, read: () => {}, copied: () => {}, failed: () => {} };

async function copyAll(
  to: Repository,
  observer: Partial<CopyObserver> = {},
  from: Repository = engine.repository,
): Promise<CopySummary> {
  const snapshots = missingIn((await listSnapshots(to, never)).live, (await listSnapshots(from, never)).live);
  const request = { from, to, snapshots, compression: DEFAULT_COMPRESSION };
  return await copySnapshots(request, { ...silent, ...observer }, never);
}

async function expectSound(repository: Repository): Promise<void> {
  const report = await check(repository, { readData: 'all' }, SILENT_CHECK, never);
  expect(report.findings).toEqual([]);
  expect(report.status).toBe('ok');
}

async function newest(repository: Repository): Promise<Snapshot> {
  const snapshot = (await listSnapshots(repository, never)).live.at(-1);
  if (snapshot === undefined) throw new Error('there is no snapshot');
  return snapshot;
}

describe.each([
  ['of other keys', false],
  ['made alike', true],
])('copying to a repository %s', (_name, isAlike) => {
  const target = async (): Promise<Target> => await newTarget(isAlike ? engine.repository : undefined);

  test('gives the same snapshots, and nothing is copied twice', async () => {
    await engine.backup();
    appendFileSync(at('deep/file-7'), 'more');
    const { snapshot } = await engine.backup(undefined, { tags: ['second'] });
    const { repository, calls } = await target();
    expect(await copyAll(repository)).toMatchObject({ copied: 2, failed: 0 });
    await expectSound(repository);
    const made = await newest(repository);
    expect(await snapshotDifferences(repository, made, engine.source, never)).toEqual([]);
    expect(made.record).toMatchObject({
      tags: ['second'],
      counts: snapshot.record.counts,
      startedMs: snapshot.record.startedMs,
      host: 'host',
      parent: undefined,
    });
    expect(made.record.root.equals(snapshot.record.root)).toBe(isAlike);
    const packs = calls.count('put', 'packs/');
    expect(await copyAll(repository)).toMatchObject({ copied: 0, failed: 0, bytesNew: 0 });
    expect(calls.count('put', 'packs/')).toBe(packs);
  });

  test('keeps plain snapshots plain, and those that share nothing apart', async () => {
    await engine.backup(undefined, { plain: true });
    await engine.backup(undefined, { isolated: true });
    const { repository } = await target();
    expect(await copyAll(repository)).toMatchObject({ copied: 2 });
    await expectSound(repository);
    for (const snapshot of (await listSnapshots(repository, never)).live)
      expect(await snapshotDifferences(repository, snapshot, engine.source, never)).toEqual([]);
    const kinds = (await listSnapshots(repository, never)).live.map(({ record }) => [
      record.plain,
      record.salt === undefined,
    ]);
    expect(kinds).toEqual([
      [true, true],
      [false, false],
    ]);
  });

  test('that is broken off goes on where it was', async () => {
    for (let i = 0; i < 3; i += 1) {
      writeFileSync(at(`new-${i}`), randomBytes(2_000_000));
      await engine.backup();
    }
    const { repository, calls } = await target();
    const stop = new AbortController();
    const snapshots = (await listSnapshots(engine.repository, never)).live;
    const request = { from: engine.repository, to: repository, snapshots, compression: DEFAULT_COMPRESSION };
    let copied = 0;
    const observer: CopyObserver = {
      ...silent,
      copied: () => {
        copied += 1;
        if (copied === 2) stop.abort(new DOMException('enough', 'AbortError'));
      },
    };
    await expect(copySnapshots(request, observer, stop.signal)).rejects.toThrow('enough');
    expect((await listSnapshots(repository, never)).live).toHaveLength(2);
    calls.reset();
    expect(await copyAll(repository)).toMatchObject({ copied: 1, failed: 0 });
    expect(calls.bytes('put', 'packs/')).toBeLessThan(3_500_000);
    await expectSound(repository);
    expect(await snapshotDifferences(repository, await newest(repository), engine.source, never)).toEqual([]);
  });

  test('is not committed when a pack was said to be stored, but is not there', async () => {
    await engine.backup();
    const { repository, calls } = await target();
    const put = calls.put.bind(calls);
    let dropped: string | undefined;
    const dropping = vi.spyOn(calls, 'put').mockImplementation(async (key, body, signal) => {
      if (dropped !== undefined || !key.startsWith('packs/')) return await put(key, body, signal);
      dropped = key;
      return { size: body.byteLength, modifiedMs: Date.now() };
    });
    await expect(copyAll(repository)).rejects.toMatchObject({ code: 'REPOSITORY_LOCKED' });
    expect(dropped).toBeDefined();
    expect((await listSnapshots(repository, never)).live).toEqual([]);
    dropping.mockRestore();
    expect(await copyAll(repository)).toMatchObject({ copied: 1, failed: 0 });
    expect(await snapshotDifferences(repository, await newest(repository), engine.source, never)).toEqual([]);
  });

  test('passes over a snapshot of which something is lost, and copies the others whole', async () => {
    await engine.backup([join(engine.source, 'one')]);
    writeFileSync(at('deep/unlucky'), randomBytes(700_000));
    await engine.backup();
    // Read at once by the main thread, so that the packs of this run hold nothing else.
    writeFileSync(at('lost'), randomBytes(900_000));
    engine.calls.reset();
    const bad = await engine.backup([join(engine.source, 'lost')], { parent: 'none' });
    const { content } = await entryOf(engine, bad.snapshot, at('lost'), 'file');
    expect(content.length).toBeGreaterThan(0);
    const packs = engine.calls.calls.filter(
      ({ method, key }) => method === 'put' && key.startsWith('packs/'),
    );
    const data = packs.toSorted((a, b) => b.bytes - a.bytes)[0];
    if (data === undefined) throw new Error('nothing was stored');
    // What comes after it takes nothing from what was noted for it.
    rmSync(at('lost'));
    writeFileSync(at('deep/later'), randomBytes(700_000));
    await engine.backup();
    const flipping = hookedDestination(engine.calls, {});
    const get = flipping.get.bind(flipping);
    let flips = 0;
    const damaged: typeof flipping = {
      ...flipping,
      get: async (key, range, signal) => {
        const bytes = Buffer.from(await get(key, range, signal));
        if (key === data.key && bytes.length > 1_000) {
          bytes.writeUInt8(bytes.readUInt8(500) ^ 1, 500);
          flips += 1;
        }
        return bytes;
      },
    };
    const from = await engine.open(damaged);
    const { repository } = await target();
    const failed: Snapshot[] = [];
    const summary = await copyAll(repository, { failed: (snapshot) => failed.push(snapshot) }, from);
    expect(flips).toBeGreaterThan(0);
    expect(summary).toMatchObject({ copied: 3, failed: 1 });
    expect(failed.map(({ id }) => id)).toEqual([bad.snapshot.id]);
    await expectSound(repository);
    expect(await copyAll(repository)).toMatchObject({ copied: 1, failed: 0 });
    await expectSound(repository);
  });
});

describe('two copies at once', () => {
  const copyFrom = async (from: Repository, to: Repository, snapshots: readonly Snapshot[]) =>
    await copySnapshots({ from, to, snapshots, compression: DEFAULT_COMPRESSION }, silent, never);

  async function fourSnapshots(): Promise<readonly Snapshot[]> {
    for (let i = 0; i < 4; i += 1) {
      writeFileSync(at(`new-${i}`), randomBytes(1_000));
      await engine.backup();
    }
    return (await listSnapshots(engine.repository, never)).live;
  }

  test('make no snapshot twice, whichever comes first', async () => {
    const snapshots = await fourSnapshots();
    const { repository, calls } = await newTarget();
    let second: Promise<CopySummary> | undefined;
    const beside = async (): Promise<void> => {
      // The first one has looked into the target, and has stored nothing yet.
      second ??= copyFrom(engine.repository, repository, snapshots);
      await second;
    };
    const put = calls.put.bind(calls);
    const slow = vi.spyOn(calls, 'put').mockImplementation(async (key, body, signal) => {
      if (second === undefined && key.startsWith('packs/')) await beside();
      return await put(key, body, signal);
    });
    expect(await copyFrom(engine.repository, repository, snapshots)).toMatchObject({ copied: 0, there: 4 });
    slow.mockRestore();
    expect(await second).toMatchObject({ copied: 4, there: 0 });
    expect((await listSnapshots(repository, never)).live).toHaveLength(4);
    await expectSound(repository);
  });
});

test.each([
  ['not-found', undefined],
  ['corrupt-reply', undefined],
  ['unreachable', 'EIO'],
  ['denied', 'EACCES'],
] as const)(
  'a snapshot of which the source cannot read a pack (%s %s) is passed over',
  async (kind, errno) => {
    await engine.backup();
    engine.calls.reset();
    writeFileSync(at('lost'), randomBytes(900_000));
    const bad = await engine.backup([join(engine.source, 'lost')], { parent: 'none' });
    const [data] = engine.calls.calls
      .filter(({ method, key }) => method === 'put' && key.startsWith('packs/'))
      .toSorted((a, b) => b.bytes - a.bytes);
    rmSync(at('lost'));
    writeFileSync(at('deep/later'), randomBytes(700_000));
    await engine.backup();
    const from = await engine.open(
      hookedDestination(engine.calls, {
        get: (key) => {
          if (key !== data?.key) return;
          throw new DestinationError(kind, `Cannot read ${key}`, errno && { details: { errno, key } });
        },
      }),
    );
    const { repository } = await newTarget();
    const failed: (readonly [string, string])[] = [];
    const summary = await copyAll(
      repository,
      { failed: ({ id }, { code }) => failed.push([id, code]) },
      from,
    );
    expect(summary).toMatchObject({ copied: 2, failed: 1 });
    expect(failed).toEqual([[bad.snapshot.id, 'CORRUPT_DATA']]);
    await expectSound(repository);
  },
);

test('a source that does not answer ends the copy with its own error', async () => {
  await engine.backup();
  let isAway = false;
  const from = await engine.open(
    hookedDestination(engine.calls, {
      get: (key) => {
        if (isAway && key.startsWith('packs/')) throw new DestinationError('unreachable', 'no answer');
      },
    }),
  );
  const { repository } = await newTarget();
  const snapshots = (await listSnapshots(from, never)).live;
  isAway = true;
  const request = { from, to: repository, snapshots, compression: DEFAULT_COMPRESSION };
  await expect(copySnapshots(request, silent, never)).rejects.toThrow('no answer');
});

describe('what goes wrong after the source was read ends the copy, and nothing is committed', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Memory changes under the first segment of this length that is sealed. */
  function breakMemory(): () => number {
    const sealInto = ObjectSeal.prototype.sealInto;
    let changed = 0;
    vi.spyOn(ObjectSeal.prototype, 'sealInto').mockImplementation(function (
      this: ObjectSeal,
      target,
      offset,
      sequence,
      plaintext,
      segment,
    ) {
      const isChosen = changed === 0 && segment !== undefined && segment.rawLength >= LARGE;
      if (!isChosen) return sealInto.call(this, target, offset, sequence, plaintext, segment);
      changed += 1;
      const bytes = Buffer.from(plaintext);
      bytes.writeUInt8(bytes.readUInt8(1_000) ^ 1, 1_000);
      return sealInto.call(this, target, offset, sequence, bytes, segment);
    });
    return () => changed;
  }

  test.each([
    ['whole', false],
    ['damaged elsewhere', true],
  ])('memory, while the source is %s', async (_name, isDamaged) => {
    await engine.backup();
    appendFileSync(at('one'), 'more');
    await engine.backup();
    const { repository } = await newTarget();
    let flips = 0;
    const flipping = hookedDestination(engine.calls, {});
    const from = await engine.open({
      ...flipping,
      get: async (key, range, signal) => {
        const bytes = Buffer.from(await flipping.get(key, range, signal));
        // Of the data that is fetched at once, the first.
        if (!isDamaged || flips > 0 || !key.startsWith('packs/') || bytes.length < LARGE) return bytes;
        flips += 1;
        bytes.writeUInt8(bytes.readUInt8(500) ^ 1, 500);
        return bytes;
      },
    });
    const changed = breakMemory();
    const failed: Snapshot[] = [];
    const copying = copyAll(repository, { failed: (snapshot) => failed.push(snapshot) }, from);
    await expect(copying).rejects.toThrow('Data changed in memory');
    expect({ changed: changed(), flips, failed: failed.length }).toEqual({
      changed: 1,
      flips: Number(isDamaged),
      failed: 0,
    });
    expect((await listSnapshots(repository, never)).live).toEqual([]);
    expect(await copyAll(repository)).toMatchObject({ copied: 2, failed: 0 });
    await expectSound(repository);
  });
});

test('a repository made alike takes what it has from itself, without reading it', async () => {
  await engine.backup();
  const { repository } = await newTarget(engine.repository);
  await copyAll(repository);
  appendFileSync(at('deep/file-3'), 'more');
  await engine.backup();
  engine.calls.reset();
  const read: number[] = [];
  await copyAll(repository, { read: (bytes) => read.push(bytes) });
  expect(read.reduce((sum, bytes) => sum + bytes, 0)).toBe(3_004);
  await expectSound(repository);
});
