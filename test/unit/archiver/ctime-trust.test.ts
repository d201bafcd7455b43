import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CtimeTrust } from '../../../src/archiver/before/ctime-trust.ts';
import { statPath } from '../../../src/archiver/source/stat.ts';
import { bytesOfText, textOfBytes, type ByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { layersOf } from '../../../src/system/mount-table.ts';
import type { EntryStat } from '../../../src/system/entry-stat.ts';

const EXT4 = 0xef53;
const EXFAT = 0x2011bab0;
const SQUASHFS = 0x73717368;
const FUSE = 0x65735546;
const HOUR_MS = 3_600_000;

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ctimes-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

interface Looked {
  readonly path: ByteString;
  readonly stat: EntryStat;
}

/** A file as a file system shows it whose every ctime is the mtime. */
function withoutCtime(name: string): Looked {
  const path = treePath(join(directory, name));
  const stat = statPath(path);
  if (stat === undefined) throw new Error(`${name} is not there`);
  return { path, stat: { ...stat, ctimeNs: stat.mtimeNs } };
}

function trustIn(type: number, told: string[] = []): CtimeTrust {
  return new CtimeTrust(
    Date.now() + HOUR_MS,
    (path) => told.push(textOfBytes(path)),
    () => type,
  );
}

describe('a file that looks unchanged', () => {
  test.each([
    ['ext4', EXT4, true],
    ['exFAT', EXFAT, false],
    ['an image of one build time', SQUASHFS, false],
  ])('is judged on %s by its kind alone', (_, type, tells) => {
    writeFileSync(join(directory, 'a'), '');
    const { path, stat } = withoutCtime('a');
    expect(trustIn(type).vouchesFor(path, stat)).toBe(tells);
  });

  test('is told of once for each file system', () => {
    writeFileSync(join(directory, 'a'), '');
    const { path, stat } = withoutCtime('a');
    const told: string[] = [];
    const trust = trustIn(EXFAT, told);
    for (let i = 0; i < 3; i += 1) trust.vouchesFor(path, stat);
    expect(told).toEqual([join(directory, 'a')]);
  });

  test('is read where nothing of an unknown kind shows a ctime of its own', () => {
    utimesSync(directory, 1_000, 1_000);
    const { path, stat } = withoutCtime('');
    expect(trustIn(FUSE).tells(path, { ...stat, dev: 999_999n })).toBe(false);
  });

  test('is trusted where any file near has a ctime of its own', () => {
    mkdirSync(join(directory, 'below'));
    for (const name of ['a', 'below/b']) writeFileSync(join(directory, name), '');
    utimesSync(join(directory, 'below/b'), 1_000, 1_000);
    const { path, stat } = withoutCtime('a');
    expect(trustIn(FUSE).tells(path, stat)).toBe(true);
  });

  test('is read where times of change are older than what was changed: they are of something else', () => {
    for (const name of ['a', 'b']) writeFileSync(join(directory, name), '');
    utimesSync(join(directory, 'b'), 1_000, 1_000);
    const soonMs = Date.now() + HOUR_MS / 2;
    utimesSync(join(directory, 'a'), soonMs / 1_000, soonMs / 1_000);
    const { path, stat } = withoutCtime('b');
    expect(trustIn(FUSE).tells(path, stat)).toBe(false);
  });

  test('is judged by itself where layers differ', () => {
    writeFileSync(join(directory, 'a'), '');
    const { path, stat } = withoutCtime('a');
    const overlay = new CtimeTrust(Date.now(), undefined, () => 0x794c7630);
    // In a container no layer is seen, and those are on disks of the host.
    expect(overlay.tells(path, stat)).toBe(true);
  });
});

test('the layers of an overlay are read from the table of mounts', () => {
  const table =
    '40 20 0:38 / /merged rw - overlay overlay rw,lowerdir=/low:/a\\072b\\040c,upperdir=/up,workdir=/work\n';
  expect(layersOf(bytesOfText('/merged/x'), table)).toEqual(['/low', '/a:b c', '/up']);
});
