import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepStoredBytes, storedBytesOf, storedOverTime } from '../../../src/daemon/places/stored-bytes.ts';
import { openStateDatabase } from '../../../src/db/state-database.ts';
import { manualClock } from '../../support/manual-clock.ts';

const DAY = 86_400_000;

test('what an earlier version kept, or the journal brought back, begins the course of what is stored', () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-stored-'));
  const database = openStateDatabase(join(directory, 'state.db'), manualClock());
  try {
    const { settings } = database;
    expect(storedOverTime(database, 'nas')).toEqual([]);
    settings.set('stored nas', `5 ${DAY}`);
    expect(storedOverTime(database, 'nas')).toEqual([{ at: DAY, bytes: 5 }]);
    // From before the time was kept as well: it has no place in a course of time.
    settings.set('stored old', '5');
    expect(storedOverTime(database, 'old')).toEqual([]);
    expect(storedBytesOf(settings, 'old')?.bytes).toBe(5);

    keepStoredBytes(database, 'nas', 7, 2 * DAY);
    keepStoredBytes(database, 'nas', 8, 2 * DAY + 1);
    expect(storedOverTime(database, 'nas')).toEqual([{ at: 2 * DAY + 1, bytes: 8 }]);
    expect(storedBytesOf(settings, 'nas')).toEqual({ at: 2 * DAY + 1, bytes: 8 });
  } finally {
    database.close();
    rmSync(directory, { recursive: true });
  }
});
