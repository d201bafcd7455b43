import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { encodeIndexObject, encodeIndexedPack } from '../../../src/format/index-object.ts';
import { OBJECT_TYPES } from '../../../src/format/header.ts';
import {
  MAX_FINDINGS,
  SILENT_CHECK,
  type CheckObserver,
  type CheckReport,
} from '../../../src/repository/check/check-report.ts';
import { check, planCheck, type CheckOptions } from '../../../src/repository/check/check.ts';
import { SILENT_PRUNE, prune } from '../../../src/repository/prune/prune.ts';
import { readIndexObjects } from '../../../src/repository/chunk-index.ts';
import { listNamed, packKey } from '../../../src/repository/objects/listing.ts';
import { compressRecord, sealObject } from '../../../src/repository/objects/objects.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { rewriteSnapshot } from '../../../src/repository/renew/replace-snapshot.ts';
import { forgetSnapshots } from '../../../src/repository/snapshots.ts';
import { directory, file, handMadeSnapshot, memoryRepository } from '../../support/hand-made-snapshot.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { recordingDestination } from '../../support/recording-destination.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { tinyBackup, type TinyTree } from '../../support/tiny-archiver.ts';

const { signal } = new AbortController();
const random = seededRandom(7);
const tree: TinyTree = {
  a: random.bytes(60_000),
  empty: Buffer.alloc(0),
  dir: { b: random.bytes(300_000), c: Buffer.from('small'), deep: { d: random.bytes(3_000) } },
};
let destination: Destination;
let repository: Repository;

beforeEach(async () => {
  destination = createMemoryDestination();
  repository = await memoryRepository(signal, destination);
});

async function run(options: CheckOptions = { readData: 'all' }): Promise<CheckReport> {
  return await check(repository, options, SILENT_CHECK, signal);
}

async function replace(key: string, change: (bytes: Buffer) => Buffer): Promise<void> {
  const bytes = await destination.get(key, undefined, signal);
  await destination.delete(key, signal);
  await destination.put(key, change(bytes), signal);
}

async function packKeys(): Promise<[string, number][]> {
  return [...(await listNamed(destination, 'packs/', signal))].map(([name, { size }]) => [
    packKey(name),
    size,
  ]);
}

describe('a check beside a prune', () => {
  /** The pack that goes when a check has listed it and reads the first one. */
  let going: string | undefined;
  let listed = false;

  beforeEach(async () => {
    const list = (prefix: string): void => {
      listed ||= prefix === 'packs/';
    };
    const get = async (key: string): Promise<void> => {
      if (listed && going !== undefined && key.startsWith('packs/'))
        await destination.delete(packKey(going), signal);
    };
    destination = createMemoryDestination();
    repository = await memoryRepository(signal, hookedDestination(destination, { list, get }));
  });

  async function runWhileGoing(name: string, options: CheckOptions): Promise<CheckReport> {
    [going, listed] = [name, false];
    const report = await run({ workers: 0, ...options });
    going = undefined;
    expect([...(await listNamed(destination, 'packs/', signal)).keys()]).not.toContain(name);
    return report;
  }

  async function packsOf(made: () => Promise<{ readonly id: string }>): Promise<[string, readonly string[]]> {
    const before = await listNamed(destination, 'packs/', signal);
    const { id } = await made();
    const after = [...(await listNamed(destination, 'packs/', signal)).keys()];
    return [id, after.filter((name) => !before.has(name))];
  }

  it.each([{ readData: 'all' as const }, { readData: false as const }])(
    'does not take for damage what prune deletes meanwhile, with $readData',
    async (options) => {
      await tinyBackup(repository, { a: tree['a'] ?? {} }, {}, signal);
      const [old, packs] = await packsOf(async () => await tinyBackup(repository, tree, {}, signal));
      await forgetSnapshots(repository, [old], 'test', signal);
      const [pack = ''] = packs;
      const unmarked = await runWhileGoing(pack, options);
      expect(unmarked).toMatchObject({ status: 'ok' });
      expect(unmarked.findings).toMatchObject([{ severity: 'warning', object: `pack ${pack}` }]);
      expect((await prune(repository, {}, SILENT_PRUNE, signal)).markedPacks).toBe(packs.length - 1);
      const [, marked = ''] = packs;
      const report = await runWhileGoing(marked, options);
      expect(report).toMatchObject({ status: 'ok' });
      expect(report.findings.map(({ severity }) => severity)).not.toContain('error');
      expect(report.findings).toContainEqual(
        expect.objectContaining({ severity: 'note', object: `pack ${marked}` }),
      );
    },
  );

  it('finds out that what somebody deletes meanwhile is needed, and by which files', async () => {
    const [id, packs] = await packsOf(async () => await tinyBackup(repository, tree, {}, signal));
    const report = await runWhileGoing(packs[0] ?? '', { readData: false });
    expect(report).toMatchObject({ status: 'damaged', findings: [{ severity: 'error', snapshots: [id] }] });
  });
});

