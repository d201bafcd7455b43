/** Names of every sort there can be, backed up and restored: byte for byte the same. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { asByteString, joinBytes, type ByteString } from '../../src/base/byte-path.ts';
import { fsPath, treePath } from '../../src/base/tree-path.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { openEngine } from '../support/engine.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

const NAME_MAX = 255;
/** The kernel takes 4,095 bytes in one call, and where it is all restored has a longer path. */
const PATH_MAX = 3_900;
/** In bytes: controls, quotes, wildcards, accents composed and not, marks of direction, halves of characters, no UTF-8. */
const PIECES: readonly string[] = [
  '\n',
  '\t',
  '\r',
  '\u0001',
  '\u001b[31m',
  '\u007f',
  ' ',
  '.',
  '..',
  '-',
  '--',
  '~',
  '\\',
  '\\n',
  ':',
  '*',
  '?',
  '"',
  "'",
  '`',
  '$(id)',
  '%2f',
  '#',
  '!',
  'a',
  'A',
  'b',
  'ss',
  '0',
  'nul',
  'aux.txt',
  '.gitignore',
  '__proto__',
  '\u00e9',
  'e\u0301',
  '\u00c5',
  'A\u030a',
  '\u212b',
  '\u00df',
  '\u0131',
  '\u202e',
  '\u2066',
  '\u200d',
  '\ufeff',
  '\u3042',
  '\u{20000}',
  '\u{1f469}\u200d\u{1f467}',
  '\ufffd',
].map((text) => Buffer.from(text).toString('latin1'));
const NO_UTF8: readonly string[] = [
  '\u00ff',
  '\u00ff\u00fe',
  '\u00c0\u00af',
  '\u00ed\u00a0\u0080',
  '\u00e2\u0082',
  '\u00e9',
];

export interface NamesResult {
  readonly names: number;
  /** Of these, no valid UTF-8, and of 255 bytes. */
  readonly foreign: number;
  readonly longest: number;
}

/** So many names, files and directories, each of another content. */
export async function sweepNames(count: number, random: SeededRandom): Promise<NamesResult> {
  await using engine = await openEngine();
  const directories: ByteString[] = [treePath(engine.source)];
  const taken = new Set<string>();
  const result = { names: 0, foreign: 0, longest: 0 };
  while (result.names < count) {
    // Newer ones more often, so that they nest.
    const parent = directories[Math.floor(directories.length * Math.sqrt(random.next()))];
    if (parent === undefined) continue;
    const name = randomName(random);
    const path = joinBytes(parent, asByteString(name));
    if (path.length > PATH_MAX || taken.has(path)) continue;
    taken.add(path);
    if (random.next() < 0.15) {
      mkdirSync(fsPath(path));
      directories.push(path);
    } else writeFileSync(fsPath(path), `${result.names}\n`);
    result.names += 1;
    if (NO_UTF8.some((bytes) => name.includes(bytes))) result.foreign += 1;
    if (name.length === NAME_MAX) result.longest += 1;
  }
  const { snapshot } = await engine.backup();
  expect(snapshot.record.status).toBe('complete');
  const { source, summary } = await engine.restoreTo('restored', snapshot);
  expect(summary.errors).toEqual([]);
  expect(compareTrees(engine.source, source).slice(0, 10).map(shownDifference)).toEqual([]);
  return result;
}

/** Neither empty nor `.` nor `..`, without slash and NUL, of 255 bytes at most. */
function randomName(random: SeededRandom): string {
  const pieces = random.next() < 0.2 ? [...NO_UTF8, ...PIECES] : PIECES;
  const piece = (): string => pieces[random.below(pieces.length)] ?? 'x';
  let name = piece();
  const most = random.next() < 0.1 ? NAME_MAX : 1 + random.below(40);
  while (name.length < most) name += piece();
  if (most === NAME_MAX) name = name.slice(0, NAME_MAX);
  return name === '.' || name === '..' ? `${name}x` : name;
}
