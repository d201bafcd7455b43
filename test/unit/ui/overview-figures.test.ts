import { describe, expect, test } from 'vitest';
import type { OverviewDay, OverviewSource } from '../../../src/api/schemas/page/overview.ts';
import {
  barHeight,
  bySource,
  dayOutcome,
  lastGood,
  stretchOf,
  nextRun,
  outcomeOf,
  protectedIn,
  savedShare,
  tomorrowMorning,
  isAllRead,
  storedIn,
} from '../../../src/ui/pages/overview/figures.ts';

function row(facts: Partial<OverviewSource>): OverviewSource {
  return {
    path: '/a',
    name: 'a',
    destination: 'default',
    schedule: 'every 4h',
    last_good_backup_at: null,
    earlier_backup_at: null,
    next_run_at: null,
    overdue: false,
    watching: true,
    files: null,
    size_bytes: null,
    history: [],
    ...facts,
  };
}

const ROWS = [
  row({ path: '/a', destination: 'nas', files: 10, size_bytes: 1_000 }),
  row({ path: '/b', files: 1, size_bytes: 1_000 }),
  row({ path: '/a', destination: 'usb', files: 9, size_bytes: 900 }),
];

test('the destinations of a source stand together', () => {
  expect(bySource(ROWS).map(({ path, rows }) => [path, rows.map(({ destination }) => destination)])).toEqual([
    ['/a', ['nas', 'usb']],
    ['/b', ['default']],
  ]);
});

test('a source counts once, to however many destinations it goes', () => {
  expect(protectedIn(ROWS)).toEqual({ files: 11, bytes: 2_000 });
  expect(protectedIn([row({})])).toEqual({ files: 0, bytes: 0 });
});

test('the next run is the earliest that is planned', () => {
  const rows = [
    row({ next_run_at: '2026-11-23T04:00:00.000Z' }),
    row({}),
    row({ next_run_at: '2026-11-22T23:00:00.000Z' }),
  ];
  expect(nextRun(rows)).toBe('2026-11-22T23:00:00.000Z');
  expect(nextRun([row({})])).toBeUndefined();
});

test('snapshots are said to be at all destinations once those of each are counted', () => {
  const destinations = [{ used_bytes: 9_000 }, { used_bytes: 8_000 }];
  const one = { snapshot_bytes: 10_000, snapshots: 1, stored_bytes: 9_000 };
  expect(storedIn(destinations)).toBe(17_000);
  expect(isAllRead({ saved: one, destinations })).toBe(false);
  // The stored copy is told against its own plain copy, whatever another destination holds.
  expect(savedShare({ saved: one })).toBeCloseTo(0.1);
  const both = { snapshot_bytes: 20_000, snapshots: 2, stored_bytes: 17_000 };
  expect(isAllRead({ saved: both, destinations })).toBe(true);
  expect(isAllRead({ saved: both, destinations: [...destinations, { used_bytes: null }] })).toBe(false);
});

describe('what is saved', () => {
  const saved = { snapshot_bytes: 20_000, snapshots: 20, stored_bytes: 4_000 };

  test('is told against a plain copy for each snapshot', () => {
    expect(savedShare({ saved })).toBeCloseTo(0.8);
  });

  test('is nothing while copies would take no more', () => {
    expect(savedShare({ saved: { ...saved, stored_bytes: 20_000 } })).toBeUndefined();
    expect(savedShare({ saved: { ...saved, stored_bytes: 30_000 } })).toBeUndefined();
    expect(savedShare({ saved: { ...saved, snapshot_bytes: 0 } })).toBeUndefined();
  });
});

test('a run with warnings is neither good nor failed', () => {
  expect(outcomeOf({ status: 'completed', result: 'success' })).toBe('completed');
  expect(outcomeOf({ status: 'completed', result: 'warning' })).toBe('warning');
  expect(outcomeOf({ status: 'failed', result: null })).toBe('failed');
});

test('the bar of a run that stored little can still be seen beside one that stored much', () => {
  const most = 50 * 1024 ** 3;
  expect(barHeight(most, most)).toBe(100);
  expect(barHeight(0, most)).toBe(20);
  expect(barHeight(100 * 1024, most)).toBeGreaterThan(30);
  expect(barHeight(0, 0)).toBe(20);
});

test('tomorrow begins at six in the morning where the reader is', () => {
  const at = tomorrowMorning(new Date(2026, 11, 31, 23, 59));
  expect([at.getFullYear(), at.getMonth(), at.getDate(), at.getHours(), at.getMinutes()]).toEqual([
    2027, 0, 1, 6, 0,
  ]);
});

describe('a day of the timeline', () => {
  const day = (facts: Partial<OverviewDay>): OverviewDay => ({
    at: '2026-11-22T00:00:00.000Z',
    backups: 0,
    incomplete: 0,
    failed: 0,
    bytes_stored: 0,
    drills: 0,
    drills_failed: 0,
    alarms: 0,
    ...facts,
  });

  test('is as good as the worst of its backups', () => {
    expect(dayOutcome(day({}))).toBe('none');
    expect(dayOutcome(day({ drills: 1 }))).toBe('none');
    expect(dayOutcome(day({ backups: 2 }))).toBe('completed');
    expect(dayOutcome(day({ backups: 2, incomplete: 1 }))).toBe('warning');
    expect(dayOutcome(day({ backups: 2, incomplete: 1, failed: 1 }))).toBe('failed');
  });

  test('is counted with the others', () => {
    const all = [
      day({ backups: 2, bytes_stored: 5 }),
      day({ failed: 1 }),
      day({ backups: 1, bytes_stored: 7 }),
    ];
    expect(stretchOf(all)).toEqual({ backups: 3, failed: 1, bytes: 12 });
  });
});

test('the last good backup of a source is that to any of its destinations', () => {
  const at = (time: string | null) => row({ last_good_backup_at: time });
  expect(lastGood([])).toBeNull();
  expect(lastGood([at(null), at('2026-11-22T01:00:00.000Z'), at('2026-11-21T01:00:00.000Z')])).toBe(
    '2026-11-22T01:00:00.000Z',
  );
});
