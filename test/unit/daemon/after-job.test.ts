/** What follows from the end of a job. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RequestError } from '../../../src/base/errors.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { afterJob, type AfterJob } from '../../../src/daemon/after-job.ts';
import { NO_BOOKKEEPING } from '../../../src/db/jobs.ts';
import { openStateDatabase, type StateDatabase } from '../../../src/db/state-database.ts';
import type { Notice } from '../../../src/notify/notice.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { sampleJob } from '../notify/sample-job.ts';

let directory: string;
let database: StateDatabase;
let notices: Notice[];
let done: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-after-'));
  database = openStateDatabase(join(directory, 'state.db'), systemClock);
  notices = [];
  done = [];
});
afterEach(() => {
  database.close();
  removeTree(directory);
});

/** The destination of the job has left the settings. */
function parts(): AfterJob {
  return {
    destinations: {
      find: (name) => {
        throw new RequestError('INVALID_DESTINATION', `There is no destination ${name}`);
      },
    },
    catalogs: {
      update: () => void done.push('one catalog'),
      updateAll: () => void done.push('all catalogs'),
    },
    alarms: {
      judge: () => {
        done.push('judged');
        return [];
      },
    },
    metrics: { jobEnded: () => void done.push('counted') },
    notifier: { notify: (notice) => void notices.push(notice) },
    state: { database },
    clock: systemClock,
  };
}

test('a job whose destination was renamed while it ran is told of like any other', () => {
  afterJob(sampleJob(), null, parts());
  const error = { code: 'DESTINATION_ERROR', message: 'It is full', details: {} };
  afterJob(sampleJob({ status: 'failed', result: null, error }), null, parts());
  expect(notices.map(({ kind }) => kind)).toEqual(['backup.completed', 'backup.failed']);
  expect(done).toEqual(['counted', 'all catalogs', 'judged', 'counted', 'judged']);
});

test('a backup with warnings is told of with the files that had them', () => {
  const job = sampleJob({ result: 'warning', warnings_count: 1 });
  database.jobs.insert({ job, bookkeeping: NO_BOOKKEEPING });
  database.jobs.addProblem(job.id, { path: '/home/ada/x', code: 'READ_ERROR', message: 'permission denied' });
  afterJob(job, null, parts());
  expect(notices[0]?.text).toContain('/home/ada/x: permission denied');
});
