/** What was done under the name of a destination before it lay where it lies now. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { protectedSince, tellAbsences } from '../../../src/daemon/health/absence-watch.ts';
import { defaultSettings, defaultSource } from '../../../src/config/effective-settings.ts';
import { PlacedJobs } from '../../../src/daemon/health/placed-jobs.ts';
import { keepStoredBytes, storedBytesOf } from '../../../src/daemon/places/stored-bytes.ts';
import { openStateDatabase, type StateDatabase } from '../../../src/db/state-database.ts';
import { canceled, completed, newJob, started } from '../../../src/jobs/job-states.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { OUTCOME } from '../jobs/fake-engines.ts';
import { backupOf } from '../jobs/runner-site.ts';

let directory: string;
let clock: ManualClock;
let database: StateDatabase;
let placed: PlacedJobs;
let ids: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-placed-'));
  clock = manualClock();
  database = openStateDatabase(join(directory, 'state.db'), clock);
  placed = new PlacedJobs(database.settings, clock);
  ids = 0;
});
afterEach(() => {
  database.close();
  removeTree(directory);
});

const lies = (url: string): void => placed.follow([{ name: 'main', url }]);
const newest = (): string | undefined =>
  placed.of(database.jobs).newest({ types: ['backup'], source: '/home', destination: 'main' })?.id;

function backUp(how: 'completes' | 'begins' | 'waits' | 'is canceled'): string {
  const id = `bkp_${(ids += 1)}`;
  const queued = newJob(id, backupOf('/home', 'main'), 'watch', clock.now());
  const begun = started(queued, clock.now());
  if (how === 'completes') database.jobs.insert(completed(begun, OUTCOME, clock.now()));
  else if (how === 'begins') database.jobs.insert(begun);
  else if (how === 'waits') database.jobs.insert(queued);
  else database.jobs.insert(canceled(queued, clock.now()));
  return id;
}

test('a backup to the place before is none to the one now, and one that is begun now is', async () => {
  lies('file:///a');
  const first = backUp('completes');
  expect(newest()).toBe(first);
  await clock.advance(1_000);
  lies('file:///a');
  expect(newest()).toBe(first);
  lies('file:///b');
  expect(newest()).toBeUndefined();
  await clock.advance(1_000);
  const second = backUp('completes');
  expect(newest()).toBe(second);
  await clock.advance(1_000);
  // Back again: what lies there is as old as the last backup there, and nobody knows how it has fared.
  lies('file:///a');
  expect(newest()).toBeUndefined();
});

test('one that waits will go to the place now; one that has begun goes to the place before', async () => {
  lies('file:///a');
  backUp('begins');
  backUp('is canceled');
  await clock.advance(1_000);
  lies('file:///b');
  expect(newest()).toBeUndefined();
  const waits = backUp('waits');
  expect(newest()).toBe(waits);
});

test('of a state from before such notes everything counts', () => {
  const first = backUp('completes');
  lies('file:///a');
  expect(newest()).toBe(first);
});

test('a move is noticed that was made while no agent ran, and under a clock that was wrong', async () => {
  lies('file:///a');
  clock.jump(1_000_000_000);
  lies('file:///b');
  clock.jump(-1_000_000_000);
  placed = new PlacedJobs(database.settings, clock);
  lies('file:///b');
  await clock.advance(1_000);
  const id = backUp('completes');
  expect(newest()).toBe(id);
});

test('what was stored and since when it should be backed up begin anew, for this destination alone', async () => {
  const context = { home: directory, stateDirectory: directory };
  const defaults = defaultSettings(context);
  const sources = [{ ...defaultSource('/home', defaults, context), destinations: ['main', 'main-too'] }];
  lies('file:///a');
  for (const name of ['main', 'main-too']) keepStoredBytes(database, name, 5, clock.now());
  const notifier = { notify: () => undefined };
  const status = async () => await Promise.resolve({ statements: [], sources: [] });
  await tellAbsences({
    settings: () => ({ ...defaults, sources }),
    state: database,
    notifier,
    clock,
    status,
  });
  lies('file:///b');
  const { settings } = database;
  expect([storedBytesOf(settings, 'main'), storedBytesOf(settings, 'main-too')?.bytes]).toEqual([
    undefined,
    5,
  ]);
  expect(protectedSince(settings, 'main', '/home')).toBeUndefined();
});

test('a directory by SFTP whose URL was spelled otherwise before has not moved', async () => {
  lies('sftp://ana@nas:22/a#b');
  const first = backUp('completes');
  keepStoredBytes(database, 'main', 7, clock.now());
  await clock.advance(1_000);
  lies('sftp://ana@nas:22/a%23b');
  expect(newest()).toBe(first);
  expect(storedBytesOf(database.settings, 'main')?.bytes).toBe(7);
  lies('sftp://ana@nas:22/a%23c');
  expect(newest()).toBeUndefined();
});

test('a place that is called otherwise keeps what was stored there', () => {
  lies('file:///a');
  keepStoredBytes(database, 'main', 7, clock.now());
  placed.follow([
    { name: 'embedded', url: 'file:///a' },
    { name: 'nas', url: 'file:///b' },
  ]);
  expect(storedBytesOf(database.settings, 'embedded')?.bytes).toBe(7);
  expect(storedBytesOf(database.settings, 'nas')).toBeUndefined();
});
