/**
 * Compares two trees entry by entry: kinds, bytes, rights, owners, times to the nanosecond, hard link groups, extended
 * attributes with access control lists, holes. Shares nothing with the program under test.
 * As a script: `node test/support/compare-trees.ts LEFT RIGHT`; exit code 1 when they differ.
 */

import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { asByteString, joinBytes } from '../../src/base/byte-path.ts';
import { fsPath, treePath } from '../../src/base/tree-path.ts';
import type { ByteString } from '../../src/base/byte-path.ts';
import { errnoOf } from '../../src/base/errors.ts';
import { firstDifference } from './compare-bytes.ts';
import { hasXattrs, readXattrs } from './libc.ts';
import { insideDirectory } from './long-path.ts';
import { shownPath } from './shown-path.ts';

export interface Difference {
  /** Below the roots; empty for the roots themselves. */
  readonly path: ByteString;
  readonly aspect:
    | 'missing'
    | 'extra'
    | 'type'
    | 'mode'
    | 'owner'
    | 'mtime'
    | 'size'
    | 'content'
    | 'holes'
    | 'target'
    | 'device'
    | 'links'
    | 'xattr'
    | 'unreadable';
  readonly left: string;
  readonly right: string;
}

export interface CompareOptions {
  /** Compare uid and gid. Default: only when run as root, since nobody else can set them. */
  readonly owners?: boolean;
  /** Compare mode, owner, times and attributes of the two roots too. Default true. */
  readonly roots?: boolean;
  /** Times may differ by less than this many nanoseconds. Default 1: not at all. */
  readonly timeResolution?: bigint;
  /** Whether a file that is sparse on the left must be so on the right. Default true. */
  readonly holes?: boolean;
  /** Extended attributes to leave out, by name. Default: what the system labels by itself (SELinux). */
  readonly ignoredXattrs?: readonly string[];
}

/** One comparison under way. */
interface Comparison {
  readonly options: Required<CompareOptions>;
  readonly differences: Difference[];
  /** First path seen of every inode with several names, by "device:inode". */
  readonly leftNames: Map<string, ByteString>;
  readonly rightNames: Map<string, ByteString>;
}

/** Directions in which an entry is reachable, and its path below the roots. */
interface Pair {
  readonly left: ByteString;
  readonly right: ByteString;
  readonly path: ByteString;
}

const kinds = [
  ['regular file', (stats: BigIntStats) => stats.isFile()],
  ['directory', (stats: BigIntStats) => stats.isDirectory()],
  ['symbolic link', (stats: BigIntStats) => stats.isSymbolicLink()],
  ['FIFO', (stats: BigIntStats) => stats.isFIFO()],
  ['socket', (stats: BigIntStats) => stats.isSocket()],
  ['character device', (stats: BigIntStats) => stats.isCharacterDevice()],
  ['block device', (stats: BigIntStats) => stats.isBlockDevice()],
] as const;

type Kind = (typeof kinds)[number][0];

/** Holes smaller than this in sum are not missed: file systems round to their own units. */
const holeTolerance = 128n * 1024n;

/** All differences, in byte order of path. Empty: the trees are the same in every aspect compared. */
export function compareTrees(
  leftRoot: string,
  rightRoot: string,
  options: CompareOptions = {},
): readonly Difference[] {
  const comparison: Comparison = {
    options: {
      owners: process.getuid?.() === 0,
      roots: true,
      timeResolution: 1n,
      holes: true,
      ignoredXattrs: ['security.selinux'],
      ...options,
    },
    differences: [],
    leftNames: new Map(),
    rightNames: new Map(),
  };
  const [left, right] = [treePath(path.resolve(leftRoot)), treePath(path.resolve(rightRoot))];
  const pair: Pair = { left, right, path: asByteString('') };
  if (comparison.options.roots) compareMetadata(pair, statOf(left), statOf(right), comparison);
  compareEntries(pair, comparison);
  return comparison.differences;
}

/** A difference on one line, for test failures and terminals. */
export function shownDifference(difference: Difference): string {
  const where = difference.path === '' ? '(root)' : shownPath(difference.path);
  return `${difference.aspect.padEnd(10)} ${where}: ${difference.left} | ${difference.right}`;
}

