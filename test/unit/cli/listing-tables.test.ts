import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asByteString, bytesOfText } from '../../../src/base/byte-path.ts';
import { NO_CHANGES, countChange, type Change } from '../../../src/browse/diff.ts';
import { findEntries } from '../../../src/browse/find.ts';
import { foundVersions } from '../../../src/browse/found-versions.ts';
import { SnapshotTrees } from '../../../src/browse/snapshot-trees.ts';
import { pathVersions } from '../../../src/browse/versions.ts';
import {
  changeLine,
  changeObject,
  totalsObject,
  totalsText,
} from '../../../src/cli/snapshots/listing-changes.ts';
import { snapshotObject, snapshotsTable, statusText } from '../../../src/cli/snapshots/listing-snapshots.ts';
import {
  foundObject,
  foundTable,
  versionObject,
  versionsTable,
} from '../../../src/cli/snapshots/listing-versions.ts';
import { createStyles } from '../../../src/cli/terminal/terminal.ts';
import type { SnapshotRecord } from '../../../src/format/records.ts';
import type { FileEntry, LinkEntry } from '../../../src/format/tree.ts';
import { loadIndex } from '../../../src/repository/chunk-index.ts';
import type { Snapshot } from '../../../src/repository/snapshots.ts';
import { collect } from '../../support/collect.ts';
import {
  HAND_MADE_NS,
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  symlink,
  type HandMadeDirectory,
} from '../../support/hand-made-snapshot.ts';

const FULL = { key: 'full', write_only_key: null, label: null, text: 'full keys' };

const { signal } = new AbortController();
const look = { styles: createStyles(false), width: undefined };

