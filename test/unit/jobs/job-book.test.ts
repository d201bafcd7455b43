/** What is said about jobs, and stored without the secrets in it. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createJobBook } from '../../../src/jobs/job-book.ts';
import { backupOf, runnerSite, type RunnerSite } from './runner-site.ts';

let site: RunnerSite;
beforeEach(async () => {
  site = await runnerSite();
});
afterEach(async () => {
  await site.remove();
});

it('stores no secret that is in a line of the log or in a problem', () => {
  const book = createJobBook(site.state, site.clock, (text) => text.replaceAll('hunter2', '…'));
  const { job } = book.add(backupOf('/photos'), 'api');
  book.log(job.id, 'error', 'the server refused hunter2 for ann');
  book.addProblem(job.id, { path: '/photos/a', code: 'EACCES', message: 'hunter2 is no key' });
  const { jobLog, jobs } = site.state.database;
  const stored = JSON.stringify([jobLog.list(job.id), jobs.get(job.id)?.problems]);
  expect(stored).toContain('the server refused … for ann');
  expect(stored).toContain('… is no key');
  expect(stored).not.toContain('hunter2');
});

it('stores all jobs of a pass, with what is noted of them, or none', () => {
  const book = createJobBook(site.state, site.clock);
  const specs = ['near', 'far'].map((name) => backupOf('/photos', name));
  const refuse = (): never => {
    throw new Error('no space');
  };
  expect(() => book.addAll(specs, 'api', { pass: 'p', also: refuse })).toThrow('no space');
  expect(book.queued()).toEqual([]);
  const told: string[] = [];
  const added = book.addAll(specs, 'api', { pass: 'p', also: ({ id }) => told.push(id) });
  expect(told).toEqual([added[0]?.job.id]);
  expect(book.queued().map(({ job }) => job.spec)).toEqual(specs);
});
