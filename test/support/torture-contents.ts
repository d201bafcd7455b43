/** Torture tree: sizes, holes, repeated content, crowds of entries. */

import { closeSync, ftruncateSync, mkdirSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { bytesOfText, joinBytes } from '../../src/base/byte-path.ts';
import { fsPath } from '../../src/base/tree-path.ts';
import { seededRandom } from './seeded-random.ts';
import { NotAllowedHere } from './torture-site.ts';
import type { TortureSite } from './torture-site.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

export function makeContents(site: TortureSite): void {
  const random = seededRandom(1);
  const write = (name: string, what: string, content: Buffer): void => {
    site.make(bytesOfText(name), what, (path) => {
      writeFileSync(fsPath(path), content, { flag: 'wx' });
    });
  };
  write('empty', 'empty file', Buffer.alloc(0));
  write('one-byte', 'one byte', Buffer.of(0x42));
  write('one-zero-byte', 'one byte, zero', Buffer.of(0));
  for (const size of [4096, 256 * KiB - 1, 256 * KiB, 256 * KiB + 1, MiB])
    write(`random-${size}`, `${size} random bytes`, random.bytes(size));
  write('random-9-mib', '9 MiB of random bytes', random.bytes(9 * MiB));
  write('zeros-20-mib', '20 MiB of zeros, all written', Buffer.alloc(20 * MiB));
  const line = Buffer.from('the same line over and over again\n');
  write('text-3-mib', '3 MiB of one repeated line', Buffer.alloc(3 * MiB, line));

  const shared = random.bytes(3 * MiB);
  for (const name of ['twin-a', 'twin-b', 'twin-c']) write(name, '3 MiB, the same in three files', shared);
  write('twin-shifted', 'the same 3 MiB behind 777 other bytes', Buffer.concat([random.bytes(777), shared]));
  write('twin-cut', 'the same 3 MiB without the last byte', shared.subarray(0, -1));
}

export function makeSparseFiles(site: TortureSite): void {
  const random = seededRandom(2);
  const sparse = (name: string, what: string, size: number, islands: readonly number[]): void => {
    site.make(bytesOfText(name), what, (path) => {
      const file = openSync(fsPath(path), 'wx');
      try {
        ftruncateSync(file, size);
        for (const offset of islands)
          writeSync(file, random.bytes(Math.min(64 * KiB, size - offset)), null, null, offset);
      } finally {
        closeSync(file);
      }
      const allocated = statSync(fsPath(path)).blocks * 512;
      if (allocated > size / 2)
        throw new NotAllowedHere(`no holes kept: ${allocated} of ${size} bytes taken`);
    });
  };
  const three = [100 * MiB, 600 * MiB];
  sparse('one-gib', '1 GiB with holes at start, middle and end', GiB, three);
  sparse('hole-at-start', '4 MiB hole, then 64 KiB of data', 4 * MiB + 64 * KiB, [4 * MiB]);
  sparse('hole-at-end', '64 KiB of data, then a 4 MiB hole', 4 * MiB + 64 * KiB, [0]);
  sparse('hole-unaligned', 'data at odd offsets, size not a multiple of the block', 8 * MiB + 17, [
    3 * MiB + 5,
    8 * MiB,
  ]);
  sparse('hole-only', '6 MiB, nothing but a hole', 6 * MiB, []);
}

export function makeManyEntries(site: TortureSite): void {
  site.make(bytesOfText('crowded'), 'directory with 30,000 files', (path) => {
    mkdirSync(fsPath(path));
    for (let index = 0; index < 30_000; index += 1)
      writeFileSync(fsPath(joinBytes(path, bytesOfText(`entry-${index}`))), `${index}\n`, { flag: 'wx' });
  });
  site.make(bytesOfText('tiny'), '1,000 tiny files in ten directories', (path) => {
    const random = seededRandom(3);
    mkdirSync(fsPath(path));
    for (let index = 0; index < 1_000; index += 1) {
      const directory = joinBytes(path, bytesOfText(`part-${index % 10}`));
      if (index < 10) mkdirSync(fsPath(directory));
      const content = random.bytes(1 + random.below(200));
      writeFileSync(fsPath(joinBytes(directory, bytesOfText(`tiny-${index}`))), content, { flag: 'wx' });
    }
  });
  site.make(bytesOfText('empty'), 'empty directory', (path) => {
    mkdirSync(fsPath(path));
  });
  site.make(bytesOfText('nested-empty'), 'empty directory in otherwise empty directories', (path) => {
    mkdirSync(fsPath(joinBytes(path, bytesOfText('a/b/c'))), { recursive: true });
  });
}
