/**
 * Compares what a snapshot says of a directory with what lies there, entry by entry and byte by byte, without restoring:
 * kinds, names, metadata, link groups, extended attributes, content. The disk is read through `node:fs` and the test's own
 * C library calls.
 */

import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readSync,
  readdirSync,
  readlinkSync,
  type BigIntStats,
} from 'node:fs';
import { asByteString, bytesOfText, joinBytes, type ByteString } from '../../src/base/byte-path.ts';
import { fsPath, treePath } from '../../src/base/tree-path.ts';
import { ContentReader } from '../../src/browse/cat.ts';
import type { Entry, FileEntry } from '../../src/format/tree.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import type { Repository } from '../../src/repository/repository.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import { readTombstones } from '../../src/repository/tombstones.ts';
import { TreeReader } from '../../src/repository/contents/tree-reader.ts';
import { hasXattrs, readXattrs } from './libc.ts';
import { shownPath } from './shown-path.ts';

interface Comparison {
  readonly trees: TreeReader;
  readonly contents: ContentReader;
  readonly differences: string[];
  readonly signal: AbortSignal;
}

/** Differences in words, below `source`; none when the snapshot holds exactly what is there now. */
export async function snapshotDifferences(
  repository: Repository,
  snapshot: Snapshot,
  source: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { packs } = await readTombstones(repository, signal);
  const index = await loadIndex(repository, { without: packs }, signal);
  const { plain, salt, root } = snapshot.record;
  const comparison: Comparison = {
    trees: new TreeReader(repository, index, { plain, salt }),
    contents: new ContentReader(repository, index, { plain, salt }),
    differences: [],
    signal,
  };
  let id = root;
  for (const name of source.split('/').slice(1)) {
    const entries = await comparison.trees.directory(id, signal);
    const next = entries.find((entry) => entry.name === bytesOfText(name));
    if (next === undefined) return [`${source} is not in the snapshot`];
    const here = treePath(source);
    if (next.type !== 'directory') {
      await compareEntry(next, here, here, comparison);
      return comparison.differences;
    }
    id = next.id;
  }
  await compareDirectory(id, treePath(source), treePath(source), comparison);
  return comparison.differences;
}

/** Every byte of a stored file, or why it cannot be read: its chunks and holes must give exactly its size. */
export async function storedContent(
  repository: Repository,
  snapshot: Snapshot,
  file: FileEntry,
  signal: AbortSignal,
): Promise<Buffer> {
  const index = await loadIndex(repository, { without: new Set() }, signal);
  const parts: Buffer[] = [];
  const reader = new ContentReader(repository, index, snapshot.record);
  for await (const part of reader.read(file, undefined, signal)) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

async function compareDirectory(
  id: Buffer,
  reachable: ByteString,
  path: ByteString,
  comparison: Comparison,
): Promise<void> {
  const { differences, trees, signal } = comparison;
  const stored = new Map((await trees.directory(id, signal)).map((entry) => [entry.name, entry]));
  const names = readdirSync(fsPath(reachable), 'latin1').map(asByteString);
  for (const name of names) {
    const entry = stored.get(name);
    const below = joinBytes(path, name);
    if (entry === undefined) differences.push(`${shownPath(below)} is missing`);
    else await compareEntry(entry, joinBytes(reachable, name), below, comparison);
    if (entry?.type === 'directory') {
      const { id: inside } = entry;
      await inDirectory(joinBytes(reachable, name), (there) =>
        compareDirectory(inside, there, below, comparison),
      );
    }
  }
  const present = new Set(names);
  for (const name of stored.keys())
    if (!present.has(name)) differences.push(`${shownPath(joinBytes(path, name))} is extra`);
}

/** Leaves room below PATH_MAX for one more name of 255 bytes. */
const COMFORTABLE = 3_800;

/** Visits with a path that reaches the directory: its own, or that of its descriptor when it gets too long. */
async function inDirectory(
  directory: ByteString,
  visit: (reachable: ByteString) => Promise<void>,
): Promise<void> {
  if (directory.length <= COMFORTABLE) {
    await visit(directory);
    return;
  }
  const fd = openSync(fsPath(directory), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    await visit(asByteString(`/proc/self/fd/${fd}`));
  } finally {
    closeSync(fd);
  }
}

async function compareEntry(
  entry: Entry,
  reachable: ByteString,
  path: ByteString,
  comparison: Comparison,
): Promise<void> {
  const { differences } = comparison;
  const stat = lstatSync(fsPath(reachable), { bigint: true });
  const kind = kindOf(stat);
  if (entry.type !== kind) {
    differences.push(`${shownPath(path)} is a ${kind}, stored as ${entry.type}`);
    return;
  }
  const differs = (what: string, stored: unknown, now: unknown): void => {
    if (stored !== now)
      differences.push(`${what} of ${shownPath(path)}: ${String(stored)} stored, ${String(now)} now`);
  };
  differs('mode', entry.mode, Number(stat.mode & 0o7777n));
  differs('uid', entry.uid, Number(stat.uid));
  differs('gid', entry.gid, Number(stat.gid));
  differs('mtime', entry.mtimeNs, stat.mtimeNs);
  differs('ctime', entry.ctimeNs, stat.ctimeNs);
  differs('inode', entry.inode, Number(stat.ino));
  if (kind !== 'directory') {
    differs('number of links', entry.links?.count ?? 1, Number(stat.nlink));
    if (entry.links !== undefined) differs('device', entry.links.device, Number(stat.dev));
  }
  if (hasXattrs) differs('extended attributes', shownXattrs(entry.xattrs ?? []), xattrsOf(reachable));
  if (entry.type === 'symlink') differs('target', entry.target, readlinkSync(fsPath(reachable), 'latin1'));
  if (entry.type === 'file') {
    differs('size', entry.size, Number(stat.size));
    if (entry.size === Number(stat.size)) await compareContent(entry, reachable, path, comparison);
  }
}

/** Paths of the descriptor's directory are not passed to the C library: they are short by then. */
function xattrsOf(reachable: ByteString): string {
  return shownXattrs([...readXattrs(reachable)].map(([name, value]) => ({ name, value })));
}

function shownXattrs(xattrs: readonly { readonly name: ByteString; readonly value: Buffer }[]): string {
  return xattrs
    .filter(({ name }) => name !== 'security.selinux')
    .map(({ name, value }) => `${shownPath(name)}=${value.toString('hex')}`)
    .join(' ');
}

async function compareContent(
  entry: FileEntry,
  reachable: ByteString,
  path: ByteString,
  { contents, differences, signal }: Comparison,
): Promise<void> {
  const fd = openSync(fsPath(reachable), 'r');
  let offset = 0;
  try {
    for await (const part of contents.read(entry, undefined, signal)) {
      const now = Buffer.alloc(part.length);
      readSync(fd, now, 0, now.length, offset);
      if (!now.equals(part)) {
        differences.push(`content of ${shownPath(path)} differs at or after byte ${offset}`);
        return;
      }
      offset += part.length;
    }
  } finally {
    closeSync(fd);
  }
  if (offset !== entry.size)
    differences.push(`content of ${shownPath(path)} has ${offset} of ${entry.size} bytes`);
}

function kindOf(stat: BigIntStats): Entry['type'] | 'unknown' {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'directory';
  if (stat.isSymbolicLink()) return 'symlink';
  if (stat.isFIFO()) return 'fifo';
  if (stat.isSocket()) return 'socket';
  if (stat.isCharacterDevice()) return 'char-device';
  return stat.isBlockDevice() ? 'block-device' : 'unknown';
}
