/** What follows from the end of a job. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RequestError } from '../../../src/base/errors.ts';
import { systemClock } from '../../../src/base/clock.ts';
import {
  followers,
  keepOutcome,
  keepRepository,
  tellOfJob,
  type Followers,
} from '../../../src/daemon/jobs/after-job.ts';
import type { Place } from '../../../src/daemon/places/destinations.ts';
import { OpenedPlaces } from '../../../src/daemon/jobs/opened-places.ts';
import { storedBytesOf } from '../../../src/daemon/places/stored-bytes.ts';
import { NO_BOOKKEEPING } from '../../../src/db/jobs.ts';
import { openStateDatabase, type StateDatabase } from '../../../src/db/state-database.ts';
import type { EngineOutcome } from '../../../src/engine/protocol.ts';
import type { Job } from '../../../src/jobs/job.ts';
import type { Notice } from '../../../src/notify/notice.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { sampleJob } from '../notify/sample-job.ts';

let directory: string;
let database: StateDatabase;
let done: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-after-'));
  database = openStateDatabase(join(directory, 'state.db'), systemClock);
  done = [];
});
afterEach(() => {
  database.close();
  removeTree(directory);
});

/** The destination of the job has left the settings. */
function parts(): Followers {
  return {
    watching: { ended: () => void done.push('not watched'), follow: () => void done.push('followed') },
    spools: { tidy: () => void done.push('tidied') },
    membership: { ended: () => void done.push('noted for the partner') },
    metrics: { jobEnded: () => void done.push('counted') },
    destinations: {
      find: (name) => {
        throw new RequestError('INVALID_DESTINATION', `There is no destination ${name}`);
      },
    },
    opened: new OpenedPlaces(),
    catalogs: {
      update: () => void done.push('one catalog'),
      updateAll: () => void done.push('all catalogs'),
    },
    settings: () => ({ sources: [] }),
  };
}

function follow(job: Job, beside: Followers = parts()): void {
  for (const follower of followers(beside)) follower(job);
}

test('a job whose destination was renamed while it ran is followed by the same as any other', () => {
  follow(sampleJob());
  expect(done).toContain('all catalogs');
  expect(done).toContain('counted');
  done = [];
  const error = { code: 'DESTINATION_ERROR', message: 'It is full', details: {} };
  follow(sampleJob({ status: 'failed', result: null, error }));
  expect(done).not.toContain('all catalogs');
  expect(done).toContain('counted');
});

test('a backup with warnings is told of with the files that had them', () => {
  const job = sampleJob({ result: 'warning', warnings_count: 1 });
  database.jobs.insert({ job, bookkeeping: NO_BOOKKEEPING });
  database.jobs.addProblem(job.id, { path: '/home/ada/x', code: 'READ_ERROR', message: 'permission denied' });
  const notices: Notice[] = [];
  tellOfJob(job, {
    database,
    notifier: { notify: (notice) => void notices.push(notice) },
    clock: systemClock,
    stillFailing: () => ['/b fails.'],
  });
  expect(notices[0]?.stillFailing).toEqual(['/b fails.']);
  expect(notices[0]?.text).toContain('/home/ada/x: permission denied');
});

test('what a job found is remembered of the place that it opened, wherever its destination lies by now', () => {
  const place = (url: string): Place => ({ name: 'main', url }) as Place;
  const opened = new OpenedPlaces();
  const job = sampleJob();
  opened.opens(job, place('file:///a'));
  const remembered: string[] = [];
  const keep = (now: Place): void =>
    keepOutcome(job, { repositoryId: 'r', storedBytes: 5 } as EngineOutcome, {
      destinations: { find: () => now, remember: ({ url }) => void remembered.push(url) },
      opened,
      state: { database },
      clock: systemClock,
    });
  keep(place('file:///b'));
  expect([remembered, storedBytesOf(database.settings, 'main')?.bytes]).toEqual([['file:///a'], undefined]);
  keep(place('file:///a'));
  expect([remembered.length, storedBytesOf(database.settings, 'main')?.bytes]).toEqual([2, 5]);
  const destinations = { remember: ({ url }: Place) => void remembered.push(url) };
  keepRepository(job, 'r', { destinations, opened, clock: systemClock });
  expect(remembered).toEqual(['file:///a', 'file:///a', 'file:///a']);

  const moved = { ...parts(), opened, destinations: { find: () => place('file:///b') } };
  follow(job, moved);
  expect(done).toContain('all catalogs');
});
