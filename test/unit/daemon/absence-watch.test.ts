import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultSettings, defaultSource } from '../../../src/config/effective-settings.ts';
import { tellAbsences } from '../../../src/daemon/health/absence-watch.ts';
import type { SourceSettings } from '../../../src/config/settings.ts';
import { backupsOf } from '../../../src/daemon/jobs/planning.ts';
import { newJob, waiting } from '../../../src/jobs/job-states.ts';
import { statement } from '../../../src/jobs/statement.ts';
import { openStateDatabase } from '../../../src/db/state-database.ts';
import type { Notice } from '../../../src/notify/notice.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { systemClock } from '../../../src/base/clock.ts';

const DAY_MS = 86_400_000;

test('a source without any backup is told of after the days of the settings, once a day, restarts or not', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-absence-'));
  let nowMs = Date.UTC(2026, 0, 1);
  const clock = { ...systemClock, now: () => nowMs };
  const context = { home: directory, stateDirectory: directory };
  const defaults = defaultSettings(context);
  const settings = { ...defaults, sources: [defaultSource('/photos', defaults, context)] };
  const notices: Notice[] = [];
  const said = statement('never_backed_up', { paths: ['/photos'], names: ['photos'], reason: 'away' });
  const status = async () => await Promise.resolve({ statements: [said], sources: [] });
  const look = async (): Promise<void> => {
    const state = openStateDatabase(join(directory, 'state.db'), clock);
    await tellAbsences({
      settings: () => settings,
      state,
      notifier: { notify: (notice) => void notices.push(notice) },
      clock,
      status,
    });
    state.close();
  };
  await look();
  nowMs += 2 * DAY_MS;
  await look();
  expect(notices).toEqual([]);
  nowMs += 2 * DAY_MS;
  await look();
  await look();
  expect(notices.map(({ kind, source }) => [kind, source])).toEqual([['absence', '/photos']]);
  nowMs += DAY_MS;
  await look();
  expect(notices).toHaveLength(2);
  // The agent knows why, and says so.
  expect(notices[0]?.text).toBe(
    '/photos has never been backed up to default, although a backup has been due for 4 days because the backup disk is not connected. Plug in the disk, or mount it.',
  );
  // A backup that runs, or is about to, ends the absence, or tells its own end.
  nowMs += DAY_MS;
  const state = openStateDatabase(join(directory, 'state.db'), clock);
  const [backup] = backupsOf({ ...settings.sources[0], destinations: ['default'] } as SourceSettings);
  if (backup === undefined) throw new Error('no backup');
  const queued = newJob('bkp_1', backup, 'schedule', nowMs);
  state.jobs.insert(queued);
  state.close();
  await look();
  expect(notices).toHaveLength(2);
  const again = openStateDatabase(join(directory, 'state.db'), clock);
  again.jobs.update(waiting(queued, { code: 'destination_absent', params: {} }));
  again.close();
  await look();
  expect(notices).toHaveLength(3);
  removeTree(directory);
});
