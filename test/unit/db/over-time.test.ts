/** What the state database keeps for charts and history strips, and previews of restores. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/db/database.ts';
import { createJobLogStore } from '../../../src/db/job-log.ts';
import { createJobStore, NO_BOOKKEEPING, type JobStore } from '../../../src/db/jobs.ts';
import { MOST_RUNS } from '../../../src/db/runs.ts';
import { NO_PROGRESS, type Job, type RestorePreview } from '../../../src/jobs/job.ts';
import { BACKUP_SPEC, jobOf } from '../../support/api-jobs.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { databaseSite, type DatabaseSite } from './open-database.ts';

let site: DatabaseSite;

beforeEach(() => {
  site = databaseSite();
});
afterEach(() => {
  site.remove();
});

const DAY = 86_400_000;

function insert(jobs: JobStore, changes: Partial<Job>, spec: Job['spec'] = BACKUP_SPEC): void {
  jobs.insert({ job: jobOf(spec, changes), bookkeeping: NO_BOOKKEEPING });
}

const KIND = { type: 'backup', source: BACKUP_SPEC.source, destination: BACKUP_SPEC.destination } as const;

describe('finished jobs', () => {
  const WEEKLY = { ...BACKUP_SPEC, source: '/weekly', options: { ...BACKUP_SPEC.options, exclude: [] } };
  const DRY = { ...WEEKLY, options: { ...WEEKLY.options, dry_run: true } };

  it('keep the last good and the last failed one of each kind, beside those that are kept of all', () => {
    const database = site.reopen();
    const { jobs } = database;
    insert(jobs, { id: 'bkp_old', status: 'completed', finished_at: 1 }, WEEKLY);
    insert(jobs, { id: 'bkp_good', status: 'completed', finished_at: 2 }, WEEKLY);
    insert(jobs, { id: 'bkp_failed', status: 'failed', finished_at: 3 }, WEEKLY);
    insert(jobs, { id: 'bkp_dry', status: 'completed', finished_at: 4 }, DRY);
    database.transaction(() => {
      for (let number = 1; number <= 20_005; number += 1)
        insert(jobs, { id: `bkp_${number}`, status: 'completed', finished_at: 10 + number });
    });
    const narrow = { ...WEEKLY, options: { ...WEEKLY.options, exclude: ['*'] } };
    insert(jobs, { id: 'bkp_narrow', status: 'completed', finished_at: 20_014 }, narrow);
    insert(
      jobs,
      { id: 'bkp_unread', status: 'completed', result: 'warning', files_done: 0, finished_at: 20_015 },
      WEEKLY,
    );
    const good = (): string | undefined =>
      jobs.newest({ types: ['backup'], status: 'completed', source: '/weekly', good: true })?.id;
    jobs.prune(20_015);
    const newest = (status: Job['status']): string | undefined =>
      jobs.newest({ types: ['backup'], status, source: '/weekly', destination: WEEKLY.destination })?.id;
    expect([newest('completed'), good(), newest('failed')]).toEqual(['bkp_unread', 'bkp_good', 'bkp_failed']);
    expect(['bkp_old', 'bkp_dry', 'bkp_4', 'bkp_5'].map((id) => jobs.record(id)?.job.id)).toEqual([
      undefined,
      undefined,
      undefined,
      'bkp_5',
    ]);
    expect(jobs.count('completed')).toBe(20_004);
    // A clock that was wrong for an hour takes the history, and not how a source stands.
    jobs.prune(500 * DAY);
    expect([newest('completed'), good(), newest('failed')]).toEqual(['bkp_unread', 'bkp_good', 'bkp_failed']);
    expect(jobs.count('completed')).toBe(4);
  });

  it('keep the last failed one for each reason, so that one that found nothing hides none that found damage', () => {
    const { jobs } = site.reopen();
    const spec = { type: 'check', destination: 'nas', read_data: 0 } as const;
    const error = (code: string) => ({ code, message: 'x', details: {} });
    const failed = { type: 'check', status: 'failed' } as const;
    insert(jobs, { ...failed, id: 'chk_1', error: error('CORRUPT_DATA'), finished_at: 1 }, spec);
    insert(jobs, { ...failed, id: 'chk_2', error: error('DESTINATION_UNREACHABLE'), finished_at: 2 }, spec);
    jobs.prune(500 * DAY);
    const newest = (failedBy: readonly string[]): string | undefined =>
      jobs.newest({ types: ['check'], destination: 'nas', failedBy })?.id;
    expect(newest(['CORRUPT_DATA'])).toBe('chk_1');
    expect(newest(['DESTINATION_UNREACHABLE', 'CORRUPT_DATA'])).toBe('chk_2');
    expect(newest([])).toBeUndefined();
    insert(jobs, { type: 'check', id: 'chk_3', status: 'completed', finished_at: 3 }, spec);
    expect(newest(['CORRUPT_DATA'])).toBe('chk_3');
  });
});

describe('what went wrong in jobs, and what they said', () => {
  const problem = { path: '/x', code: 'EACCES', message: 'no' };

  it('goes with the oldest jobs when it is too much, but for the last of each kind', () => {
    site.reopen().close();
    const database = openDatabase(site.path);
    const jobs = createJobStore(database, 100);
    const log = createJobLogStore(database);
    const seldom = { ...BACKUP_SPEC, source: '/seldom' };
    const all = ['seldom', ...Array.from({ length: 40 }, (_, index) => `often-${index}`)];
    for (const [index, id] of all.entries()) {
      const spec = id === 'seldom' ? seldom : BACKUP_SPEC;
      insert(jobs, { id, status: 'completed', finished_at: index + 1 }, spec);
      for (let line = 0; line < 10; line += 1) {
        jobs.addProblem(id, { ...problem, path: `/${line}` });
        log.append(id, [{ at: index, level: 'warn', text: `${line}` }]);
      }
    }
    insert(jobs, { id: 'runs', status: 'running', finished_at: null });
    jobs.addProblem('runs', problem);
    jobs.prune(100);
    // Whole jobs, so that no list says less than there was.
    const left = (id: string): readonly number[] => [
      jobs.get(id)?.problems.length ?? -1,
      log.list(id).length,
    ];
    expect(left('seldom')).toEqual([10, 10]);
    expect(all.slice(1).map(left)).toEqual([
      ...Array.from({ length: 30 }, () => [0, 0]),
      // With the one that runs there is a line too many.
      [0, 10],
      ...Array.from({ length: 9 }, () => [10, 10]),
    ]);
    expect(jobs.get('runs')?.problems).toEqual([problem]);
    database.close();
  });

  it('keeps the first lines and the last ones of a job that says more', () => {
    site.reopen().close();
    const database = openDatabase(site.path);
    insert(createJobStore(database), { id: 'talks', status: 'running', finished_at: null });
    const say = (from: number, to: number): void => {
      const lines = Array.from({ length: to - from }, (_, index) => ({
        at: 0,
        level: 'info' as const,
        text: `${from + index}`,
      }));
      // As after a restart of the agent.
      createJobLogStore(database).append('talks', lines);
    };
    const texts = (): readonly string[] =>
      createJobLogStore(database)
        .list('talks')
        .map(({ text }) => text);
    say(0, 2_001);
    expect(texts()).toEqual(Array.from({ length: 2_001 }, (_, index) => `${index}`));
    say(2_001, 3_500);
    say(3_500, 3_501);
    const kept = texts();
    expect(kept).toHaveLength(2_001);
    expect(kept.slice(998, 1_003)).toEqual(['998', '999', 'Some lines are not kept here.', '2501', '2502']);
    expect(kept.at(-1)).toBe('3500');
    database.close();
  });
});

describe('the runs of a source', () => {
  it('are the last thirty that ended, the oldest first, with what they did', () => {
    const { jobs } = site.reopen();
    for (let number = 1; number <= MOST_RUNS + 5; number += 1)
      insert(jobs, { id: `bkp_${number}`, status: 'completed', finished_at: number });
    const last = {
      id: 'bkp_last',
      status: 'failed',
      finished_at: 1_000,
      duration_ms: 2_500,
      progress: { ...NO_PROGRESS, files_new: 2, files_changed: 3, bytes_uploaded: 4 },
    } as const;
    insert(jobs, last);
    insert(jobs, { id: 'bkp_running', status: 'running' });
    insert(
      jobs,
      { id: 'bkp_other', status: 'completed', finished_at: 999 },
      { ...BACKUP_SPEC, source: '/other' },
    );
    insert(
      jobs,
      { id: 'bkp_far', status: 'completed', finished_at: 999 },
      { ...BACKUP_SPEC, destination: 'far' },
    );
    const dry = { ...BACKUP_SPEC, options: { ...BACKUP_SPEC.options, dry_run: true } };
    insert(jobs, { id: 'bkp_dry', status: 'completed', finished_at: 999 }, dry);
    const runs = jobs.runs(KIND);
    expect(runs).toHaveLength(MOST_RUNS);
    expect(runs.map(({ finishedAt }) => finishedAt)).toEqual(
      runs.map(({ finishedAt }) => finishedAt).toSorted((a, b) => a - b),
    );
    expect(runs.at(-1)).toEqual({
      id: 'bkp_last',
      status: 'failed',
      result: null,
      finishedAt: 1_000,
      durationMs: 2_500,
      filesChanged: 5,
      bytesUploaded: 4,
    });
    expect(runs[0]?.id).toBe(`bkp_${5 + 2}`);
    expect(site.reopen().jobs.runs(KIND)).toEqual(runs);
  });

  it('are asked for anew once a job of them ends, is put back, or is forgotten', () => {
    const database = site.reopen();
    const { jobs } = database;
    const ids = (): readonly string[] => jobs.runs(KIND).map(({ id }) => id);
    insert(jobs, { id: 'bkp_1', status: 'running' });
    expect(ids()).toEqual([]);
    const job = jobOf(BACKUP_SPEC, { id: 'bkp_1', status: 'completed', finished_at: 5 });
    jobs.update({ job, bookkeeping: NO_BOOKKEEPING });
    expect(ids()).toEqual(['bkp_1']);
    insert(jobs, { id: 'bkp_0', status: 'completed', finished_at: 4 });
    expect(ids()).toEqual(['bkp_0', 'bkp_1']);
    // What is undone was never there.
    const undone = (): void =>
      database.transaction(() => {
        insert(jobs, { id: 'bkp_2', status: 'completed', finished_at: 6 });
        expect(ids()).toHaveLength(3);
        throw new Error('undone');
      });
    expect(undone).toThrow('undone');
    expect(ids()).toEqual(['bkp_0', 'bkp_1']);
    jobs.prune(1_000 * DAY);
    expect(ids()).toEqual(['bkp_0']);
  });

  it('are of checks as well, and beside them the last jobs of all that ended', () => {
    const { jobs } = site.reopen();
    for (const [id, at] of [
      ['chk_1', 7],
      ['chk_2', 3],
      ['chk_3', 5],
    ] as const)
      insert(jobs, { id, status: 'completed', finished_at: at }, CHECK);
    insert(jobs, { id: 'bkp_1', status: 'running' });
    expect(jobs.runs({ type: 'check', source: null, destination: 'default' }).at(-1)?.id).toBe('chk_1');
    expect(jobs.lastEnded(2).map(({ id }) => id)).toEqual(['chk_1', 'chk_3']);
  });
});

describe('the newest job', () => {
  it('is that of the table after whatever was written, though answers are kept', () => {
    const database = site.reopen();
    const { jobs } = database;
    const random = seededRandom(8);
    const pick = <T>(of: readonly T[]): T => of[Math.floor(random.next() * of.length)] as T;
    const specs = ['/a', '/b'].flatMap((source) =>
      ['near', 'far'].map((destination) => ({ ...BACKUP_SPEC, source, destination })),
    );
    const statuses = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;
    const filters = [undefined, ...statuses].flatMap((status) =>
      [undefined, '/a'].flatMap((source) =>
        [undefined, 'far'].map((destination) => ({
          types: ['backup'] as const,
          status,
          source,
          destination,
        })),
      ),
    );
    const open: Job[] = [];
    for (let step = 0; step < 150; step += 1) {
      const write = (): void => {
        const known = open.shift();
        if (known === undefined || random.next() < 0.5) {
          const job = jobOf(pick<Job['spec']>(specs), {
            id: `bkp_${step}`,
            status: 'queued',
            created_at: step,
          });
          jobs.insert({ job, bookkeeping: NO_BOOKKEEPING });
          open.push(job, ...(known === undefined ? [] : [known]));
          return;
        }
        const status = pick(statuses);
        const isOver = status !== 'queued' && status !== 'running';
        const job = { ...known, status, files_done: step, finished_at: isOver ? step : null };
        jobs.update({ job, bookkeeping: NO_BOOKKEEPING });
        if (!isOver) open.push(job);
      };
      const before = [...open];
      if (step % 10 === 9) {
        const undone = (): void =>
          database.transaction(() => {
            write();
            throw new Error('undone');
          });
        expect(undone).toThrow('undone');
        open.splice(0, open.length, ...before);
      } else write();
      for (const filter of filters)
        expect(jobs.newest(filter), JSON.stringify({ step, filter })).toEqual(
          jobs.page({ ...filter, limit: 1 })[0],
        );
      for (const status of statuses)
        expect(jobs.count(status)).toBe(jobs.page({ status, limit: 1_000 }).length);
    }
  });
});

const CHECK = { type: 'check', destination: 'default', read_data: 0 } as const;

describe('stored bytes over time', () => {
  it('have one amount a day, the last of it', () => {
    const { storedAmounts } = site.reopen();
    storedAmounts.put('a', { at: DAY, bytes: 1 });
    storedAmounts.put('a', { at: 2 * DAY - 1, bytes: 2 });
    storedAmounts.put('a', { at: 2 * DAY, bytes: 3 });
    storedAmounts.put('b', { at: DAY, bytes: 9 });
    expect(storedAmounts.of('a')).toEqual([
      { at: 2 * DAY - 1, bytes: 2 },
      { at: 2 * DAY, bytes: 3 },
    ]);
    expect(site.reopen().storedAmounts.of('a')).toHaveLength(2);
    expect(site.reopen().storedAmounts.of('nowhere')).toEqual([]);
  });

  it('are kept for three years, one a week after a quarter of a year', () => {
    const { storedAmounts } = site.reopen();
    const days = 4 * 366;
    for (let day = 1; day <= days; day += 1) storedAmounts.put('a', { at: day * DAY, bytes: day });
    storedAmounts.prune(days * DAY);
    const kept = storedAmounts.of('a');
    const first = kept[0]?.bytes ?? 0;
    expect(days - first).toBeGreaterThan(3 * 365 - 7);
    expect(days - first).toBeLessThan(3 * 366 + 7);
    expect(kept.at(-1)?.bytes).toBe(days);
    expect(kept.filter(({ bytes }) => bytes > days - 92)).toHaveLength(92);
    expect(kept.length).toBeLessThan(92 + 3 * 53 + 2);
    const gaps = kept.slice(1).map(({ bytes }, index) => bytes - (kept[index]?.bytes ?? 0));
    expect(Math.max(...gaps)).toBe(7);
  });
});

describe('previews of restores', () => {
  const preview: RestorePreview = {
    filesNew: 1,
    filesOverwritten: 1,
    filesKept: 0,
    filesUnchanged: 0,
    filesDeleted: 0,
    bytes: 5,
    items: [{ path: '/a\ufffd', what: 'overwritten' }],
    isCut: false,
  };

  it('go with their jobs', () => {
    const { jobs, previews } = site.reopen();
    insert(jobs, { id: 'bkp_1', status: 'completed', finished_at: 1 });
    previews.put('bkp_1', preview);
    expect(site.reopen().previews.get('bkp_1')).toEqual(preview);
    insert(site.reopen().jobs, { id: 'bkp_2', status: 'completed', finished_at: 2 });
    site.reopen().jobs.prune(1_000 * DAY);
    expect(site.reopen().previews.get('bkp_1')).toBeUndefined();
  });

  it('are kept of the last fifty', () => {
    const { jobs, previews } = site.reopen();
    for (let number = 1; number <= 60; number += 1) {
      insert(jobs, { id: `bkp_${number}`, status: 'completed', finished_at: number });
      previews.put(`bkp_${number}`, preview);
    }
    expect(previews.get('bkp_10')).toBeUndefined();
    expect(previews.get('bkp_11')).toEqual(preview);
  });
});
