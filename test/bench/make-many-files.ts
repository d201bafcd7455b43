/**
 * A tree of very many small files: `node make-many-files.ts DIR [--count N] [--seed N]`, and later
 * `node make-many-files.ts DIR --count N --seed N --touch K [--round R]`, which changes K of them.
 *
 * Directories hold 10 to 300 files and hang in each other at random; sizes are log-normal around 1 KiB, at most 16 KiB.
 * Count and seed say everything, so nothing needs to be remembered between the two.
 */

import { closeSync, existsSync, lstatSync, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '../support/seeded-random.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

const usage = `usage: make-many-files.ts DIR [--count N] [--seed N]
       make-many-files.ts DIR [--count N] [--seed N] --touch K [--round R]
  --count N  files (default 1000000)
  --seed N   another tree (default 1)
  --touch K  change K files of the tree that the same count and seed made
  --round R  other files and other changes (default 1)
`;

const words =
  'account batch cache delta engine figure garden handle index journal kernel ledger market notice object parcel query record'.split(
    ' ',
  );
const extensions = ['.txt', '.json', '.ts', '.md', '.log', '.html', '.xml', '.csv', ''];
const largest = 16 * 1024;

interface Layout {
  /** Below the tree's root, parents before children. */
  readonly directories: readonly string[];
  /** Number of the first file of each directory; the next entry is the end. */
  readonly starts: readonly number[];
}

/** Spreads `count` files over directories. */
function plan(count: number, seed: number): Layout {
  const random = seededRandom(seed);
  const directories: string[] = [];
  const starts = [0];
  for (let placed = 0; placed < count;) {
    const number = directories.length;
    // A parent among all earlier ones gives a depth that grows with the logarithm of their number.
    const parent = number === 0 ? undefined : directories[random.below(number)];
    const name = `${words[random.below(words.length)] ?? ''}-${number}`;
    directories.push(parent === undefined ? name : `${parent}/${name}`);
    placed = Math.min(count, placed + 10 + random.below(291));
    starts.push(placed);
  }
  return { directories, starts };
}

function fileName(number: number): string {
  const mixed = Math.imul(number + 1, 0x9e3779b1) >>> 0;
  const word = words[mixed % words.length] ?? '';
  return `${word}-${number}${extensions[(mixed >>> 8) % extensions.length] ?? ''}`;
}

function fileSize(random: SeededRandom): number {
  return Math.min(largest, Math.floor(1024 * Math.exp(random.normal())));
}

/** Text to cut file contents from: compresses about as well as source code does. */
function textPool(seed: number): Buffer {
  const random = seededRandom(seed);
  const pieces: string[] = [];
  for (let length = 0; length < 4 * 1024 * 1024;) {
    const number = random.below(0x1_0000_0000).toString(random.below(2) === 0 ? 10 : 36);
    const piece = `${words[random.below(words.length)] ?? ''}${random.below(3) === 0 ? ` ${number}\n` : ' '}`;
    pieces.push(piece);
    length += piece.length;
  }
  return Buffer.from(pieces.join(''), 'latin1');
}

/** Writes `size` bytes: a line of its own, so that no two files are alike, then a piece of the pool. */
function writeContent(
  file: string,
  flag: string,
  size: number,
  line: string,
  pool: Buffer,
  at: number,
): void {
  const descriptor = openSync(file, flag);
  try {
    const content = pool.subarray(at, at + size);
    // The pool is overwritten for a moment instead of copied: one write call per file, no new buffer.
    const own = Math.min(size, line.length);
    const covered = Buffer.from(content.subarray(0, own));
    content.write(line, 0, own, 'latin1');
    writeSync(descriptor, content, 0, size);
    content.set(covered);
  } finally {
    closeSync(descriptor);
  }
}

/** Creates the tree in `root`, which is absent or empty. Returns the bytes written. */
export function makeManyFiles(
  root: string,
  count: number,
  seed: number,
  progress: (made: number) => void,
): number {
  if (existsSync(root) && readdirSync(root).length > 0) throw new Error(`${root} is not empty`);
  const { directories, starts } = plan(count, seed);
  const random = seededRandom(seed + 1);
  const pool = textPool(seed + 2);
  let bytes = 0;
  mkdirSync(root, { recursive: true });
  for (const [index, directory] of directories.entries()) {
    const here = `${root}/${directory}`;
    mkdirSync(here);
    const end = starts[index + 1] ?? count;
    for (let number = starts[index] ?? count; number < end; number += 1) {
      const size = fileSize(random);
      const at = random.below(pool.length - largest);
      writeContent(`${here}/${fileName(number)}`, 'wx', size, `file ${number}\n`, pool, at);
      bytes += size;
    }
    progress(end);
  }
  return bytes;
}

/** Rewrites `changes` different files of the tree with other content and size. Returns their paths. */
export function touchFiles(
  root: string,
  count: number,
  seed: number,
  changes: number,
  round: number,
): readonly string[] {
  if (changes > count) throw new Error(`${changes} of ${count} files cannot be changed`);
  const { directories, starts } = plan(count, seed);
  const random = seededRandom(seed * 1000 + round);
  const pool = textPool(seed + 2 + round);
  const chosen = new Set<number>();
  while (chosen.size < changes) chosen.add(random.below(count));
  return [...chosen].map((number) => {
    const directory = directories[lastAtOrBelow(starts, number)] ?? '';
    const file = path.join(root, directory, fileName(number));
    if (!lstatSync(file).isFile()) throw new Error(`${file} is no file`);
    // Never empty, so that an empty file changes too.
    const size = Math.max(16, fileSize(random));
    const at = random.below(pool.length - largest);
    writeContent(file, 'w', size, `round ${round} ${number}\n`, pool, at);
    return file;
  });
}

/** Index of the last of the rising `starts` that is not above `number`. */
function lastAtOrBelow(starts: readonly number[], number: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? Infinity) <= number) low = middle;
    else high = middle - 1;
  }
  return low;
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      count: { type: 'string', default: '1000000' },
      seed: { type: 'string', default: '1' },
      touch: { type: 'string' },
      round: { type: 'string', default: '1' },
    },
  });
  const [count, seed, round] = [Number(values.count), Number(values.seed), Number(values.round)];
  const touch = values.touch === undefined ? undefined : Number(values.touch);
  const [root] = positionals;
  const numbers = [count, seed, round, touch ?? 1];
  if (root === undefined || positionals.length > 1 || !numbers.every((n) => Number.isInteger(n) && n > 0)) {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  const started = performance.now();
  if (touch === undefined) {
    let shown = 0;
    const bytes = makeManyFiles(path.resolve(root), count, seed, (made) => {
      if (made - shown < 100_000) return;
      shown = made;
      process.stderr.write(`${made} files\n`);
    });
    process.stdout.write(`${count} files, ${bytes} bytes`);
  } else {
    process.stdout.write(`${touchFiles(root, count, seed, touch, round).length} files changed`);
  }
  process.stdout.write(` in ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
}

if (import.meta.main) main();