function byBytes(left: ByteString, right: ByteString): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function statOf(reachable: ByteString): BigIntStats {
  return lstatSync(fsPath(reachable), { bigint: true });
}

function kindOf(stats: BigIntStats): Kind {
  const found = kinds.find(([, test]) => test(stats));
  if (found === undefined) throw new Error(`unknown kind of entry, mode ${stats.mode.toString(8)}`);
  return found[0];
}

/** The names of both sides in byte order. */
function compareEntries(pair: Pair, comparison: Comparison): void {
  const [leftList, rightList] = [listing(pair, 'left', comparison), listing(pair, 'right', comparison)];
  if (leftList === undefined || rightList === undefined) return;
  const [leftNames, rightNames] = [new Set(leftList), new Set(rightList)];
  for (const name of [...new Set([...leftList, ...rightList])].sort(byBytes)) {
    const entry = joinBytes(pair.path, name);
    if (!rightNames.has(name)) {
      const kind = kindOf(statOf(joinBytes(pair.left, name)));
      comparison.differences.push({ path: entry, aspect: 'missing', left: kind, right: 'nothing' });
    } else if (leftNames.has(name)) {
      compareEntry(pair, name, entry, comparison);
    } else {
      const kind = kindOf(statOf(joinBytes(pair.right, name)));
      comparison.differences.push({ path: entry, aspect: 'extra', left: 'nothing', right: kind });
    }
  }
}

function listing(
  pair: Pair,
  side: 'left' | 'right',
  comparison: Comparison,
): readonly ByteString[] | undefined {
  try {
    return readdirSync(fsPath(pair[side]), 'latin1').map(asByteString);
  } catch (error) {
    reportUnreadable(error, pair.path, side, comparison);
    return undefined;
  }
}

/** What could not be read counts as a difference: nothing is known about it. */
function reportUnreadable(
  error: unknown,
  path: ByteString,
  side: 'left' | 'right' | 'one side',
  comparison: Comparison,
): void {
  const code = errnoOf(error);
  if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EIO') throw error;
  const [left, right] = [side === 'right' ? 'not known' : code, side === 'left' ? 'not known' : code];
  comparison.differences.push({ path, aspect: 'unreadable', left, right });
}

function compareEntry(parents: Pair, name: ByteString, path: ByteString, comparison: Comparison): void {
  const pair: Pair = { left: joinBytes(parents.left, name), right: joinBytes(parents.right, name), path };
  const [left, right] = [statOf(pair.left), statOf(pair.right)];
  const [leftKind, rightKind] = [kindOf(left), kindOf(right)];
  if (leftKind !== rightKind) {
    comparison.differences.push({ path, aspect: 'type', left: leftKind, right: rightKind });
    return;
  }
  compareMetadata(pair, left, right, comparison);
  if (leftKind === 'directory') {
    insideDirectory(parents.left, name, (leftReachable) => {
      insideDirectory(parents.right, name, (rightReachable) => {
        compareEntries({ left: leftReachable, right: rightReachable, path }, comparison);
      });
    });
    return;
  }
  compareLinkGroups(path, left, right, comparison);
  if (leftKind === 'regular file') compareContent(pair, left, right, comparison);
  else if (leftKind === 'symbolic link') compareTargets(pair, comparison);
  else if (left.rdev !== right.rdev)
    comparison.differences.push({
      path,
      aspect: 'device',
      left: left.rdev.toString(16),
      right: right.rdev.toString(16),
    });
}

function compareMetadata(pair: Pair, left: BigIntStats, right: BigIntStats, comparison: Comparison): void {
  const { options, differences } = comparison;
  const { path } = pair;
  const mode = (stats: BigIntStats): string => (stats.mode & 0o7777n).toString(8).padStart(4, '0');
  if (mode(left) !== mode(right))
    differences.push({ path, aspect: 'mode', left: mode(left), right: mode(right) });
  const owner = (stats: BigIntStats): string => `${stats.uid}:${stats.gid}`;
  if (options.owners && owner(left) !== owner(right))
    differences.push({ path, aspect: 'owner', left: owner(left), right: owner(right) });
  const apart = left.mtimeNs > right.mtimeNs ? left.mtimeNs - right.mtimeNs : right.mtimeNs - left.mtimeNs;
  if (apart >= options.timeResolution)
    differences.push({ path, aspect: 'mtime', left: `${left.mtimeNs}`, right: `${right.mtimeNs}` });
  if (hasXattrs) compareXattrs(pair, comparison);
}

