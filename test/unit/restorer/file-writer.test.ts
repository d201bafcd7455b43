/** Files whose pieces several threads write: what one of them cannot have must not be forgotten by another. */
import { mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { ChunkHasher } from '../../../src/codec/hash.ts';
import {
  EntryRecordWriter,
  NO_RECORD,
  RECORD,
  type EntryRecord,
} from '../../../src/restorer/target/entry-records.ts';
import { FileUpdater } from '../../../src/restorer/content/file-updater.ts';
import { FileWriter } from '../../../src/restorer/content/file-writer.ts';
import { OpenDirectories } from '../../../src/restorer/target/open-directories.ts';
import { PathDirectory } from '../../../src/restorer/target/path-directory.ts';
import { newRun } from '../../../src/restorer/target/temporary-names.ts';
import { ORDINARY_POLICY } from '../../support/metadata-policy.ts';
import { removeTree } from '../../support/remove-tree.ts';

const PIECE = 1_000;
const newer = Buffer.alloc(2 * PIECE, 'newer');
const older = Buffer.alloc(2 * PIECE, 'older');
const hasher = new ChunkHasher(Buffer.alloc(32, 7));
const run = newRun();

let target: string;
let directory: PathDirectory;
let record: EntryRecord;
let records: EntryRecordWriter;
let root: number;
let written: number;
let failures: unknown[];

beforeEach(() => {
  target = mkdtempSync(join(tmpdir(), 'holdfast-writer-'));
  directory = new PathDirectory(treePath(target));
  written = 0;
  failures = [];
});
afterEach(() => {
  removeTree(target);
});

/** A file of two pieces that lie in two segments. */
function planFile(flags: number): void {
  const plain = { mode: 0o640, uid: 0, gid: 0, mtimeNs: 0n, ctimeNs: 0n, inode: 0 };
  records = new EntryRecordWriter();
  root = records.add(NO_RECORD, { ...plain, name: asByteString('') }, 0, 0, 0).handle;
  record = records.add(root, { ...plain, name: asByteString('file') }, flags, 2 * PIECE, 2);
  for (const number of [0, 1]) {
    const id = hasher.id(newer.subarray(number * PIECE, (number + 1) * PIECE));
    const place = { segment: number, offset: 0, length: PIECE, skip: 0, take: PIECE };
    record.setPiece(number, id, 0, { ...place, fileOffset: number * PIECE });
    record.setPresent(number, false);
  }
  const { words, index } = record.remaining;
  words[index] = 2;
}

/** The writer of one thread. */
function thread(): FileWriter {
  return new FileWriter({
    records: records.records,
    directories: new OpenDirectories(records.records, root, directory),
    policy: ORDINARY_POLICY,
    updater: new FileUpdater({ run, hasher, verify: false, filledHole: () => {} }),
    hasher,
    run,
    failed: (_, error) => failures.push(error),
    written: () => {
      written += 1;
    },
    unchanged: () => {},
    wrote: () => {},
  });
}

const segment = (number: number): Buffer => newer.subarray(number * PIECE, (number + 1) * PIECE);

/** While one thread makes the file that both write, the other has no piece to write. */
function failDuringPreparation(): void {
  const [one, other] = [thread(), thread()];
  const create = directory.createFile.bind(directory);
  vi.spyOn(directory, 'createFile').mockImplementationOnce((...parts) => {
    other.partMissing(record.handle, new Error('its segment is damaged'));
    return create(...parts);
  });
  one.part(record.handle, 0, segment(0));
}

test('a piece that fails while another thread makes the file costs the file', () => {
  planFile(RECORD.spread);
  failDuringPreparation();
  expect(failures).toMatchObject([{ message: 'its segment is damaged' }]);
  expect(written).toBe(0);
  expect(readdirSync(target)).toEqual([]);
  expect(record.created).toEqual({ ino: 0n, dev: 0n });
});

test('a piece that fails while another thread makes ready what is to change leaves the file that stands as it is', () => {
  const file = join(target, 'file');
  writeFileSync(file, older);
  planFile(RECORD.spread | RECORD.update);
  const { ino, dev } = statSync(file, { bigint: true });
  record.created = { ino, dev };
  failDuringPreparation();
  expect(failures).toMatchObject([{ message: 'its segment is damaged' }]);
  expect(written).toBe(0);
  expect(readdirSync(target)).toEqual(['file']);
  expect(readFileSync(file).equals(older)).toBe(true);
});

test('pieces of several threads make one file', () => {
  planFile(RECORD.spread);
  const [one, other] = [thread(), thread()];
  one.part(record.handle, 0, segment(0));
  expect(written).toBe(0);
  other.part(record.handle, 1, segment(1));
  expect(failures).toEqual([]);
  expect(written).toBe(1);
  const [name] = readdirSync(target);
  expect(readFileSync(join(target, name ?? '')).equals(newer)).toBe(true);
});
