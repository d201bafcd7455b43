// Turn 3 of 8.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RestoreSpec } from '../../../src/jobs/job.ts';
import { MOST_QUEUED } from '../../../src/jobs/queue.ts';
import { RETRY_TIMES } from '../../../src/jobs/retry-delay.ts';
import { settle } from '../../support/manual-clock.ts';
import { backupOf, runnerSite, type RunnerSite } from './runner-site.ts';

let site: RunnerSite;

beforeEach(async () => {
  site = await runnerSite();
});
afterEach(async () => {
  await site.remove();
});

const restoreOf = (destination: string): RestoreSpec => ({
  type: 'restore',
  destination,
  snapshot_id: 'snap_9',
  paths: [],
  target: '/restored',
  options: {
    overwrite: 'never',
    dry_run: false,
    verify: true,
    delete_extra: false,
    restore_ownership: false,
  },
});

describe('the queue', () => {
  it('runs one job at a time for each source and for each destination', async () => {
    const { runner, engines, job } = site;
    const first = runner.submit(backupOf('/a', 'one'), 'api');
    const sameDestination = runner.submit(backupOf('/b', 'one'), 'api');
    const sameSource = runner.submit(backupOf('/a', 'two'), 'api');
    const neither = runner.submit(backupOf('/c', 'three'), 'api');
    await settle();
    const statuses = (): readonly string[] =>
      [first, sameDestination, sameSource, neither].map(({ id }) => job(id).status);
    expect(statuses()).toEqual(['running', 'queued', 'queued', 'running']);
    engines.of(first.id).complete();
    await settle();
    expect(statuses()).toEqual(['completed', 'running', 'running', 'running']);
  });

  it('takes restores first, then what somebody waits for, then the rest, each in the order of coming', async () => {
    const { runner, engines } = site;
    const running = runner.submit(backupOf('/running'), 'api');
    await settle();
    const ids = [
      running,
      runner.submit(backupOf('/watched'), 'watch'),
      runner.submit(backupOf('/scheduled'), 'schedule'),
      runner.submit(backupOf('/asked'), 'ui'),
      runner.submit(restoreOf('default'), 'cli'),
      runner.submit(backupOf('/asked-later'), 'api'),
    ].map(({ id }) => id);
    const order: number[] = [];
    await settle();
    for (let [engine] = engines.running; engine !== undefined; [engine] = engines.running) {
      order.push(ids.indexOf(engine.job.id));
      engine.complete();
      await settle();
    }
    expect(order).toEqual([0, 4, 3, 5, 1, 2]);
  });

  it('is read a few times only when many jobs are added to it at once', async () => {
    const read = vi.spyOn(site.state.database.jobs, 'records');
    for (let count = 0; count < 200; count += 1) site.runner.submit(backupOf(`/${count}`), 'schedule');
    await settle();
    expect(site.state.database.jobs.count('queued')).toBe(199);
    expect(read.mock.calls.filter(([status]) => status === 'queued').length).toBeLessThan(10);
    read.mockRestore();
  });

  it('holds a hundred waiting jobs and no more', async () => {
    const { runner } = site;
    for (let count = 0; count <= MOST_QUEUED; count += 1) {
      runner.submit(backupOf('/a'), 'api');
      await settle();
    }
    expect(() => runner.submit(backupOf('/a'), 'api')).toThrow(
      expect.objectContaining({ code: 'QUEUE_FULL', details: { limit: MOST_QUEUED } }),
    );
    // What waits already stands for it.
    expect(runner.submit(backupOf('/a'), 'watch').status).toBe('queued');
  });

  it('lets one waiting job stand for all that would do the same, unless somebody asked in person', async () => {
    const { runner, job } = site;
    const running = runner.submit(backupOf('/a'), 'watch');
    await settle();
    const waits = runner.submit(backupOf('/a'), 'watch');
    expect(waits.id).not.toBe(running.id);
    expect(runner.submit(backupOf('/a'), 'schedule').id).toBe(waits.id);
    expect(runner.submit(backupOf('/other'), 'schedule').id).not.toBe(waits.id);
    expect(runner.submit(backupOf('/a'), 'api').id).not.toBe(waits.id);
    expect(job(waits.id).trigger).toBe('watch');
  });

  it('does not let a job stand for later changes that has begun before', async () => {
    const { runner, engines } = site;
    const begun = runner.submit(backupOf('/a'), 'watch');
    await settle();
    engines.of(begun.id).fail('DESTINATION_UNREACHABLE');
    await settle();
    expect(runner.submit(backupOf('/a'), 'watch').id).not.toBe(begun.id);
  });

  it('keeps two jobs for a destination that cannot be reached, however often something changes', async () => {
    const { runner, engines, book, job } = site;
    const tryAll = async (): Promise<void> => {
      await site.pass(RETRY_TIMES.longestMs);
      for (const engine of engines.running) engine.fail('DESTINATION_UNREACHABLE');
      await settle();
    };
    const { id: first } = runner.submit(backupOf('/a'), 'watch');
    await tryAll();
    const { id: second } = runner.submit(backupOf('/a'), 'watch');
    for (let change = 0; change < 5; change += 1) {
      await tryAll();
      expect(runner.submit(backupOf('/a'), change % 2 === 0 ? 'watch' : 'schedule').id).toBe(second);
    }
    expect(book.queued().map(({ job: { id } }) => id)).toEqual([first, second]);
    expect(job(second)).toMatchObject({ started_at: null, waits: { code: 'earlier' } });
    // What somebody asks for has its own turn.
    const { id: asked } = runner.submit(backupOf('/a'), 'api');
    await settle();
    engines.of(asked).complete();
    await site.pass(RETRY_TIMES.longestMs);
    engines.of(first).complete();
    await settle();
    expect(job(second)).toMatchObject({ status: 'running', waiting_for: null });
  });

  it('has room for what somebody asks for, whatever the agent has queued by itself', async () => {
    const { runner } = site;
    await runner.pause(null, false);
    for (let count = 0; count < MOST_QUEUED; count += 1) runner.submit(backupOf(`/${count}`), 'schedule');
    for (let count = 1; count < MOST_QUEUED; count += 1) runner.submit(backupOf('/a'), 'api');
    expect(runner.submit(restoreOf('default'), 'cli').status).toBe('queued');
    expect(() => runner.submit(restoreOf('default'), 'cli')).toThrow(
      expect.objectContaining({ code: 'QUEUE_FULL', details: { limit: MOST_QUEUED } }),
    );
  });

  it('lets jobs that wait for one destination keep none that the agent makes for others from waiting', async () => {
    const { runner } = site;
    await runner.pause(null, false);
    for (let count = 0; count < 2 * MOST_QUEUED; count += 1)
      runner.submit(backupOf(`/${count}`, 'away'), 'watch');
    expect(runner.submit(backupOf('/a'), 'watch').status).toBe('queued');
    // One that waits stands for all that are the same.
    for (let count = 0; count < 2 * MOST_QUEUED; count += 1)
      runner.submit(backupOf(`/${count}`, 'away'), 'schedule');
    expect(site.book.queued()).toHaveLength(2 * MOST_QUEUED + 1);
  });

  it('makes ids that rise, even when the clock is set back', () => {
    const { runner, clock } = site;
    const ids = [0, -3_600_000, 0].map((jump) => {
      clock.jump(jump);
      return runner.submit(backupOf('/a'), 'api').id;
    });
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(3);
  });
});

