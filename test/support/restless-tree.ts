/**
 * A script that changes a tree without end: `node restless-tree.ts DIR SEED`. It prints a line once the tree stands. Files
 * named `steady-*` are only ever replaced by renaming a complete one over them, so that whoever opens one sees a single
 * version: every byte of it is the same. The large `hot-*` ones are written to all the time. All others grow, shrink, are
 * overwritten, vanish and become entries of other kinds.
 */

import {
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { treePath } from '../../src/base/tree-path.ts';
import { errnoOf } from '../../src/base/errors.ts';
import { makeSpecial } from './libc.ts';
import { seededRandom } from './seeded-random.ts';

const [directory = '', seed = '1'] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const FILES = 20;

function someBytes(): Buffer {
  return Buffer.alloc(1 + random.below(random.below(3) === 0 ? 600_000 : 5_000), 33 + random.below(90));
}

function pathOf(kind: 'steady' | 'restless'): string {
  return join(directory, `part-${random.below(3)}`, `${kind}-${random.below(FILES)}`);
}

/** A FIFO that nobody reads is not waited for. */
function write(path: string, flags: number): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | flags);
  writeSync(file, someBytes());
  closeSync(file);
}

const changes: readonly ((path: string) => void)[] = [
  (path) => write(path, constants.O_CREAT | constants.O_TRUNC),
  (path) => write(path, constants.O_APPEND),
  (path) => truncateSync(path, random.below(1_000)),
  (path) => {
    const file = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(file, someBytes(), 0, 1, random.below(100_000));
    closeSync(file);
  },
  (path) => rmSync(path, { recursive: true }),
  (path) => mkdirSync(path),
  (path) => writeFileSync(join(path, 'inside'), someBytes()),
  (path) => symlinkSync('nowhere', path),
  (path) => makeSpecial(treePath(path), 'fifo', 0o600),
  (path) => linkSync(path, pathOf('restless')),
  (path) => renameSync(path, pathOf('restless')),
  (path) => {
    rmSync(path, { recursive: true });
    symlinkSync('/dev/zero', path);
  },
  (path) => {
    rmSync(path, { recursive: true });
    makeSpecial(treePath(path), 'fifo', 0o600);
  },
];

function change(): void {
  if (random.below(3) === 0) {
    const spare = join(directory, 'spare');
    writeFileSync(spare, someBytes());
    renameSync(spare, pathOf('steady'));
    return;
  }
  try {
    changes[random.below(changes.length)]?.(pathOf('restless'));
  } catch (error) {
    // Most changes need an entry of some kind there, or none.
    if (errnoOf(error) === undefined) throw error;
  }
}

for (const part of [0, 1, 2]) {
  mkdirSync(join(directory, `part-${part}`));
  for (let index = 0; index < FILES; index += 1) {
    for (const kind of ['steady', 'restless'])
      writeFileSync(join(directory, `part-${part}`, `${kind}-${index}`), someBytes());
  }
}
const hot = [0, 1].map((index) => {
  const file = openSync(join(directory, 'part-1', `hot-${index}`), 'wx');
  writeSync(file, random.bytes(6_000_000));
  return file;
});
process.stdout.write('ready\n');
for (;;) {
  for (let count = 0; count < 4; count += 1) {
    change();
    for (const file of hot) writeSync(file, 'h', random.below(6_000_000));
  }
  await delay(1);
}