describe('a check of a sound repository', () => {
  it('finds nothing, and counts what there is', async () => {
    await tinyBackup(repository, { a: tree['a'] ?? {} }, {}, signal);
    await tinyBackup(repository, tree, {}, signal);
    const report = await run();
    expect(report).toMatchObject({ status: 'ok', findings: [], findingsMore: 0 });
    expect(report.counts).toMatchObject({
      snapshots: 2,
      packs: 4,
      packsRead: 4,
      chunksUnreferenced: 0,
      trees: 4,
      files: 6,
    });
    expect(report.packsProven).toHaveLength(4);
    expect(report.counts.bytesRead).toBe(report.counts.packBytes);
  });

  it('finds nothing in an empty one', async () => {
    expect(await run()).toMatchObject({ status: 'ok', findings: [] });
  });

  it('finds nothing in plain and isolated snapshots, split directories, long chunk lists and holes', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 9_000 }, (_, i) => [`file ${i}`, file(`content ${i % 7}`)]),
    );
    const chunks = Array.from({ length: 10 }, () => randomBytes(2_000));
    const root = directory({
      many: directory(many),
      listed: file(chunks, { idsPerList: 3 }),
      sparse: file([randomBytes(1_000)], { holes: [{ offset: 1_000, length: 5_000 }] }),
    });
    await handMadeSnapshot(repository, root, {}, signal);
    await tinyBackup(repository, tree, { record: { plain: true } }, signal);
    await tinyBackup(repository, tree, { record: { salt: randomBytes(16) } }, signal);
    const report = await run();
    expect(report.findings.filter(({ severity }) => severity !== 'note')).toEqual([]);
    expect(report.status).toBe('ok');
    expect(report.counts.files).toBeGreaterThan(9_000);
  });

  it('says the same from worker threads', async () => {
    await tinyBackup(repository, tree, {}, signal);
    const inline = await run({ readData: 'all', workers: 0 });
    const threaded = await run({ readData: 'all', workers: 2 });
    expect({ ...threaded, durationMs: 0, packsProven: threaded.packsProven.toSorted() }).toEqual({
      ...inline,
      durationMs: 0,
      packsProven: inline.packsProven.toSorted(),
    });
  });

  it('counts what forgotten snapshots leave, and chunks of isolated ones that are gone are no damage', async () => {
    await tinyBackup(repository, { a: tree['a'] ?? {} }, {}, signal);
    const isolated = await tinyBackup(repository, tree, { record: { salt: randomBytes(16) } }, signal);
    await forgetSnapshots(repository, [isolated.id], 'test', signal);
    const report = await run();
    expect(report.status).toBe('ok');
    expect(report.counts).toMatchObject({ snapshots: 1, packsUnreferenced: 2, chunksUnreferenced: 7 });
  });

  it('accepts snapshots that were written anew with other tags', async () => {
    const snapshot = await tinyBackup(repository, tree, {}, signal);
    const rewritten = await rewriteSnapshot(repository, snapshot, { tags: ['keep'], pinned: true }, signal);
    const again = await rewriteSnapshot(repository, rewritten, { tags: [] }, signal);
    expect(again.record).toMatchObject({ original: snapshot.id, pinned: true, tags: [] });
    expect(await run()).toMatchObject({ status: 'ok', counts: { snapshots: 1 } });
  });

  it('reads no pack without being asked, beyond headers, tails and directories', async () => {
    const recording = recordingDestination(createMemoryDestination());
    repository = await memoryRepository(signal, recording);
    await tinyBackup(repository, tree, {}, signal);
    recording.reset();
    const report = await run({ readData: false });
    expect(report).toMatchObject({ status: 'ok', counts: { packsRead: 0, bytesRead: 0 } });
    expect(recording.bytes('get', 'packs/')).toBeLessThan(20_000);
  });

  it('reads about as much as it is asked to', async () => {
    for (let i = 0; i < 10; i += 1) await tinyBackup(repository, { a: random.bytes(40_000) }, {}, signal);
    const { counts } = await run({ readData: { percent: 30 } });
    expect(counts.bytesRead / counts.packBytes).toBeGreaterThanOrEqual(0.3);
    expect(counts.bytesRead / counts.packBytes).toBeLessThan(0.45);
    expect((await run({ readData: { bytes: 1 } })).counts.packsRead).toBe(1);
    expect((await run({ readData: { bytes: 1e12 } })).counts.packsRead).toBe(20);
    const plan = await planCheck(repository, { readData: { percent: 50 } }, signal);
    expect(plan.bytesToRead).toBeGreaterThanOrEqual(plan.packBytes * 0.5);
  });

  it('tells its observer what it does', async () => {
    await tinyBackup(repository, tree, {}, signal);
    const told: unknown[] = [];
    const observer: CheckObserver = {
      phase: (phase) => told.push(phase),
      packRead: (done) => told.push(done),
      finding: (object) => told.push(object),
    };
    const { counts } = await check(repository, { readData: 'all', workers: 0 }, observer, signal);
    const first = {
      packs: 1,
      bytes: (await packKeys()).map(([, size]) => size).toSorted((a, b) => b - a)[0],
    };
    expect(told).toEqual(['listing', 'reading', first, { packs: 2, bytes: counts.bytesRead }]);
    expect(counts.bytesRead).toBe(counts.packBytes);
  });

  it('stops when it is aborted', async () => {
    await tinyBackup(repository, tree, {}, signal);
    const abort = new AbortController();
    const observer = { ...SILENT_CHECK, phase: () => abort.abort() };
    await expect(check(repository, { readData: 'all' }, observer, abort.signal)).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});

