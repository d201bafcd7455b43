import { mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { EntryRecordWriter, NO_RECORD, RECORD } from '../../../src/restorer/target/entry-records.ts';
import { FileCompleter } from '../../../src/restorer/content/file-completer.ts';
import { MetadataWriter } from '../../../src/restorer/metadata/metadata.ts';
import { Omissions } from '../../../src/restorer/request/tally.ts';
import { OpenDirectories } from '../../../src/restorer/target/open-directories.ts';
import { PathDirectory } from '../../../src/restorer/target/path-directory.ts';
import { newRun } from '../../../src/restorer/target/temporary-names.ts';
import { nameOfParts } from '../../../src/restorer/target/unfinished-files.ts';
import { ORDINARY_POLICY } from '../../support/metadata-policy.ts';
import { removeTree } from '../../support/remove-tree.ts';

let target: string;
beforeEach(() => {
  target = mkdtempSync(join(tmpdir(), 'holdfast-completer-'));
});
afterEach(() => {
  removeTree(target);
});

test.each([
  ['fstat', RECORD.spread],
  ['openFile', RECORD.spread],
  ['fstat', RECORD.replace],
] as const)('a file of which %s fails leaves nothing under its temporary name', (call, flag) => {
  const plain = { mode: 0o640, uid: 0, gid: 0, mtimeNs: 1_500_000_000_000_000_001n, ctimeNs: 0n, inode: 0 };
  const writer = new EntryRecordWriter();
  const root = writer.add(NO_RECORD, { ...plain, name: asByteString('') }, 0, 0, 0).handle;
  const record = writer.add(root, { ...plain, name: asByteString('file') }, flag, 7, 0);
  const run = newRun();
  const written = join(target, nameOfParts(record, run));
  writeFileSync(written, 'content');
  const { ino, dev } = statSync(written, { bigint: true });
  record.created = { ino, dev };
  const directory = new PathDirectory(treePath(target));
  vi.spyOn(directory, call).mockImplementation(() => {
    throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  });
  const failures: unknown[] = [];
  new FileCompleter({
    records: writer.records,
    directories: new OpenDirectories(writer.records, root, directory),
    metadata: new MetadataWriter(ORDINARY_POLICY, new Omissions()),
    run,
    failed: (_, error) => failures.push(error),
  }).complete(Uint32Array.of(record.handle));
  expect(failures).toMatchObject([{ code: 'EIO' }]);
  expect(readdirSync(target)).toEqual([]);
});
