/**
 * A disk image as one large file, and its successor after real changes:
 * `node make-image.ts --out DIR [--size GIB] [--changes N] [--seed N] SOURCE…` writes DIR/image and DIR/image-next.
 *
 * The image is an ext4 file system filled from the source directories by mke2fs; the successor is a copy in which
 * debugfs deleted, replaced and added files. Both come with e2fsprogs; no privileges are needed and nothing is mounted.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '../support/seeded-random.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { removeTree } from '../support/remove-tree.ts';
import { countAll } from './warm-cache.ts';

const usage = `usage: make-image.ts --out DIR [--size GIB] [--changes N] [--seed N] SOURCE…
  --size GIB   size of the image (default: 4, or what the sources need and a quarter more)
  --changes N  files deleted, files replaced and files added, each (default 300)
`;
const GiB = 2 ** 30;

interface Request {
  readonly out: string;
  readonly sources: readonly string[];
  readonly bytes: number;
  readonly changes: number;
  readonly seed: number;
}

function makeImages(request: Request): void {
  mkdirSync(request.out, { recursive: true });
  const image = path.join(request.out, 'image');
  const next = path.join(request.out, 'image-next');
  const staging = mkdtempSync(path.join(request.out, 'staging-'));
  try {
    makeFirst(image, request, staging);
    run('cp', ['--sparse=always', '--reflink=auto', image, next]);
    changeImage(next, request, staging);
  } finally {
    removeTree(staging);
  }
  for (const file of [image, next]) {
    const { size, blocks } = statSync(file);
    process.stdout.write(`${file}: ${size} bytes, ${((blocks * 512) / 1e6).toFixed(0)} MB of it written\n`);
  }
}

/** Fills a new file system. mke2fs takes one directory, so several are first copied below one. */
function makeFirst(image: string, request: Request, staging: string): void {
  const [only] = request.sources;
  const single = request.sources.length === 1 && only !== undefined;
  const filling = single ? only : path.join(staging, 'filling');
  if (!single) {
    mkdirSync(filling);
    run('cp', ['-a', '--reflink=auto', ...request.sources, filling]);
  }
  rmSync(image, { force: true });
  // Fixed identifiers, so that the same sources give nearly the same image.
  const identity = '6c2d0f5e-3b6a-4c55-9e0e-5a3f5b1c7d21';
  const options = `lazy_itable_init=0,lazy_journal_init=0,hash_seed=${identity}`;
  const size = `${Math.ceil(request.bytes / 1024)}k`;
  run('mke2fs', ['-q', '-F', '-t', 'ext4', '-U', identity, '-E', options, '-d', filling, image, size]);
  if (!single) removeTree(filling);
}

/** Deletes, replaces and adds files in the image through debugfs. */
function changeImage(image: string, request: Request, staging: string): void {
  const random = seededRandom(request.seed);
  const files = shuffled(changeableFiles(request.sources), random);
  const { changes } = request;
  if (files.length < 2 * changes)
    throw new Error(`only ${files.length} files can be changed, ${2 * changes} are needed`);
  const script: string[] = [];
  let serial = 0;
  const stage = (content: Buffer): string => {
    const file = path.join(staging, `content-${serial}`);
    serial += 1;
    writeFileSync(file, content);
    return file;
  };
  for (const file of files.slice(0, changes)) script.push(`rm ${file.inImage}`);
  for (const file of files.slice(changes, 2 * changes)) {
    const content = edited(readFileSync(file.onDisk), random);
    script.push(`rm ${file.inImage}`, `write ${stage(content)} ${file.inImage}`);
  }
  script.push('mkdir /added');
  for (let index = 0; index < changes; index += 1) {
    const pieces = Array.from({ length: 1 + random.below(8) }, () => pieceOf(files, random));
    script.push(`write ${stage(Buffer.concat(pieces))} /added/file-${index}`);
  }
  const commands = path.join(staging, 'commands');
  writeFileSync(commands, `${script.join('\n')}\n`);
  const errors = run('debugfs', ['-w', '-f', commands, image])
    .split('\n')
    .filter((line) => line !== '' && !/^debugfs[ :]/.test(line) && !line.startsWith('Allocated inode:'));
  if (errors.length > 0) throw new Error(`debugfs: ${errors.slice(0, 5).join('; ')}`);
  run('e2fsck', ['-f', '-n', image]);
}

interface ChangeableFile {
  readonly onDisk: string;
  readonly inImage: string;
}

/** Regular files with one name that a debugfs script can say without quoting. */
function changeableFiles(sources: readonly string[]): ChangeableFile[] {
  return sources.flatMap((source) =>
    changeableBelow(source, sources.length === 1 ? '' : `/${path.basename(source)}`),
  );
}

function changeableBelow(onDisk: string, inImage: string): ChangeableFile[] {
  return readdirSync(onDisk, { withFileTypes: true }).flatMap((entry) => {
    if (!/^[\w.+-]+$/.test(entry.name)) return [];
    const child = { onDisk: path.join(onDisk, entry.name), inImage: `${inImage}/${entry.name}` };
    if (entry.isDirectory()) return changeableBelow(child.onDisk, child.inImage);
    return entry.isFile() && statSync(child.onDisk).nlink === 1 ? [child] : [];
  });
}

function shuffled<T>(items: readonly T[], random: SeededRandom): T[] {
  return items
    .map((item) => ({ item, order: random.next() }))
    .toSorted((left, right) => left.order - right.order)
    .map(({ item }) => item);
}

/** A few bytes taken out and others put in, at one to three places, as an editor does. */
function edited(content: Buffer, random: SeededRandom): Buffer {
  let result = content;
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    const at = random.below(result.length + 1);
    const inserted = Buffer.from(`changed ${random.next()}\n`);
    result = Buffer.concat([result.subarray(0, at), inserted, result.subarray(at + random.below(40))]);
  }
  return result;
}

function pieceOf(files: readonly ChangeableFile[], random: SeededRandom): Buffer {
  const file = files[random.below(files.length)];
  if (file === undefined) return Buffer.alloc(0);
  const content = readFileSync(file.onDisk);
  return content.subarray(random.below(content.length + 1));
}

/** Runs a program to its end and returns what it printed. */
function run(program: string, parameters: readonly string[]): string {
  // e2fsprogs live in sbin, which is not in everybody's PATH
  const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`, LC_ALL: 'C' };
  const { status, stdout, stderr, error } = spawnSync(program, parameters, {
    encoding: 'utf8',
    env,
    maxBuffer: 2 ** 28,
  });
  if (error !== undefined)
    throw new Error(`${program} cannot be run (Debian: e2fsprogs, coreutils)`, { cause: error });
  if (status !== 0)
    throw new Error(`${program} ended with exit code ${status}: ${(stderr + stdout).trim().slice(-500)}`);
  return stdout + stderr;
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      out: { type: 'string' },
      size: { type: 'string' },
      changes: { type: 'string', default: '300' },
      seed: { type: 'string', default: '1' },
    },
  });
  const sources = positionals.map((source) => path.resolve(source));
  if (values.out === undefined || sources.length === 0) {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  const needed = sources.map(countAll).reduce((sum, { bytes, files }) => sum + bytes + files * 4096, 0);
  const bytes = values.size === undefined ? Math.max(4 * GiB, needed * 1.25) : Number(values.size) * GiB;
  const [changes, seed] = [Number(values.changes), Number(values.seed)];
  if (!(bytes > 0) || !Number.isInteger(changes) || changes < 1 || !Number.isInteger(seed)) {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  makeImages({ out: path.resolve(values.out), sources, bytes, changes, seed });
}

if (import.meta.main) main();