function compareXattrs(pair: Pair, comparison: Comparison): void {
  const { differences, options } = comparison;
  let left, right: ReadonlyMap<ByteString, Buffer>;
  try {
    left = readXattrs(pair.left);
    right = readXattrs(pair.right);
  } catch (error) {
    reportUnreadable(error, pair.path, 'one side', comparison);
    return;
  }
  const shown = (name: ByteString, value: Buffer | undefined): string =>
    value === undefined ? `no ${shownPath(name)}` : `${shownPath(name)}=${shownValue(value)}`;
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    if (options.ignoredXattrs.includes(name)) continue;
    const [leftValue, rightValue] = [left.get(name), right.get(name)];
    if (leftValue !== undefined && rightValue?.equals(leftValue) === true) continue;
    differences.push({
      path: pair.path,
      aspect: 'xattr',
      left: shown(name, leftValue),
      right: shown(name, rightValue),
    });
  }
}

function shownValue(value: Buffer): string {
  const hex = value.subarray(0, 32).toString('hex');
  return value.length > 32 ? `0x${hex}… (${value.length} bytes)` : `0x${hex}`;
}

/** Every name must lead back to the same first name of its inode on both sides. */
function compareLinkGroups(
  path: ByteString,
  left: BigIntStats,
  right: BigIntStats,
  comparison: Comparison,
): void {
  const leftFirst = firstName(left, path, comparison.leftNames);
  const rightFirst = firstName(right, path, comparison.rightNames);
  if (leftFirst === rightFirst) return;
  const shown = (first: ByteString): string => (first === path ? 'own inode' : `same as ${shownPath(first)}`);
  comparison.differences.push({ path, aspect: 'links', left: shown(leftFirst), right: shown(rightFirst) });
}

function firstName(stats: BigIntStats, path: ByteString, names: Map<string, ByteString>): ByteString {
  if (stats.nlink === 1n) return path;
  const inode = `${stats.dev}:${stats.ino}`;
  const first = names.get(inode);
  if (first === undefined) names.set(inode, path);
  return first ?? path;
}

function compareContent(pair: Pair, left: BigIntStats, right: BigIntStats, comparison: Comparison): void {
  const { differences, options } = comparison;
  const { path } = pair;
  if (left.size !== right.size) {
    differences.push({ path, aspect: 'size', left: `${left.size}`, right: `${right.size}` });
    return;
  }
  try {
    const offset = firstDifference(pair.left, pair.right);
    if (offset !== undefined) {
      const where = `byte ${offset} of ${left.size}`;
      differences.push({ path, aspect: 'content', left: where, right: 'other bytes' });
    }
  } catch (error) {
    reportUnreadable(error, path, 'one side', comparison);
  }
  const [leftTaken, rightTaken] = [left.blocks * 512n, right.blocks * 512n];
  const sparse = leftTaken + holeTolerance < left.size;
  if (options.holes && sparse && rightTaken > leftTaken + holeTolerance)
    differences.push({
      path,
      aspect: 'holes',
      left: `${leftTaken} bytes taken`,
      right: `${rightTaken} bytes taken`,
    });
}

function compareTargets(pair: Pair, comparison: Comparison): void {
  const target = (link: ByteString): ByteString => asByteString(readlinkSync(fsPath(link), 'latin1'));
  const [left, right] = [target(pair.left), target(pair.right)];
  if (left !== right)
    comparison.differences.push({
      path: pair.path,
      aspect: 'target',
      left: shownPath(left),
      right: shownPath(right),
    });
}

function main(): void {
  const { positionals } = parseArgs({ allowPositionals: true, options: {} });
  const [left, right] = positionals;
  if (left === undefined || right === undefined || positionals.length > 2) {
    process.stderr.write('usage: compare-trees.ts LEFT RIGHT\n');
    process.exitCode = 2;
    return;
  }
  const differences = compareTrees(left, right);
  for (const difference of differences) process.stdout.write(`${shownDifference(difference)}\n`);
  process.stdout.write(differences.length === 0 ? 'no difference\n' : `${differences.length} differences\n`);
  process.exitCode = differences.length === 0 ? 0 : 1;
}

if (import.meta.main) main();