const zone = process.env['TZ'];
beforeAll(() => {
  process.env['TZ'] = 'UTC';
});
afterAll(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

const hour = 3_600_000;
const start = 1_700_000_000_000;

async function snapshotsOf(made: readonly (readonly [HandMadeDirectory, Partial<SnapshotRecord>?])[]) {
  const repository = await memoryRepository(signal);
  const snapshots: Snapshot[] = [];
  for (const [i, [root, record]] of made.entries()) {
    snapshots.push(
      await handMadeSnapshot(repository, root, { startedMs: start + i * hour, ...record }, signal),
    );
  }
  const index = await loadIndex(repository, { without: new Set() }, signal);
  return { snapshots, trees: new SnapshotTrees(repository, index) };
}

/** Ids differ from run to run. */
function withNames(text: string, snapshots: readonly Snapshot[]): string[] {
  const named = snapshots.reduce((all, { id }, i) => all.replaceAll(id.slice(0, 8), `<snap-${i}>`), text);
  return named.trimEnd().split('\n');
}

const problem = { path: asByteString('/x'), code: 'EACCES', message: 'denied' };

describe('the table of snapshots', () => {
  it('shows what each is about', async () => {
    const { snapshots } = await snapshotsOf([
      [
        directory({ a: file('12345') }),
        { paths: [asByteString('/home/u'), bytesOfText('/ä')], tags: ['daily', 'x'] },
      ],
      [
        directory({}),
        { status: 'partial', errors: [problem, problem], errorsMore: 1, pinned: true, plain: true },
      ],
    ]);

    expect(withNames(snapshotsTable(snapshots, look), snapshots)).toEqual([
      'ID        Time              Host  Tags      Paths        Files  Size  Status',
      '<snap-0>  2023-11-14 22:13  host  daily, x  /home/u, /ä      1   5 B  complete',
      '<snap-1>  2023-11-14 23:13  host            /                0   0 B  partial (3 files), pinned, not encrypted',
    ]);
  });

  it('leaves out what names the job alone, and then the column', async () => {
    const { snapshots } = await snapshotsOf([
      [directory({}), { tags: ['job:bkp_1'] }],
      [directory({}), { tags: ['job:bkp_2'] }],
    ]);
    expect(withNames(snapshotsTable(snapshots, look), snapshots)[0]).toBe(
      'ID        Time              Host  Paths  Files  Size  Status',
    );
    const mixed = await snapshotsOf([
      [directory({}), { tags: ['job:bkp_1', 'job:narrowed'] }],
      [directory({}), { tags: ['mine', 'job:bkp_2'] }],
    ]);
    const [head, ...rows] = withNames(snapshotsTable(mixed.snapshots, look), mixed.snapshots);
    expect(head).toContain('  Tags          Paths');
    expect(rows.map((row) => row.includes('bkp_'))).toEqual([false, false]);
    expect(rows.join(' ')).toMatch(/host {2}job:narrowed {2}\/.*host {2}mine {10}\//);
  });

  it('keeps hostile host names, tags and paths in their cells', async () => {
    const { snapshots } = await snapshotsOf([
      [directory({}), { host: 'h\u001b]0;x\u0007', tags: ['a\nb'], paths: [asByteString('/\xff\n')] }],
    ]);

    const table = snapshotsTable(snapshots, look);

    expect(table.split('\n')).toHaveLength(3);
    expect(table).toContain(String.raw`h\x1b]0;x\x07`);
    expect(table).toContain(String.raw`/\xff\n`);
  });

  it('never says that one file failed when it is not known how many did', () => {
    expect(statusText({ status: 'partial', errors: [], errorsMore: 0 } as unknown as SnapshotRecord)).toBe(
      'partial',
    );
    expect(
      statusText({ status: 'partial', errors: [problem], errorsMore: 0 } as unknown as SnapshotRecord),
    ).toBe('partial (1 file)');
  });

  it('has an object for each, with base64 for paths when one is not UTF-8', async () => {
    const { snapshots } = await snapshotsOf([
      [
        directory({ a: file('12345') }),
        { paths: [asByteString('/\xff'), asByteString('/b')], errors: [problem] },
      ],
    ]);
    const [snapshot] = snapshots;
    if (snapshot === undefined) throw new Error('no snapshot');

    expect(snapshotObject(snapshot, { errors: true })).toMatchObject({
      id: snapshot.id,
      short_id: snapshot.id.slice(0, 8),
      started_at: '2023-11-14T22:13:20.000Z',
      paths: ['/\ufffd', '/b'],
      paths_b64: ['L/8=', 'L2I='],
      encrypted: true,
      deduplicated: true,
      files_total: 1,
      bytes_total: 5,
      errors_total: 1,
      errors: [{ path: '/x', code: 'EACCES', message: 'denied' }],
      sequence: 1,
    });
    expect(snapshotObject(snapshot, { errors: false })).not.toHaveProperty('errors');
  });
});

describe('the table of versions', () => {
  const at = (content: string | undefined) => directory(content === undefined ? {} : { f: file(content) });

  it('tells when the file was not there yet, changed, was deleted or could not be read', async () => {
    const { snapshots, trees } = await snapshotsOf([
      [at(undefined)],
      [at('1')],
      [at('1')],
      [at('12')],
      [at(undefined), { errors: [{ ...problem, path: asByteString('/f') }] }],
      [at(undefined)],
    ]);

    const versions = await collect(
      pathVersions(trees, snapshots, asByteString('/f'), 'newest-first', signal),
    );

    expect(withNames(versionsTable(versions, look), snapshots)).toEqual([
      'Modified             Size  Mode        Snapshots  From              To                Newest',
      'deleted                                        1  2023-11-15 03:13  2023-11-15 03:13  <snap-5>',
      'unreadable (EACCES)                            1  2023-11-15 02:13  2023-11-15 02:13  <snap-4>',
      '2023-11-14 22:13:20   2 B  -rw-r--r--          1  2023-11-15 01:13  2023-11-15 01:13  <snap-3>',
      '2023-11-14 22:13:20   1 B  -rw-r--r--          2  2023-11-14 23:13  2023-11-15 00:13  <snap-2>',
      'not there yet                                  1  2023-11-14 22:13  2023-11-14 22:13  <snap-0>',
    ]);
    expect(versions.map(versionObject)).toMatchObject([
      { type: 'version', path: '/f', state: 'absent' },
      { state: 'failed', error: { code: 'EACCES', message: 'denied' } },
      { state: 'present', entry: { path: '/f', size_bytes: 2 } },
      {
        state: 'present',
        snapshots: 2,
        host: 'host',
        first_snapshot_id: snapshots[1]?.id,
        first_seen_at: '2023-11-14T23:13:20.000Z',
        last_snapshot_id: snapshots[2]?.id,
        entry: { size_bytes: 1 },
      },
      { state: 'absent' },
    ]);
  });

  it('names the hosts when there are several', async () => {
    const { snapshots, trees } = await snapshotsOf([
      [at('1'), { host: 'a' }],
      [at('1'), { host: 'b' }],
    ]);

    const versions = await collect(
      pathVersions(trees, snapshots, asByteString('/f'), 'oldest-first', signal),
    );

    expect(withNames(versionsTable(versions, look), snapshots).map((line) => line.slice(-4))).toEqual([
      'Host',
      '>  a',
      '>  b',
    ]);
  });
});

describe('the table of what was found', () => {
  it('has one row for each version of a path, with the newest snapshot that has it', async () => {
    const one = file('1');
    const { snapshots, trees } = await snapshotsOf([
      [directory({ d: directory({ a: one }), a: one })],
      [directory({ d: directory({ a: file('12') }), a: one })],
      [directory({ d: directory({ a: one }), al: symlink('a\n') })],
    ]);
    const search = () => findEntries(trees, snapshots, { patterns: ['a*', 'd'] }, {}, signal);

    expect(withNames(foundTable(await foundVersions(search()), look), snapshots)).toEqual([
      'Modified             Size  Snapshots  Newest    Path',
      '2023-11-14 22:13:20   1 B          2  <snap-1>  /a',
      String.raw`2023-11-14 22:13:20     -          1  <snap-2>  /al -> a\n`,
      '2023-11-14 22:13:20   1 B          3  <snap-2>  /d',
      '2023-11-14 22:13:20   1 B          2  <snap-2>  /d/a',
      '2023-11-14 22:13:20   2 B          1  <snap-1>  /d/a',
    ]);
    expect((await collect(search())).map(foundObject)[1]).toMatchObject({
      snapshot_id: snapshots[0]?.id,
      path: '/d',
      type: 'directory',
    });
  });
});

describe('changes', () => {
  const common = { mode: 0o644, uid: 1, gid: 2, mtimeNs: HAND_MADE_NS, ctimeNs: 0n, inode: 1 };
  const entry: FileEntry = {
    ...common,
    type: 'file',
    name: asByteString('f'),
    size: 10,
    content: Buffer.alloc(0),
    indirect: false,
    changedWhileRead: false,
  };
  const link = (target: string): LinkEntry => ({
    ...common,
    type: 'symlink',
    name: asByteString('l'),
    target: asByteString(target),
  });
  const path = asByteString('/d/f\n');
  const changes: readonly Change[] = [
    { kind: 'added', path, after: entry },
    { kind: 'removed', path, before: { ...entry, size: 2048 } },
    { kind: 'modified', path, before: entry, after: { ...entry, size: 11 }, fields: ['mtime'] },
    { kind: 'modified', path, before: link('a'), after: link('b\u001b'), fields: [] },
    {
      kind: 'metadata',
      path,
      before: entry,
      after: { ...entry, mode: 0o600, uid: 9 },
      fields: ['mode', 'owner', 'mtime', 'xattrs'],
    },
    { kind: 'type', path, before: entry, after: link('x') },
  ];

  it('have one line each', () => {
    expect(changes.map((change) => changeLine(change, look.styles))).toEqual([
      '+  /d/f\\n  (10 B)\n',
      '-  /d/f\\n  (2.0 KiB)\n',
      'M  /d/f\\n  (10 B -> 11 B)\n',
      'M  /d/f\\n  (a -> b\\x1b)\n',
      'U  /d/f\\n  (mode -rw-r--r-- -> -rw-------, owner 1:2 -> 9:2, time, attributes)\n',
      'T  /d/f\\n  (file -> symlink)\n',
    ]);
  });

  it('add up to one line for each kind', () => {
    const totals = changes.reduce(countChange, NO_CHANGES);

    expect(totalsText(totals)).toBe(
      [
        'Added:    1 file, 1 other, 10 B',
        'Removed:  2 files, 2.0 KiB',
        'Modified: 1 file, 1 other, 11 B',
        'Metadata: 1 file',
        '',
      ].join('\n'),
    );
    expect(totalsText(NO_CHANGES)).toBe('No differences.\n');
  });

  it('have an object each, and one for the totals', async () => {
    const { snapshots } = await snapshotsOf([
      [directory({}), { owners: { users: { '1': 'before' }, groups: {} } }],
      [directory({}), { owners: { users: { '9': 'after' }, groups: {} } }],
    ]);
    const [left, right] = snapshots.map((snapshot) => ({ snapshot, path: asByteString('/') }));
    if (left === undefined || right === undefined) throw new Error('no snapshots');
    const objects = changes.map((change) => changeObject(change, left, right));

    expect(objects[0]).toMatchObject({
      type: 'change',
      change: 'added',
      path: '/d/f\n',
      after: { size_bytes: 10 },
    });
    expect(objects[0]).not.toHaveProperty('before');
    expect(objects[4]).toMatchObject({
      change: 'metadata',
      fields: ['mode', 'owner', 'mtime', 'xattrs'],
      before: { mode: '0644', user: 'before' },
      after: { mode: '0600', user: 'after' },
    });
    expect(totalsObject(changes.reduce(countChange, NO_CHANGES), left, right)).toEqual({
      type: 'summary',
      left_snapshot_id: left.snapshot.id,
      right_snapshot_id: right.snapshot.id,
      left_stored_by: FULL,
      right_stored_by: FULL,
      added: { files: 1, directories: 0, others: 1, bytes: 10 },
      removed: { files: 2, directories: 0, others: 0, bytes: 2058 },
      modified: { files: 1, directories: 0, others: 1, bytes: 11 },
      metadata: { files: 1, directories: 0, others: 0, bytes: 0 },
      type_changed: 1,
    });
  });
});
