/** The timeline of the page counts what ended on each day, by the calendar of this machine. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createJobDays, type JobDay, type JobDays } from '../../../src/db/job-days.ts';
import { createJobStore, NO_BOOKKEEPING, type JobStore } from '../../../src/db/jobs.ts';
import { openDatabase, type Database } from '../../../src/db/database.ts';
import { NO_PROGRESS, type Job } from '../../../src/jobs/job.ts';
import { BACKUP_SPEC, jobOf } from '../../support/api-jobs.ts';
import { databaseSite, type DatabaseSite } from './open-database.ts';

let site: DatabaseSite;
let database: Database;
let jobs: JobStore;
let days: JobDays;
let now: number;

beforeEach(() => {
  site = databaseSite();
  site.reopen().close();
  database = openDatabase(site.path);
  jobs = createJobStore(database);
  now = noon(0);
  days = createJobDays(database, { now: () => now });
});
afterEach(() => {
  database.close();
  site.remove();
});

/** Noon of the day that many days after the first of November. */
function noon(day: number): number {
  return new Date(2026, 10, 1 + day, 12).getTime();
}

let number = 0;
function end(at: number, changes: Partial<Job> = {}, spec: Job['spec'] = BACKUP_SPEC): void {
  number += 1;
  const progress = { ...NO_PROGRESS, bytes_uploaded: 100 };
  const ended: Partial<Job> = { id: `job_${number}`, status: 'completed', finished_at: at, progress };
  jobs.insert({ job: jobOf(spec, { ...ended, ...changes }), bookkeeping: NO_BOOKKEEPING });
}

const NOTHING = { backups: 0, incomplete: 0, failed: 0, bytes: 0, drills: 0, drillsFailed: 0 };

function sums({ at: _at, ...rest }: JobDay): Omit<JobDay, 'at'> {
  return rest;
}

it('counts backups, what they stored, and restore drills, and leaves dry runs and other jobs out', () => {
  const drill = { type: 'drill', destination: 'nas' } as const;
  end(noon(-2), { result: 'success' });
  end(noon(-2), { result: 'warning' });
  end(noon(-2), { status: 'failed' });
  end(noon(-2), { status: 'canceled' });
  end(noon(-2), {}, { ...BACKUP_SPEC, options: { ...BACKUP_SPEC.options, dry_run: true } });
  end(noon(-2), { type: 'check' }, { type: 'check', destination: 'nas', read_data: 0 });
  end(noon(0), { type: 'drill', result: 'success' }, drill as Job['spec']);
  end(noon(0), { type: 'drill', result: 'warning' }, drill as Job['spec']);
  expect(days.last(3).map(sums)).toEqual([
    { ...NOTHING, backups: 2, incomplete: 1, failed: 1, bytes: 400 },
    NOTHING,
    { ...NOTHING, drills: 1, drillsFailed: 1 },
  ]);
});

it('begins each day at midnight of this machine', () => {
  const midnight = new Date(2026, 10, 1).getTime();
  end(midnight - 1);
  end(midnight);
  const [before, today] = days.last(2);
  expect([before?.backups, today?.backups, today?.at]).toEqual([1, 1, midnight]);
});

it('notices what ends today, and that a new day has begun', () => {
  expect(days.last(1).map(sums)).toEqual([NOTHING]);
  end(noon(0));
  expect(days.last(1)[0]?.backups).toBe(1);
  now = noon(1);
  end(noon(1));
  end(noon(1));
  expect(days.last(3).map(({ backups }) => backups)).toEqual([0, 1, 2]);
});
