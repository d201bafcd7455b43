/** A tree of mixed files, small and large, compressible and random, and later versions of it. */
import { execFileSync } from 'node:child_process';
import {
  ftruncateSync,
  closeSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { SeededRandom } from '../support/seeded-random.ts';

export interface CorpusScale {
  /** Text files of 1 to 12 kB, in directories of 50. */
  readonly smallFiles: number;
  /** Incompressible files. */
  readonly largeFiles: number;
  /** Mean bytes of a large file. */
  readonly largeBytes: number;
}

/** About 22 MB in 1,300 files. */
export const SWEEP_SCALE: CorpusScale = { smallFiles: 1_200, largeFiles: 24, largeBytes: 600_000 };
/** About 4.5 MB in 180 files. */
export const QUICK_SCALE: CorpusScale = { smallFiles: 160, largeFiles: 8, largeBytes: 450_000 };

const FILES_PER_DIRECTORY = 50;
/** 2005-03-18, in seconds: files are older than any run. */
const OLD = 1_111_111_111;

/** Which part of the tree a file is in decides what later versions do to it. */
const PARTS = ['stays', 'goes', 'churns'] as const;

/** Makes the first version of the tree below `root`, which must not exist. */
export function makeCorpus(root: string, scale: CorpusScale, random: SeededRandom): void {
  const text = textSource(random);
  for (const part of PARTS) mkdirSync(join(root, part), { recursive: true });
  for (let i = 0; i < scale.smallFiles; i += 1) {
    const part = PARTS[i % PARTS.length] ?? 'stays';
    const directory = join(root, part, `d${Math.floor(i / PARTS.length / FILES_PER_DIRECTORY)}`);
    mkdirSync(directory, { recursive: true });
    writeOld(join(directory, `note-${i}.txt`), text(i, random), random);
  }
  for (let i = 0; i < scale.largeFiles; i += 1) {
    const path = join(root, PARTS[i % PARTS.length] ?? 'stays', `large-${i}.bin`);
    writeOld(path, random.bytes(Math.floor(scale.largeBytes * (0.5 + random.next()))), random);
  }
  makeOddities(join(root, 'oddities'), random);
}

/** One of each: an empty file, a sparse one, two names of one file, links, an empty directory, unusual modes. */
function makeOddities(directory: string, random: SeededRandom): void {
  mkdirSync(join(directory, 'empty'), { recursive: true });
  writeOld(join(directory, 'nothing'), Buffer.alloc(0), random);
  writeOld(join(directory, 'twin-a'), random.bytes(30_000), random);
  linkSync(join(directory, 'twin-a'), join(directory, 'twin-b'));
  symlinkSync('twin-a', join(directory, 'link'));
  symlinkSync('/nowhere/at all', join(directory, 'dangling'));
  writeFileSync(join(directory, 'private'), 'for my eyes only\n', { mode: 0o400 });
  const sparse = openSync(join(directory, 'sparse'), 'w');
  writeSync(sparse, random.bytes(100_000), 0, 100_000, 2_000_000);
  ftruncateSync(sparse, 6_000_000);
  closeSync(sparse);
}

/**
 * Turns the tree into its next version: what was in `goes` is gone and other files stand there, most of `churns` is
 * rewritten, `stays` gets a few changes and additions.
 */
export function changeCorpus(root: string, version: number, random: SeededRandom): void {
  const text = textSource(random);
  rewriteLarge(join(root, 'goes'), random, () => true);
  for (const path of smallFiles(join(root, 'goes'))) rmSync(path);
  for (let i = 0; i < 40; i += 1) {
    writeOld(
      join(root, 'goes', `version-${version}-${i}.txt`),
      text(1_000_000 * version + i, random),
      random,
    );
  }
  for (const path of smallFiles(join(root, 'churns'))) {
    if (random.next() < 0.85) writeOld(path, text(2_000_000 * version + random.below(1e6), random), random);
  }
  // Three of four, so that packs are left of which a little is still needed.
  rewriteLarge(join(root, 'churns'), random, () => random.next() < 0.75);
  const stays = smallFiles(join(root, 'stays'));
  for (let i = 0; i < 5; i += 1) {
    const path = stays[random.below(stays.length)];
    if (path !== undefined) writeOld(path, text(3_000_000 * version + i, random), random);
  }
  for (const path of largeFiles(join(root, 'stays'))) {
    const file = openSync(path, 'r+');
    writeSync(file, random.bytes(60_000), 0, 60_000, 50_000);
    closeSync(file);
  }
  truncateSync(join(root, 'oddities', 'twin-a'), 20_000 - version);
}

function rewriteLarge(directory: string, random: SeededRandom, wanted: () => boolean): void {
  for (const path of largeFiles(directory)) {
    if (wanted()) writeOld(path, random.bytes(200_000 + random.below(1_400_000)), random);
  }
}

function largeFiles(directory: string): string[] {
  return filesBelow(directory).filter((path) => path.endsWith('.bin'));
}

function smallFiles(directory: string): string[] {
  return filesBelow(directory).filter((path) => path.endsWith('.txt'));
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function writeOld(path: string, content: Buffer, random: SeededRandom): void {
  writeFileSync(path, content);
  const time = OLD + random.below(100_000_000) + random.next();
  lutimesSync(path, time, time);
}

/** Text that compresses about fourfold; no two calls with different numbers give the same. */
function textSource(random: SeededRandom): (number: number, random: SeededRandom) => Buffer {
  const words = Array.from({ length: 1_500 }, () => random.bytes(2 + random.below(6)).toString('hex'));
  return (number, random) => {
    const length = 1_000 + random.below(11_000);
    const parts = [`file ${number}`];
    let size = 0;
    while (size < length) {
      const word = words[Math.floor(random.next() ** 3 * words.length)] ?? '';
      parts.push(word);
      size += word.length + 1;
    }
    return Buffer.from(`${parts.join(' ')}\n`);
  };
}

/** A copy to compare with later: everything that `cp -a` keeps, times to the nanosecond included. */
export function copyAside(from: string, to: string): void {
  execFileSync('cp', ['-a', '--', from, to]);
}
