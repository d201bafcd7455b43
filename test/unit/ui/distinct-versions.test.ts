import { describe, expect, it } from 'vitest';
import type { FileVersion } from '../../../src/api/schemas/snapshot.ts';
import { distinctVersions, pairOf } from '../../../src/ui/pages/restore/version-pair.tsx';
import { daysBefore } from '../../../src/ui/language/format.ts';
import { byDay, clockAmong } from '../../../src/ui/pages/restore/snapshot-list.tsx';

function version(hour: number, change: FileVersion['change']): FileVersion {
  return {
    path: '/a',
    path_b64: null,
    name: 'a',
    type: 'file',
    size_bytes: hour,
    modified_at: at(hour),
    mode: 0o644,
    link_target: null,
    children_count: null,
    snapshot_id: `s${hour}`,
    backup_id: null,
    source: '/',
    stored_by: { key: 'full', write_only_key: null, label: null },
    backed_up_at: at(hour),
    change,
  };
}

function at(hour: number): string {
  return new Date(Date.UTC(2026, 10, 22, hour)).toISOString();
}

const items = [
  version(5, 'added'),
  version(4, 'removed'),
  version(3, 'unchanged'),
  version(2, 'modified'),
  version(1, 'added'),
];

describe('distinctVersions', () => {
  it('joins snapshots with the same version', () => {
    expect(
      distinctVersions(items).map(({ item, change, firstAt, lastAt, snapshots }) => [
        item.snapshot_id,
        change,
        firstAt,
        lastAt,
        snapshots,
      ]),
    ).toEqual([
      ['s5', 'added', at(5), at(5), 1],
      ['s4', 'removed', at(4), at(4), 0],
      ['s3', 'modified', at(2), at(3), 2],
      ['s1', 'added', at(1), at(1), 1],
    ]);
  });

  it('begins with what is known when older snapshots are not listed yet', () => {
    expect(distinctVersions(items.slice(0, 3))).toHaveLength(3);
  });
});

describe('pairOf', () => {
  const versions = distinctVersions(items);
  const ids = (older?: string, newer?: string): readonly (string | undefined)[] => {
    const pair = pairOf(versions, older, newer);
    return [pair?.older.item.snapshot_id, pair?.newer.item.snapshot_id];
  };

  it('is the newest and the one before it', () => {
    expect(ids()).toEqual(['s3', 's5']);
  });

  it('is what was asked for', () => {
    expect(ids('s1', 's3')).toEqual(['s1', 's3']);
    expect(ids(undefined, 's3')).toEqual(['s1', 's3']);
    expect(ids('s4', 'unknown')).toEqual(['s3', 's5']);
  });

  it('is none of a single version', () => {
    expect(pairOf(distinctVersions([version(1, 'added')]), undefined, undefined)).toBeUndefined();
  });
});

describe('byDay', () => {
  it('groups by the days of the reader', () => {
    const moment = (day: number, hour: number) => ({
      created_at: new Date(2026, 9, day, hour).toISOString(),
    });
    const days = byDay([moment(26, 0), moment(25, 23), moment(25, 0), moment(24, 12)]);
    expect(days.map(({ items: ofDay }) => ofDay.length)).toEqual([1, 2, 1]);
    const now = new Date(2026, 9, 26, 1).getTime();
    expect(days.map(({ at: midnight }) => daysBefore(midnight, now))).toEqual([0, 1, 2]);
  });
});

describe('clockAmong', () => {
  it('tells snapshots of one minute apart, and no others', () => {
    const moment = (minute: number, second: number) => ({
      created_at: new Date(2026, 9, 25, 9, minute, second).toISOString(),
    });
    const ofDay = [moment(8, 31), moment(8, 5), moment(7, 59)];
    const clocks = ofDay.map((one) => clockAmong(one, ofDay).replace(/\sAM$/, ''));
    expect(clocks).toEqual(['9:08:31', '9:08:05', '9:07']);
  });
});
