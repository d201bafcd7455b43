/** A watched source is looked at as a whole once a day: by which backups, until one of them has done it. */

import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { defaultSettings, defaultSource } from '../../../src/config/effective-settings.ts';
import type { Settings } from '../../../src/config/settings.ts';
import { Backups } from '../../../src/daemon/jobs/backups.ts';
import { createDestinations, placeOf } from '../../../src/daemon/places/destinations.ts';
import { planOf } from '../../../src/daemon/jobs/planning.ts';
import { readerOfPlace } from '../../../src/daemon/sources/watch-readers.ts';
import { Watching } from '../../../src/daemon/sources/watching.ts';
import { newJob } from '../../../src/jobs/job-states.ts';
import type { Job, JobSpec, JobStatus } from '../../../src/jobs/job.ts';
import { openAgentState } from '../../../src/jobs/open-state.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { backupOf } from '../jobs/runner-site.ts';
import { until } from '../watch/watched-source.ts';
import type { SettingsContext } from '../../../src/config/settings-context.ts';

type End = Extract<JobStatus, 'completed' | 'failed' | 'canceled'>;

interface Site {
  /** The schedule of whole walks is due, or was at a time that was missed. Gives how many backups that begins. */
  fallDue(missedAt?: number): number;
  job(destination?: string): Job;
  /** Begins an attempt at a job: true when everything is to be looked at. */
  begin(job: Job): boolean;
  /** @param isThere its snapshot was made by an earlier attempt: the engine has read nothing */
  end(job: Job, end: End, isThere?: boolean): void;
  /** What the logs of jobs were told. */
  readonly told: readonly string[];
}

/** A source of which backups to the default destination know all that changes. */
async function openSite(): Promise<Site> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-whole-walk-'));
  onTestFinished(() => removeTree(directory));
  const source = join(directory, 'source');
  mkdirSync(source);
  const context: SettingsContext = { home: directory, stateDirectory: join(directory, 'state') };
  const defaults = defaultSettings(context);
  const watched = { ...defaultSource(source, defaults, context), watch: true };
  const settings: Settings = { ...defaults, sources: [watched] };
  const state = openAgentState(context.stateDirectory, systemClock);
  onTestFinished(() => state.close());
  const told: string[] = [];
  const watching = new Watching({
    clock: systemClock,
    never: () => [],
    readers: () => ({ has: () => true }),
    changed: () => {},
    whole: (_, text) => told.push(text),
    note: () => {},
    problem: () => {},
  });
  onTestFinished(async () => await watching[Symbol.asyncDispose]());
  let jobs = 0;
  const newJobOf = (spec: JobSpec): Job => {
    const record = newJob(`bkp_${(jobs += 1)}`, spec, 'schedule', systemClock.now());
    state.database.jobs.insert(record);
    return record.job;
  };
  const destinations = createDestinations({
    settings: () => settings,
    repositories: state.database.repositories,
    notes: state.database.settings,
    stateDirectory: context.stateDirectory,
    secrets: { env: {}, home: directory, clock: systemClock },
    machineKey: async () => await Promise.resolve(Buffer.alloc(32)),
    uploadLimit: () => null,
    clock: systemClock,
  });
  const backups = new Backups({
    runner: {
      submit: newJobOf,
      submitPass: (specs) => specs.map(newJobOf),
      cancel: (id) => expect.unreachable(`${id} is canceled`),
    },
    destinations,
    settings: () => settings,
    jobs: state.database.jobs,
    clock: systemClock,
    trouble: (error) => expect.unreachable(String(error)),
  });
  const site: Site = {
    told,
    fallDue: (missedAt) => {
      const before = jobs;
      for (const planned of planOf(settings)) if (planned.fullWalk) backups.due(planned, watching, missedAt);
      return jobs - before;
    },
    job: (destination) => newJobOf(backupOf(source, destination)),
    begin: (job) => {
      const { destination } = job.spec;
      const place = placeOf(destinations, destination);
      return watching.take(job, place === undefined ? destination : readerOfPlace(place)) === null;
    },
    end: (job, status, isThere = false) => {
      const ended: Job = { ...job, status };
      if (status === 'completed') watching.completed(ended, { hasReadSource: !isThere });
      watching.ended(ended);
    },
  };
  watching.follow(settings.sources);
  await until(() => watching.stateOf(source) === 'watching');
  const first = site.job();
  expect(site.begin(first)).toBe(true);
  site.end(first, 'completed');
  told.length = 0;
  return site;
}

/** A time after all that has happened. */
async function later(): Promise<number> {
  const now = Date.now();
  await until(() => Date.now() > now);
  return Date.now();
}

