/** A monitor has one light for the machine. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { defaultSettings, defaultSource } from '../../../src/config/effective-settings.ts';
import type { Settings } from '../../../src/config/settings.ts';
import { stillFailing } from '../../../src/daemon/health/standing.ts';
import { openStateDatabase, type StateDatabase } from '../../../src/db/state-database.ts';
import { completed, failed, newJob, started } from '../../../src/jobs/job-states.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { OUTCOME } from '../jobs/fake-engines.ts';
import { backupOf } from '../jobs/runner-site.ts';

let directory: string;
let database: StateDatabase;
let settings: Settings;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-still-failing-'));
  database = openStateDatabase(join(directory, 'state.db'), systemClock);
  const context = { home: directory, stateDirectory: directory };
  const defaults = defaultSettings(context);
  const sources = ['/a', '/b'].map((path) => ({
    ...defaultSource(path, defaults, context),
    schedule: 'off',
    watch: false,
  }));
  const notices = { ...defaults.notices, healthchecks: { url: 'http://127.0.0.1/x' } };
  settings = { ...defaults, sources, notices };
});
afterEach(() => {
  database.close();
  removeTree(directory);
});

test('the success of one source says what else is not well, and nothing where nobody watches', () => {
  const now = systemClock.now();
  const spec = (path: string) => backupOf(path, settings.defaultDestination);
  const error = { code: 'DESTINATION_AUTH_FAILED', message: 'x', details: {} };
  database.jobs.insert(failed(started(newJob('bkp_1', spec('/b'), 'schedule', now), now), error, now));
  const good = completed(started(newJob('bkp_2', spec('/a'), 'schedule', now), now), OUTCOME, now);
  database.jobs.insert(good);
  const alarms = { open: (): readonly never[] => [] };
  const said = (type = good.job.type, status = good.job.status): readonly string[] =>
    stillFailing(
      { type, status },
      {
        settings: () => settings,
        jobs: database.jobs,
        notes: database.settings,
        alarms,
        destinations: { all: () => [] },
        now: () => now,
        isEmptyExpected: () => false,
      },
    );
  expect(said()).toEqual([`The last backup of /b to ${settings.defaultDestination} failed.`]);
  expect([said('restore'), said('backup', 'failed')]).toEqual([[], []]);
  database.jobs.insert(
    completed(started(newJob('bkp_3', spec('/b'), 'schedule', now), now), OUTCOME, now + 1),
  );
  expect(said()).toEqual([]);
  database.jobs.insert(failed(started(newJob('bkp_4', spec('/b'), 'schedule', now), now), error, now + 2));
  settings = { ...settings, notices: { ...settings.notices, healthchecks: null } };
  expect(said()).toEqual([]);
});
