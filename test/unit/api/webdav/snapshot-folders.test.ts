import { describe, expect, test } from 'vitest';
import { FULL_KEYS } from '../../../../src/base/stored-by.ts';
import { sourceFolders } from '../../../../src/api/webdav/snapshot-folders.ts';
import type { SnapshotSummary } from '../../../../src/jobs/agent.ts';

function summary(id: string, changes: Partial<SnapshotSummary> = {}): SnapshotSummary {
  return {
    id: id.repeat(64).slice(0, 64),
    source: '/home/ana',
    paths: ['/home/ana'],
    destination: 'default',
    host: 'here',
    stored_by: FULL_KEYS,
    said_at: null,
    tags: [],
    pinned: false,
    partial: false,
    unread: { paths: [], count: 0 },
    created_at: Date.UTC(2026, 0, 1),
    files: 3,
    size_bytes: 30,
    rank: 0,
    unreadable: 0,
    backup_id: null,
    ...changes,
  };
}

function foldersOf(...summaries: readonly SnapshotSummary[]): Record<string, readonly string[]> {
  const sources = sourceFolders(summaries, { host: 'here', timeZone: 'UTC' });
  return Object.fromEntries(sources.map(({ name, snapshots }) => [name, snapshots.map((one) => one.name)]));
}

describe('folders', () => {
  test('are one for each source on each host, and in it one for each time', () => {
    const later = Date.UTC(2026, 0, 2);
    const other = { host: 'desk', created_at: later };
    expect(foldersOf(summary('a', { created_at: later }), summary('b', other), summary('c'))).toEqual({
      'home+ana': ['2026-01-02_00-00-00', '2026-01-01_00-00-00'],
      'home+ana@desk': ['2026-01-02_00-00-00'],
    });
    expect(foldersOf()).toEqual({});
  });

  test('bear the start of an id when two have the same time', () => {
    expect(foldersOf(summary('a', { created_at: Date.UTC(2026, 0, 1) + 7 }), summary('b'))).toEqual({
      'home+ana': ['2026-01-01_00-00-00_aaaaaaaa', '2026-01-01_00-00-00_bbbbbbbb'],
    });
    // In autumn an hour comes twice.
    const zone = { host: 'here', timeZone: 'Europe/Berlin' };
    const twice = [Date.UTC(2026, 9, 25, 1), Date.UTC(2026, 9, 25, 0)].map((at, index) =>
      summary('ab'.charAt(index), { created_at: at }),
    );
    expect(sourceFolders(twice, zone)[0]?.snapshots.map(({ name }) => name)).toEqual([
      '2026-10-25_02-00-00_aaaaaaaa',
      '2026-10-25_02-00-00_bbbbbbbb',
    ]);
  });

  test('are one for a snapshot and its copies, in the order of the destinations', () => {
    const copies = [summary('a'), summary('b', { destination: 'nas' })];
    const [source] = sourceFolders(copies, { host: 'here', timeZone: 'UTC' });
    expect(source?.snapshots.map(({ name, ids }) => [name, ids])).toEqual([
      ['2026-01-01_00-00-00', copies.map(({ id }) => id)],
    ]);
  });

  test('of several paths are the same whatever order they were given in', () => {
    const names = foldersOf(
      summary('a', { paths: ['/etc', '/home'] }),
      summary('b', { paths: ['/home', '/etc'], created_at: 0 }),
    );
    expect(Object.values(names)).toEqual([['2026-01-01_00-00-00', '1970-01-01_00-00-00']]);
  });

  test('of what is named latest are those of the snapshot made last, whatever its clock said', () => {
    const latestOf = (...summaries: readonly SnapshotSummary[]): readonly string[] => {
      const sources = sourceFolders(summaries, { host: 'here', timeZone: 'UTC' });
      return sources.map(({ latest }) => latest.name);
    };
    const ahead = summary('a', { created_at: Date.UTC(2027, 1, 5), rank: 4 });
    const last = summary('b', { rank: 5 });
    expect(latestOf(ahead, last)).toEqual(['2026-01-01_00-00-00']);
    // Numbers of two destinations say nothing of each other.
    const elsewhere = { destination: 'nas', rank: 1, created_at: Date.UTC(2026, 0, 3) };
    expect(latestOf(ahead, summary('c', elsewhere), last)).toEqual(['2026-01-03_00-00-00']);
  });
});
