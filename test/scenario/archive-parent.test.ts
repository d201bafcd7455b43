/** Parents whose entries are not quite what the disk says, made by hand. */

import { chmodSync, linkSync, lstatSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { bytesOfText } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { loadIndex, segmentOf, type KnownPack } from '../../src/repository/chunk-index.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import { native, type Native } from '../../src/system/native.ts';
import { entryOf, never, openEngine, type Engine } from '../support/engine.ts';
import {
  directory,
  file,
  handMadeSnapshot,
  type HandMadeDirectory,
  type HandMadeNode,
} from '../support/hand-made-snapshot.ts';
import { manualClock } from '../support/manual-clock.ts';

let engine: Engine;
const at = (name: string): string => join(engine.source, name);

beforeEach(async () => {
  engine = await openEngine();
  mkdirSync(at('a'));
  writeFileSync(at('a/one'), 'content');
  linkSync(at('a/one'), at('a/two'));
  writeFileSync(at('a/three'), 'other');
  await delay(40);
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

/** A snapshot of the source as it is, but for what `change` makes of the metadata of each entry. */
async function handMadeParent(
  change: (node: HandMadeNode, path: string) => HandMadeNode,
  startedMs = Date.now(),
): Promise<Snapshot> {
  const nodeOf = (path: string, whole: boolean, below: readonly string[]): HandMadeNode => {
    const stat = lstatSync(path, { bigint: true });
    const metadata = {
      mode: Number(stat.mode & 0o7777n),
      uid: Number(stat.uid),
      gid: Number(stat.gid),
      mtimeNs: stat.mtimeNs,
      ctimeNs: stat.ctimeNs,
      inode: Number(stat.ino),
    };
    if (!stat.isDirectory()) {
      const links =
        stat.nlink === 1n ? {} : { links: { device: Number(stat.dev), count: Number(stat.nlink) } };
      return change(file(readFileSync(path, 'latin1'), { ...metadata, ...links }), path);
    }
    const names = whole ? readdirSync(path) : below.slice(0, 1);
    const entries = Object.fromEntries(
      names.map((name) => [name, nodeOf(join(path, name), whole || below.length === 1, below.slice(1))]),
    );
    return change(directory(entries, metadata), path);
  };
  const root = nodeOf('/', false, engine.source.split('/').slice(1));
  const record = { host: 'host', paths: [treePath(engine.source)], startedMs };
  return await handMadeSnapshot(engine.repository, root as HandMadeDirectory, record, never);
}

test('a parent that says the same as the disk is taken over as it is', async () => {
  const parent = await handMadeParent((node) => node);
  const { snapshot, bytesRead } = await engine.backup();
  expect(snapshot.record.parent).toBe(parent.id);
  expect(bytesRead).toBe(0);
  expect(snapshot.record.counts).toMatchObject({ unchanged: 3, new: 0, changed: 0 });
  expect(await engine.differences(snapshot)).toEqual([]);
});

test('devices that have other numbers since the machine was started: nothing is read, links stay together', async () => {
  const parent = await handMadeParent((node) =>
    node.type === 'file' && node.links !== undefined
      ? { ...node, links: { ...node.links, device: node.links.device + 7 } }
      : node,
  );
  const { snapshot, bytesRead } = await engine.backup();
  expect(snapshot.record.parent).toBe(parent.id);
  expect(bytesRead).toBe(0);
  // The device is compared too.
  expect(await engine.differences(snapshot)).toEqual([]);
});

async function packsOf(kind: 'data' | 'tree'): Promise<readonly KnownPack[]> {
  const { packs } = await loadIndex(engine.repository, { without: new Set() }, never);
  return packs.filter((pack) => pack.kind === kind);
}

describe('a large file, whose chunks are named by lists', () => {
  const CHUNKS = 6_000;
  /** Two lists, of 72,000 bytes each: more than one segment. */
  const content = 'x'.repeat(CHUNKS / 2) + 'y'.repeat(CHUNKS / 2);

  async function largeParent(): Promise<Snapshot> {
    writeFileSync(at('a/three'), content);
    await delay(40);
    const chunks = Array.from(content, (letter) => Buffer.from(letter));
    return await handMadeParent((node, path) =>
      path.endsWith('three') && node.type === 'file' ? { ...node, chunks, idsPerList: CHUNKS / 2 } : node,
    );
  }

  test('is taken over when all is there', async () => {
    await largeParent();
    const { snapshot, bytesRead } = await engine.backup();
    expect(bytesRead).toBe(0);
    expect((await entryOf(engine, snapshot, at('a/three'), 'file')).indirect).toBe(true);
    expect(await engine.differences(snapshot)).toEqual([]);
  });

  test('is read again when a pack is gone that no index object names any more', async () => {
    await largeParent();
    for (const { name } of await packsOf('data'))
      await engine.repository.destination.delete(packKey(name), never);
    const { missing, damaged } = await loadIndex(engine.repository, { without: new Set() }, never);
    expect([...missing, ...damaged]).toEqual([]);
    const { snapshot, bytesRead } = await engine.backup();
    expect(bytesRead).toBe(CHUNKS + 'content'.length);
    expect(await engine.differences(snapshot)).toEqual([]);
  });

  test('is read again, and it alone, when a list of it cannot be read', async () => {
    await largeParent();
    const [trees] = await packsOf('tree');
    if (trees === undefined) throw new Error('no trees');
    expect(trees.segments.length / 3).toBeGreaterThan(1);
    // The lists were stored before the directory that names them.
    const { offset } = segmentOf(trees, 0);
    const { destination } = engine.repository;
    const bytes = await destination.get(packKey(trees.name), undefined, never);
    bytes.writeUInt8(bytes.readUInt8(offset + 20) ^ 1, offset + 20);
    await destination.delete(packKey(trees.name), never);
    await destination.put(packKey(trees.name), bytes, never);
    const { snapshot, bytesRead } = await engine.backup();
    expect(bytesRead).toBe(CHUNKS);
    expect(await engine.differences(snapshot)).toEqual([]);
  });
});

test('a file that changed while the parent read it is read again', async () => {
  await handMadeParent((node, path) =>
    path.endsWith('three') && node.type === 'file' ? { ...node, changedWhileRead: true } : node,
  );
  const { snapshot, bytesRead } = await engine.backup();
  expect(bytesRead).toBe(5);
  expect((await entryOf(engine, snapshot, at('a/three'), 'file')).changedWhileRead).toBe(false);
});

test('a parent of another host or of other paths is not taken', async () => {
  await handMadeParent((node) => node);
  const otherHost = await engine.backup(undefined, { host: `not-${hostname()}` });
  expect(otherHost.snapshot.record.parent).toBeUndefined();
  const otherPaths = await engine.backup([at('a')]);
  expect(otherPaths.snapshot.record.parent).toBeUndefined();
});

const THREE_BYTES = 5;

test.each([
  ['size', (node: HandMadeNode) => ({ ...node, size: 6, chunks: [Buffer.from('longer')] })],
  ['mtime', (node: HandMadeNode) => ({ ...node, mtimeNs: (node.mtimeNs ?? 0n) - 1n })],
  ['ctime', (node: HandMadeNode) => ({ ...node, ctimeNs: (node.ctimeNs ?? 0n) - 1n })],
  ['inode', (node: HandMadeNode) => ({ ...node, inode: (node.inode ?? 0) + 1 })],
  ['number of links', (node: HandMadeNode) => ({ ...node, links: { device: 1, count: 2 } })],
] as const)('a file of another %s than the parent says is read', async (_, change) => {
  await handMadeParent((node, path) => (path.endsWith('three') ? change(node) : node));
  const { snapshot, bytesRead } = await engine.backup();
  expect(bytesRead).toBe(THREE_BYTES);
  expect(await engine.differences(snapshot)).toEqual([]);
});

describe('within one tick of the file system before the parent began', () => {
  const touched = (): number => Number(lstatSync(at('a/three'), { bigint: true }).ctimeNs / 1_000_000n);

  test('a file may have changed without a trace: it is read', async () => {
    writeFileSync(at('a/three'), 'OTHER');
    await handMadeParent(
      (node, path) =>
        path.endsWith('three') && node.type === 'file' ? { ...node, chunks: [Buffer.from('other')] } : node,
      touched() + 10,
    );
    const { snapshot, bytesRead } = await engine.backup();
    expect(bytesRead).toBeGreaterThanOrEqual(THREE_BYTES);
    expect(await engine.differences(snapshot)).toEqual([]);
  });

  test('so may the attributes of a directory', async () => {
    chmodSync(at('a'), 0o711);
    const changed = Number(lstatSync(at('a'), { bigint: true }).ctimeNs / 1_000_000n);
    const xattrs = [{ name: bytesOfText('user.gone'), value: Buffer.from('by now') }];
    await handMadeParent((node, path) => (path === at('a') ? { ...node, xattrs } : node), changed + 10);
    const { snapshot } = await engine.backup();
    expect(await engine.differences(snapshot)).toEqual([]);
  });
});

/** Whatever is looked at has these times from now on. */
function freezeTimes(calls: Native, timeNs: bigint): void {
  const real = { ...calls };
  const times = { mtimeNs: timeNs, ctimeNs: timeNs };
  vi.spyOn(calls, 'findEntry').mockImplementation((directory, name) => {
    const stat = real.findEntry(directory, name);
    return stat && { ...stat, ...times };
  });
  vi.spyOn(calls, 'fstat').mockImplementation((fd) => ({ ...real.fstat(fd), ...times }));
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
}

test.runIf(native !== null)(
  'on a file system that keeps whole seconds a file may change within two of them without a trace: it is read',
  async () => {
    const clock = manualClock();
    if (native !== null) freezeTimes(native, BigInt(clock.now()) * 1_000_000n);
    await using coarse = await openEngine({ clock });
    const path = join(coarse.source, 'file');
    const backup = async () => {
      const { snapshot, bytesRead } = await coarse.backup();
      return { bytesRead, content: (await entryOf(coarse, snapshot, path, 'file')).content };
    };
    await clock.advance(1_990);
    writeFileSync(path, 'content');
    const before = await backup();
    writeFileSync(path, 'CONTENT');
    const after = await backup();
    expect(after.content).not.toEqual(before.content);
    await clock.advance(40);
    await backup();
    expect((await backup()).bytesRead).toBe(0);
  },
);