test('the backup after it fell due looks at everything, and says why; those after that at what changed', async () => {
  const site = await openSite();
  const before = site.job();
  expect(site.begin(before)).toBe(false);
  site.end(before, 'completed');
  site.fallDue();
  const whole = site.job();
  expect(site.begin(whole)).toBe(true);
  site.end(whole, 'completed');
  expect(site.told).toEqual(['Checking all files, because that is due once a day.']);
  expect(site.begin(site.job())).toBe(false);
});

test('every attempt at a job looks at everything, whatever became of those before', async () => {
  const site = await openSite();
  site.fallDue();
  const job = site.job();
  expect([site.begin(job), site.begin(job), site.begin(job)]).toEqual([true, true, true]);
  site.end(job, 'completed');
  expect(site.begin(site.job())).toBe(false);
});

test.each<End>(['failed', 'canceled'])('a job that %s leaves it to the next one', async (end) => {
  const site = await openSite();
  site.fallDue();
  const job = site.job();
  site.begin(job);
  site.end(job, end);
  const next = site.job();
  expect(site.begin(next)).toBe(true);
  site.end(next, 'completed');
  expect(site.begin(site.job())).toBe(false);
});

test('a job that was at work when it fell due has not done it', async () => {
  const site = await openSite();
  const before = site.job();
  expect(site.begin(before)).toBe(false);
  site.fallDue();
  site.end(before, 'completed');
  expect(site.begin(site.job())).toBe(true);
});

test('each destination that is backed up to by itself has a whole walk of its own', async () => {
  const site = await openSite();
  for (const destination of ['second', 'default']) {
    const job = site.job(destination);
    site.begin(job);
    site.end(job, 'completed');
  }
  site.fallDue();
  for (const destination of ['second', 'default', 'second']) {
    const job = site.job(destination);
    site.begin(job);
    site.end(job, 'completed');
  }
  expect(site.told).toEqual([
    'Checking all files, because watching has just started.',
    ...Array.from({ length: 2 }, () => 'Checking all files, because that is due once a day.'),
  ]);
});

test('one that was missed is not made up for by a backup that has looked at what changed alone', async () => {
  const site = await openSite();
  const missedAt = await later();
  const since = site.job();
  expect(site.begin(since)).toBe(false);
  site.end(since, 'completed');
  expect(site.fallDue(missedAt)).toBe(1);
  expect(site.begin(site.job())).toBe(true);
});

test('one that was missed is made up for although another destination, which nothing goes to any more, had none', async () => {
  const site = await openSite();
  const old = site.job('second');
  site.begin(old);
  site.end(old, 'completed');
  site.fallDue();
  const missedAt = await later();
  const since = site.job();
  expect(site.begin(since)).toBe(true);
  site.end(since, 'completed');
  expect(site.fallDue(missedAt)).toBe(0);
  expect(site.begin(site.job('second'))).toBe(true);
});

test('one that was missed is made up for by a backup since then that looks at everything, unless that fails', async () => {
  const site = await openSite();
  site.fallDue();
  const missedAt = await later();
  const since = site.job();
  expect(site.begin(since)).toBe(true);
  expect(site.fallDue(missedAt)).toBe(0);
  site.end(since, 'failed');
  expect(site.fallDue(missedAt)).toBe(1);
  expect(site.begin(site.job())).toBe(true);
});

test('a job whose snapshot an earlier attempt had made leaves it to the next one', async () => {
  const site = await openSite();
  site.fallDue();
  const job = site.job();
  site.begin(job);
  site.end(job, 'completed', true);
  expect(site.begin(site.job())).toBe(true);
});

test('a job that was stopped, and whose snapshot was made before that, leaves it to the next one', async () => {
  const site = await openSite();
  const job = site.job();
  expect(site.begin(job)).toBe(false);
  // Its engine stores the snapshot and is stopped before it can say so: the job is the same attempt when it goes on.
  site.fallDue();
  expect(site.begin(job)).toBe(true);
  site.end(job, 'completed', true);
  expect(site.begin(site.job())).toBe(true);
});

test('a job that leaves out what its request names leaves it to the next one', async () => {
  const site = await openSite();
  site.fallDue();
  const job = site.job();
  if (job.spec.type !== 'backup') return expect.unreachable();
  const narrowed: Job = {
    ...job,
    spec: { ...job.spec, options: { ...job.spec.options, exclude: ['*.o'] } },
  };
  expect(site.begin(narrowed)).toBe(true);
  site.end(narrowed, 'completed');
  expect(site.begin(site.job())).toBe(true);
});