describe('a check finds', () => {
  it('an index object that does not say what the pack says, and judges the trees by the packs', async () => {
    await tinyBackup(repository, tree, {}, signal);
    const [[name, object] = ['', undefined]] = await readIndexObjects(repository, [], signal);
    const entries = (object?.packs ?? []).map((pack) => {
      const ids = Buffer.from(pack.directory.ids);
      if (pack.directory.kind === 'data') ids.writeUInt8(ids.readUInt8(3) ^ 1, 3);
      return encodeIndexedPack({ ...pack, directory: { ...pack.directory, ids } });
    });
    const wrong = sealObject(
      repository.keys,
      OBJECT_TYPES.index,
      Buffer.alloc(0),
      compressRecord(encodeIndexObject([name], entries)),
    );
    await destination.put(`index/${wrong.name}`, wrong.bytes, signal);
    for (const readData of [false, 'all'] as const) {
      const { findings } = await run({ readData });
      const errors = findings.filter(({ severity }) => severity === 'error');
      expect(errors.map((finding) => finding.object)).toEqual([`index object ${wrong.name}`]);
    }
  });

  it('files whose size is not that of their chunks', async () => {
    const root = directory({ d: directory({ wrong: file('abc', { size: 4 }), right: file('abc') }) });
    const { id } = await handMadeSnapshot(repository, root, {}, signal);
    const [finding, ...others] = (await run()).findings.filter(({ severity }) => severity === 'error');
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ snapshots: [id], files: ['/d/wrong'], filesTotal: 1 });
    expect(finding?.what).toContain('has 4 bytes');
  });

  it.each([false, 'all'] as const)(
    'files that name a chunk by another end of its id, data read: %s',
    async (readData) => {
      const content = [random.bytes(3_000), random.bytes(3_000)];
      const misnamed = { isMisnamed: true };
      const root = directory({
        right: file(content),
        wrong: file(content, misnamed),
        lists: file(content, { ...misnamed, idsPerList: 1 }),
        alone: file([random.bytes(500)], misnamed),
      });
      const { id } = await handMadeSnapshot(repository, root, {}, signal);
      const report = await run({ readData });
      expect(report.status).toBe('damaged');
      const [finding, ...others] = report.findings.filter(({ severity }) => severity === 'error');
      expect(others).toEqual([]);
      expect(finding).toMatchObject({ snapshots: [id], filesTotal: 3 });
      expect(finding?.files.toSorted()).toEqual(['/alone', '/lists', '/wrong']);
      expect(finding?.what).toContain('names a chunk that no pack holds under this id');
    },
  );

  it('packs that are missing, and names every file that needs them', async () => {
    const first = await tinyBackup(repository, { a: tree['a'] ?? {}, c: Buffer.from('c') }, {}, signal);
    const packs = new Set((await listNamed(destination, 'packs/', signal)).keys());
    const second = await tinyBackup(repository, tree, {}, signal);
    const added = [...(await listNamed(destination, 'packs/', signal)).keys()].filter(
      (name) => !packs.has(name),
    );
    const bySize = await Promise.all(
      added.map(async (name) => ({ name, ...(await destination.stat(packKey(name), signal)) })),
    );
    const largest = bySize.sort((a, b) => b.size - a.size)[0]?.name ?? '';
    await destination.delete(packKey(largest), signal);
    const { status, findings } = await run({ readData: false });
    expect(status).toBe('damaged');
    expect(findings.map(({ object }) => object)).toEqual([`pack ${largest}`]);
    expect(findings[0]).toMatchObject({ snapshots: [second.id], filesTotal: 3 });
    expect(findings[0]?.files.toSorted()).toEqual(['/dir/b', '/dir/c', '/dir/deep/d']);
    expect(first.id).not.toBe(second.id);
  });

  it('that a lost pack does not matter when no snapshot needs it', async () => {
    await tinyBackup(repository, tree, {}, signal);
    const before = new Set((await listNamed(destination, 'packs/', signal)).keys());
    const snapshot = await tinyBackup(repository, { other: random.bytes(1_000) }, {}, signal);
    await forgetSnapshots(repository, [snapshot.id], 'test', signal);
    for (const name of (await listNamed(destination, 'packs/', signal)).keys()) {
      if (!before.has(name)) await destination.delete(packKey(name), signal);
    }
    const report = await run();
    expect(report.status).toBe('ok');
    expect(report.findings.map(({ severity, what }) => [severity, what])).toEqual([
      ['warning', 'it is missing'],
      ['warning', 'it is missing'],
    ]);
  });

  it("two packs of one length that stand in each other's place", async () => {
    const ids = new Set<string>();
    for (let i = 0; i < 2; i += 1)
      ids.add((await tinyBackup(repository, { a: random.bytes(50_000) }, {}, signal)).id);
    const bySize = (await packKeys()).sort(([, a], [, b]) => b - a);
    const [[one, oneSize] = ['', 0], [two, twoSize] = ['', 0]] = bySize;
    expect(oneSize).toBe(twoSize);
    const bytes = await destination.get(one, undefined, signal);
    let other = bytes;
    await replace(two, (own) => {
      other = own;
      return bytes;
    });
    await replace(one, () => other);
    for (const workers of [0, 2]) {
      const { findings } = await run({ readData: 'all', workers });
      expect(findings.map(({ object }) => object).sort()).toEqual(
        [one, two].map((key) => `pack ${key.slice(9)}`).sort(),
      );
      expect(findings.map(({ files }) => files)).toEqual([['/a'], ['/a']]);
      expect(new Set(findings.flatMap(({ snapshots }) => snapshots))).toEqual(ids);
    }
    expect((await run({ readData: false })).status).toBe('damaged');
  });

  it('every damaged pack, also where there is more damage than is listed', async () => {
    await tinyBackup(repository, tree, {}, signal);
    const harmed = (await packKeys()).map(([key]) => key.slice(9));
    for (const name of harmed) {
      await replace(packKey(name), (bytes) => {
        bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
        return bytes;
      });
    }
    expect((await run({ readData: 'all' })).packsDamaged).toEqual(new Set(harmed));
    // These are found before.
    for (let i = 0; i < MAX_FINDINGS; i += 1)
      await destination.put(`trash/${random.bytes(32).toString('hex')}`, Buffer.from('no tombstone'), signal);
    const { findings, findingsMore, packsDamaged } = await run({ readData: 'all' });
    expect(findings.map(({ object }) => object).filter((object) => object.startsWith('pack '))).toEqual([]);
    expect(findingsMore).toBeGreaterThanOrEqual(harmed.length);
    expect(packsDamaged).toEqual(new Set(harmed));
  });

  it('the same damage on worker threads, and the same files', async () => {
    await tinyBackup(repository, tree, {}, signal);
    for (const [key] of await packKeys()) {
      await replace(key, (bytes) => {
        const at = Math.floor(bytes.length / 2);
        bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
        return bytes;
      });
    }
    const byObject = ({ findings, packsProven }: CheckReport): unknown[] => {
      expect(packsProven).toEqual([]);
      return findings.toSorted((a, b) => (a.object < b.object ? -1 : 1));
    };
    const inline = byObject(await run({ readData: 'all', workers: 0 }));
    expect(inline).toHaveLength(2);
    expect(byObject(await run({ readData: 'all', workers: 2 }))).toEqual(inline);
  });

  it('damage in a tree, and says which directory of which snapshots is lost', async () => {
    const one = await tinyBackup(repository, tree, {}, signal);
    const two = await tinyBackup(repository, { ...tree, more: Buffer.from('more') }, {}, signal);
    const [[name, object] = ['', undefined]] = await readIndexObjects(repository, [], signal);
    expect(name).not.toBe('');
    const treePack = object?.packs.find(({ directory }) => directory.kind === 'tree')?.name ?? '';
    await replace(packKey(treePack), (bytes) => {
      bytes.writeUInt8(bytes.readUInt8(100) ^ 4, 100);
      return bytes;
    });
    const [finding] = (await run({ readData: false })).findings;
    expect(finding?.object).toBe(`pack ${treePack}`);
    expect([...(finding?.snapshots ?? [])].sort()).toEqual([one.id, two.id].sort());
    // One segment held the root of the first and everything below the root of both.
    expect(finding?.files.toSorted()).toEqual(['/', '/dir']);
  });
});