describe('finished jobs', () => {
  const DAY = 86_400_000;

  it('lose what they said after three months, and are forgotten after a year; waiting ones are not', async () => {
    const { runner, engines, state, clock } = site;
    const { jobs, jobLog } = state.database;
    const done = runner.submit(backupOf('/a'), 'api');
    await settle();
    const problem = { path: '/a/x', code: 'READ_ERROR', message: 'denied' };
    engines.of(done.id).say({ kind: 'problem', problem });
    engines.of(done.id).complete();
    await settle();
    const { id: later } = runner.submit(backupOf('/a'), 'api');
    await settle();
    engines.of(later).complete();
    await settle();
    await runner.pause(null, false);
    const waits = runner.submit(backupOf('/b'), 'api');
    jobs.prune(clock.now() + 80 * DAY);
    expect(jobs.get(done.id)?.problems).toEqual([problem]);
    jobs.prune(clock.now() + 100 * DAY);
    expect(jobs.get(done.id)).toMatchObject({ status: 'completed', problems: [] });
    expect(jobLog.list(done.id)).toEqual([]);
    jobs.prune(clock.now() + 500 * DAY);
    expect(jobs.get(done.id)).toBeUndefined();
    // How the source stands goes by the last one.
    expect(jobs.get(later)).toMatchObject({ status: 'completed' });
    expect(jobs.get(waits.id)).toMatchObject({ status: 'queued' });
  });
});

describe('lists of jobs', () => {
  it('are newest first, in pages, by what is asked for', async () => {
    const { runner, engines, state, clock } = site;
    const ids: string[] = [];
    for (const source of ['/a', '/b', '/a', '/c']) {
      ids.push(runner.submit(backupOf(source, `to${source}`), 'api').id);
      await settle();
      await clock.advance(10);
    }
    ids.push(runner.submit(restoreOf('to/a'), 'api').id);
    engines.of(ids[0] ?? '').complete();
    const { jobs } = state.database;
    const found = (request: Partial<Parameters<typeof jobs.page>[0]>): readonly number[] =>
      jobs.page({ limit: 10, ...request }).map(({ id }) => ids.indexOf(id));
    await settle();
    expect(found({})).toEqual([4, 3, 2, 1, 0]);
    expect(found({ limit: 2 })).toEqual([4, 3]);
    expect(found({ limit: 2, before: ids[3] })).toEqual([2, 1]);
    expect(found({ types: ['backup'] })).toEqual([3, 2, 1, 0]);
    expect(found({ source: '/a' })).toEqual([2, 0]);
    expect(found({ destination: 'to/a' })).toEqual([4, 2, 0]);
    expect(found({ status: 'completed' })).toEqual([0]);
    const created = jobs.get(ids[1] ?? '')?.created_at ?? 0;
    expect(found({ createdAfter: created })).toEqual([4, 3, 2]);
    expect(found({ createdBefore: created })).toEqual([0]);
    expect(jobs.newest({ status: 'completed' })?.id).toBe(ids[0]);
    expect(jobs.newest({ status: 'failed' })).toBeUndefined();
  });
});
