/** What a tree holds, as data that JSON can keep: one line an entry, for repositories that are kept to be read by later versions. */

import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { asByteString, joinBytes, type ByteString } from '../../src/base/byte-path.ts';
import { fsPath } from '../../src/base/tree-path.ts';
import { splitDeviceNumber } from '../../src/system/device-number.ts';
import { readXattrs } from '../../src/system/xattr.ts';

export interface ManifestEntry {
  /** Absolute, one character a byte. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'char-device' | 'block-device';
  /** Octal. */
  readonly mode: string;
  readonly uid: number;
  readonly gid: number;
  /** Nanoseconds since 1970. */
  readonly mtime: string;
  /** Of files: size and SHA-256. */
  readonly size?: number;
  readonly sha256?: string;
  readonly target?: string;
  /** Major, minor. */
  readonly device?: readonly [number, number];
  /** Name and value in hex. */
  readonly xattrs?: Readonly<Record<string, string>>;
  /** Number of names, where there are several. */
  readonly links?: number;
}

/** A directory with many like entries, kept as the hash of its lines. */
export interface ManifestCrowd {
  readonly directory: string;
  readonly entries: number;
  readonly sha256: string;
}

export interface Manifest {
  readonly entries: readonly ManifestEntry[];
  readonly crowds: readonly ManifestCrowd[];
}

const CROWD = 100;

/** Sorts, and replaces the entries of crowded directories by their hash. */
export function manifestOf(entries: readonly ManifestEntry[]): Manifest {
  const byDirectory = new Map<string, ManifestEntry[]>();
  for (const entry of entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const directory = entry.path.slice(0, entry.path.lastIndexOf('/'));
    const group = byDirectory.get(directory);
    if (group === undefined) byDirectory.set(directory, [entry]);
    else group.push(entry);
  }
  const crowds: ManifestCrowd[] = [];
  const kept: ManifestEntry[] = [];
  for (const [directory, group] of byDirectory) {
    if (group.length < CROWD) kept.push(...group);
    else crowds.push({ directory, entries: group.length, sha256: sha256(lines(group)) });
  }
  return { entries: kept, crowds };
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Everything below a directory on disk. */
export function entriesOnDisk(directory: ByteString): ManifestEntry[] {
  return readdirSync(fsPath(directory), 'latin1').flatMap((name) => {
    const path = joinBytes(directory, asByteString(name));
    const entry = entryOnDisk(path);
    return entry.type === 'directory' ? [entry, ...entriesOnDisk(path)] : [entry];
  });
}

const TYPES: Readonly<Record<number, ManifestEntry['type']>> = {
  0o01: 'fifo',
  0o02: 'char-device',
  0o04: 'directory',
  0o06: 'block-device',
  0o10: 'file',
  0o12: 'symlink',
  0o14: 'socket',
};

function entryOnDisk(path: ByteString): ManifestEntry {
  const stat = lstatSync(fsPath(path), { bigint: true });
  const type = TYPES[Number(stat.mode >> 12n)];
  if (type === undefined) throw new Error(`an entry of no known type: ${path}`);
  const xattrs = readXattrs(path, (_, error) => {
    throw error;
  });
  const content = type === 'file' ? readFileSync(fsPath(path)) : undefined;
  const { major, minor } = splitDeviceNumber(stat.rdev);
  return {
    path,
    type,
    mode: Number(stat.mode & 0o7777n).toString(8),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    mtime: String(stat.mtimeNs),
    ...(content === undefined ? {} : { size: content.length, sha256: sha256(content) }),
    ...(type === 'symlink' ? { target: readlinkSync(fsPath(path), 'latin1') } : {}),
    ...(type === 'char-device' || type === 'block-device' ? { device: [major, minor] as const } : {}),
    ...(xattrs.length === 0
      ? {}
      : { xattrs: Object.fromEntries(xattrs.map(({ name, value }) => [name, value.toString('hex')])) }),
    ...(type !== 'directory' && stat.nlink > 1n ? { links: Number(stat.nlink) } : {}),
  };
}

function lines(entries: readonly ManifestEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(inOrder(entry))}\n`).join('');
}

/** The fields in one order, whoever made the entry. */
function inOrder(entry: ManifestEntry): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)));
}
