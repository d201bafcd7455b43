import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { StateError } from '../../../src/base/errors.ts';
import type { Job, Wait } from '../../../src/jobs/job.ts';
import { RETRY_TIMES } from '../../../src/jobs/retry-delay.ts';
import type { JobHost } from '../../../src/jobs/job-host.ts';
import type { RunnerParts } from '../../../src/jobs/runner.ts';
import { settle } from '../../support/manual-clock.ts';
import { backupOf, runnerSite, type RunnerSite } from './runner-site.ts';

const MINUTE = 60_000;
let site: RunnerSite | undefined;

afterEach(async () => {
  await site?.remove();
  site = undefined;
});

async function begin(setup: Partial<RunnerParts & JobHost> = {}, obedient = true): Promise<RunnerSite> {
  site = await runnerSite(setup, { obedient });
  return site;
}

describe('a job', () => {
  it('runs, shows how far it is, and completes with its snapshot', async () => {
    const { runner, engines, job, clock, ended, state, pass } = await begin();
    const { id, status } = runner.submit(backupOf('/home'), 'api');
    expect(id).toMatch(/^bkp_[0-9A-Z]{26}$/);
    expect(status).toBe('queued');
    await settle();
    expect(job(id)).toMatchObject({ status: 'running', started_at: clock.now(), finished_at: null });
    engines.of(id).say({ kind: 'phase', phase: 'uploading' });
    await pass(2_000);
    engines.of(id).progress(10, 20);
    expect(job(id)).toMatchObject({ phase: 'uploading', size_bytes: 20, duration_ms: 2_000, files_done: 1 });
    engines.of(id).complete({ warnings: 2, result: 'warning', facts: { packs: 4 } });
    await settle();
    expect(job(id)).toMatchObject({
      status: 'completed',
      phase: null,
      result: 'warning',
      snapshot_id: 'snap_1',
      files_done: 3,
      warnings_count: 2,
      attempt: 1,
      duration_ms: 2_000,
      finished_at: clock.now(),
    });
    expect(ended.map((one) => one.id)).toEqual([id]);
    const texts = state.database.jobLog.list(id).map(({ text }) => text);
    expect(texts).toEqual(['Started.', 'Completed: snapshot snap_1.', 'packs: 4']);
  });

  it('says what it waits for while others hold it up, and its log and the agent when that begins', async () => {
    const told: string[] = [];
    const { runner, engines, job, state } = await begin({ heldUp: (_, text) => told.push(text) });
    const { id } = runner.submit(backupOf('/home'), 'api');
    await settle();
    const first = 'Waiting for the store (SlowDown), again in 16 s.';
    const waits = (seconds: number): Wait => ({
      code: 'asked_again',
      params: { whom: 'store', because: 'SlowDown', again_in_seconds: seconds },
    });
    engines.of(id).say({ kind: 'held_up', waitsFor: waits(16) });
    expect(job(id)).toMatchObject({ status: 'running', waiting_for: first, waits: waits(16) });
    engines.of(id).say({ kind: 'held_up', waitsFor: waits(11) });
    expect(job(id).waiting_for).toContain('11 s');
    engines.of(id).say({ kind: 'held_up', waitsFor: null });
    expect(job(id).waiting_for).toBeNull();
    engines.of(id).say({ kind: 'held_up', waitsFor: waits(16) });
    engines.of(id).complete({});
    await settle();
    expect(job(id)).toMatchObject({ status: 'completed', waiting_for: null });
    expect(told).toEqual([first, first]);
    const texts = state.database.jobLog.list(id).map(({ text }) => text);
    expect(texts).toEqual(['Started.', first, first, 'Completed: snapshot snap_1.']);
  });

  it('writes its progress twice a second at most, and the last of it in the end', async () => {
    const { runner, engines, job, book, pass } = await begin();
    const { id } = runner.submit(backupOf('/home'), 'api');
    await settle();
    let events = 0;
    book.feed.watch(() => {
      events += 1;
    });
    for (let step = 1; step <= 100; step += 1) {
      engines.of(id).progress(step);
      await pass(10);
    }
    // 1 s: the first at once, then one after each 450 ms.
    expect(events).toBe(3);
    engines.of(id).progress(1_000);
    await pass(450);
    expect(job(id).size_bytes).toBe(1_000);
  });

  it('keeps the problems of its last attempt', async () => {
    const { runner, engines, state, pass } = await begin();
    const { id } = runner.submit(backupOf('/home'), 'api');
    const problem = { path: '/home/a', code: 'READ_ERROR', message: 'denied' };
    await settle();
    engines.of(id).say({ kind: 'problem', problem });
    engines.of(id).die();
    await settle();
    await pass(MINUTE);
    for (let count = 0; count < 1_010; count += 1) engines.of(id).say({ kind: 'problem', problem });
    engines.of(id).progress(0);
    expect(state.database.jobs.get(id)).toMatchObject({ warnings_count: 1_010 });
    expect(state.database.jobs.get(id)?.problems).toHaveLength(1_000);
  });

  it('fails with what the engine says', async () => {
    const { runner, engines, job, ended } = await begin();
    const { id } = runner.submit(backupOf('/home'), 'api');
    await settle();
    engines.of(id).fail('WRONG_PASSPHRASE');
    await settle();
    expect(job(id)).toMatchObject({ status: 'failed', error: { code: 'WRONG_PASSPHRASE' } });
    expect(ended).toHaveLength(1);
  });

  it('fails with what is wrong when it cannot be prepared', async () => {
    const { runner, job } = await begin({
      prepare: async () => {
        await Promise.resolve();
        throw new StateError('READ_ERROR', 'The password file is gone', { hint: 'Put it back.' });
      },
    });
    const { id } = runner.submit(backupOf('/home'), 'api');
    await settle();
    expect(job(id)).toMatchObject({
      status: 'failed',
      error: { code: 'READ_ERROR', message: 'The password file is gone. Put it back.' },
    });
  });

  it('goes on in a repository once it is remembered which one that is', async () => {
    const opened: string[] = [];
    const { runner, engines } = await begin({ opened: ({ id }, repository) => opened.push(id, repository) });
    const { id } = runner.submit(backupOf('/home'), 'api');
    await settle();
    expect(engines.of(id).mayGoOn).toBe(false);
    engines.of(id).say({ kind: 'opened', repositoryId: 'r' });
    expect(opened).toEqual([id, 'r']);
    expect(engines.of(id).mayGoOn).toBe(true);
  });
});

describe('a repository that cannot be remembered', () => {
  const full = new StateError('WRITE_ERROR', 'The disk is full', {
    cause: Object.assign(new Error('no space'), { code: 'ENOSPC' }),
  });
  const opened = (): never => {
    throw full;
  };

  it('stops a backup before anything is stored there, which waits until the disk takes writes', async () => {
    const { runner, engines, job, troubles } = await begin({ opened });
    const { id } = runner.submit(backupOf('/home'), 'api');
    await settle();
    const engine = engines.of(id);
    engine.say({ kind: 'opened', repositoryId: 'r' });
    await settle();
    expect(engine).toMatchObject({ mayGoOn: false, asked: 'stop', isRunning: false });
    expect(job(id)).toMatchObject({ status: 'queued', error: { code: 'INSUFFICIENT_STORAGE' } });
    expect(job(id).waiting_for).toContain('state directory');
    expect(job(id).error?.message).toContain('Nothing was backed up');
    expect(troubles).toEqual([full]);
  });

  it('keeps no restore from being made', async () => {
    const { runner, engines, job } = await begin({ opened });
    const options = { overwrite: 'never', dry_run: false, verify: true } as const;
    const { id } = runner.submit(
      {
        type: 'restore',
        destination: 'default',
        snapshot_id: 's',
        paths: [],
        target: '/to',
        options: { ...options, delete_extra: false, restore_ownership: false },
      },
      'api',
    );
    await settle();
    engines.of(id).say({ kind: 'opened', repositoryId: 'r' });
    expect(engines.of(id).mayGoOn).toBe(true);
    engines.of(id).complete();
    await settle();
    expect(job(id).status).toBe('completed');
  });
});

describe('an engine process that dies', () => {
  it('costs three attempts that come to nothing, then the job fails', async () => {
    const { runner, engines, job, pass } = await begin();
    const { id } = runner.submit(backupOf('/home'), 'api');
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await pass(MINUTE);
      expect(job(id)).toMatchObject({ status: 'running', attempt });
      engines.of(id).die();
      await settle();
    }
    expect(job(id)).toMatchObject({ status: 'failed', attempt: 3, error: { code: 'JOB_INTERRUPTED' } });
  });

  it('is forgiven whenever something new was stored', async () => {
    const { runner, engines, job, pass } = await begin();
    const { id } = runner.submit(backupOf('/home'), 'api');
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      await pass(MINUTE);
      expect(job(id)).toMatchObject({ status: 'running', attempt });
      if (attempt % 3 === 0) engines.of(id).progress(1);
      engines.of(id).die();
      await settle();
    }
    expect(job(id).status).toBe('queued');
  });

  it('counts across a kill of the agent, and a planned stop does not count', async () => {
    const here = await begin();
    const { id } = here.runner.submit(backupOf('/home'), 'api');
    await settle();
    await here.crash();
    expect(here.job(id)).toMatchObject({ status: 'queued', attempt: 2 });
    for (let stop = 0; stop < 4; stop += 1) {
      await here.pass(MINUTE);
      expect(here.job(id).status).toBe('running');
      await here.restart();
      expect(here.job(id)).toMatchObject({ attempt: 2 });
    }
    await here.pass(MINUTE);
    await here.crash();
    await here.pass(MINUTE);
    await here.crash();
    expect(here.job(id)).toMatchObject({ status: 'failed', error: { code: 'JOB_INTERRUPTED' } });
    expect(here.ended.map((job) => job.id)).toEqual([id]);
  });
});

describe('a machine that goes down', () => {
  it('costs no attempt that counts, however often', async () => {
    let boot = 1;
    const here = await begin({ boot: () => `boot ${boot}` });
    const { id } = here.runner.submit(backupOf('/home'), 'api');
    for (let cut = 1; cut <= 5; cut += 1) {
      await here.pass(MINUTE);
      expect(here.job(id)).toMatchObject({ status: 'running', attempt: cut });
      boot += 1;
      await here.crash();
    }
    await here.pass(MINUTE);
    expect(here.job(id)).toMatchObject({ status: 'running', attempt: 6, error: null });
    expect(here.state.database.jobLog.list(id).map(({ text }) => text)).toContain(
      'The machine was shut down or crashed; the job continues.',
    );
  });
});

describe('canceling', () => {
  it('ends a waiting job at once, and a running one when its engine has stopped', async () => {
    const { runner, engines, job } = await begin({}, false);
    const first = runner.submit(backupOf('/a'), 'api');
    const second = runner.submit(backupOf('/b'), 'api');
    await settle();
    expect(runner.cancel(second.id)).toMatchObject({ status: 'canceled' });
    expect(runner.cancel(first.id)).toMatchObject({ status: 'running' });
    expect(engines.of(first.id).asked).toBe('cancel');
    engines.of(first.id).giveUp();
    await settle();
    expect(job(first.id)).toMatchObject({ status: 'canceled', snapshot_id: null });
    expect(() => runner.cancel(first.id)).toThrow(
      expect.objectContaining({ code: 'JOB_NOT_CANCELABLE', hint: 'There is nothing to cancel.' }),
    );
    expect(() => runner.cancel('bkp_0')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });

  it('comes too late when the snapshot is already there', async () => {
    const { runner, engines, job } = await begin({}, false);
    const { id } = runner.submit(backupOf('/a'), 'api');
    await settle();
    runner.cancel(id);
    engines.of(id).complete();
    await settle();
    expect(job(id)).toMatchObject({ status: 'completed', snapshot_id: 'snap_1' });
  });

  it('stops an engine that does not answer, whatever becomes of it', async () => {
    const { runner, engines, job, pass } = await begin({}, false);
    const { id } = runner.submit(backupOf('/a'), 'api');
    await settle();
    runner.cancel(id);
    await pass(29_000);
    expect(engines.of(id).asked).toBe('cancel');
    await pass(1_000);
    expect(engines.of(id).asked).toBe('stop');
    engines.of(id).die();
    await settle();
    expect(job(id).status).toBe('canceled');
  });

  it('outlives a crash of the agent', async () => {
    const here = await begin({}, false);
    const { id } = here.runner.submit(backupOf('/a'), 'api');
    await settle();
    here.runner.cancel(id);
    await here.crash();
    expect(here.job(id).status).toBe('canceled');
  });
});

describe('a pause', () => {
  it('starts nothing, lets what runs go on, and ends at its time, restarts or not', async () => {
    const here = await begin();
    const first = here.runner.submit(backupOf('/a'), 'api');
    await settle();
    await here.runner.pause(here.clock.now() + 10 * MINUTE, false);
    expect(here.engines.of(first.id).asked).toBe('nothing');
    here.engines.of(first.id).complete();
    const second = here.runner.submit(backupOf('/b'), 'api');
    await here.pass(MINUTE);
    await here.restart();
    expect(here.runner.pausedUntil).toEqual({ until: here.clock.now() + 9 * MINUTE });
    await here.pass(9 * MINUTE - 1);
    expect(here.job(second.id).status).toBe('queued');
    await here.pass(1);
    expect(here.job(second.id).status).toBe('running');
    expect(here.runner.pausedUntil).toBeUndefined();
    await here.restart();
    expect(here.runner.pausedUntil).toBeUndefined();
  });

  it('is what every kind of job waits for, as all its readers learn at once', async () => {
    const { runner, job, clock, state, pass } = await begin();
    const until = clock.now() + 10 * MINUTE;
    const early = runner.submit(backupOf('/a'), 'api');
    await settle();
    const behind = runner.submit(backupOf('/b'), 'schedule');
    await settle();
    expect(job(behind.id).waits?.code).toBe('turn');
    await runner.pause(until, false);
    await settle();
    const waits = { code: 'paused', params: { until: new Date(until).toISOString() } };
    const waitsFor = `Paused until ${waits.params.until.slice(0, 16)}Z.`;
    const specs = [{ type: 'check', destination: 'other', read_data: 0 } as const, backupOf('/c', 'third')];
    const asked = specs.map((spec) => runner.submit(spec, 'api'));
    for (const one of [...asked, job(behind.id)])
      expect(one).toMatchObject({ status: 'queued', waits, waiting_for: waitsFor });
    const [{ id } = behind] = asked;
    expect(state.database.jobLog.list(id).map(({ text }) => text)).toEqual([waitsFor]);
    await runner.pause(null, false);
    await settle();
    expect(job(id)).toMatchObject({
      waits: { params: { until: null } },
      waiting_for: 'Paused until you resume it.',
    });
    expect(job(early.id)).toMatchObject({ status: 'running', waits: null });
    runner.resume();
    await pass(0);
    expect(job(id)).toMatchObject({ status: 'running', waits: null, waiting_for: null });
    expect(job(behind.id).waits?.code).toBe('turn');
  });

  it('stops what runs when told to, and it goes on afterwards', async () => {
    const { runner, job } = await begin();
    const { id } = runner.submit(backupOf('/a'), 'api');
    await settle();
    await runner.pause(null, true);
    expect(job(id)).toMatchObject({ status: 'queued', attempt: 1 });
    runner.resume();
    await settle();
    expect(job(id)).toMatchObject({ status: 'running', attempt: 1 });
  });
});

describe('what passes by itself', () => {
  it('is waited for, longer each time, and given up after a day', async () => {
    const { runner, engines, job, clock, book, pass } = await begin();
    const { id } = runner.submit(backupOf('/a'), 'schedule');
    await settle();
    for (let failures = 0; failures < RETRY_TIMES.giveUpFailures - 1; failures += 1) {
      engines.of(id).fail('DESTINATION_UNREACHABLE');
      await settle();
      expect(job(id)).toMatchObject({ status: 'queued', error: { code: 'DESTINATION_UNREACHABLE' } });
      expect(job(id).waiting_for).toContain('cannot be reached');
      const wait = (book.record(id).bookkeeping.retryAt ?? 0) - clock.now();
      const most = Math.min(RETRY_TIMES.longestMs, RETRY_TIMES.firstMs * 2 ** failures);
      expect(wait).toBeGreaterThanOrEqual(most / 2);
      expect(wait).toBeLessThanOrEqual(most);
      await pass(wait - 1);
      expect(job(id).status).toBe('queued');
      await pass(1);
      expect(job(id)).toMatchObject({ status: 'running', attempt: failures + 2, waiting_for: null });
    }
    await pass(RETRY_TIMES.giveUpMs);
    engines.of(id).fail('DESTINATION_UNREACHABLE');
    await settle();
    expect(job(id)).toMatchObject({ status: 'failed', error: { code: 'DESTINATION_UNREACHABLE' } });
  });

  it('is a state directory that takes no writes for now, whatever could not be written there', async () => {
    const { runner, engines, job, pass } = await begin();
    const { id } = runner.submit(backupOf('/a'), 'watch');
    await settle();
    engines.of(id).fail('WRITE_ERROR', { state_unwritable: true });
    await settle();
    expect(job(id)).toMatchObject({ status: 'queued', error: { code: 'WRITE_ERROR' } });
    expect(job(id).waiting_for).toContain('state directory');
    await pass(RETRY_TIMES.firstMs);
    expect(job(id)).toMatchObject({ status: 'running', attempt: 2 });
  });

  it('is not given up because the machine slept for days after the first try', async () => {
    const { runner, engines, job, clock, pass } = await begin();
    const { id } = runner.submit(backupOf('/a'), 'schedule');
    await settle();
    engines.of(id).fail('DESTINATION_UNREACHABLE');
    await settle();
    clock.jump(2 * RETRY_TIMES.giveUpMs);
    await pass(RETRY_TIMES.firstMs);
    engines.of(id).fail('DESTINATION_UNREACHABLE');
    await settle();
    expect(job(id)).toMatchObject({ status: 'queued', attempt: 3 });
  });

  it('is not tried sooner than the store wants, within the longest wait', async () => {
    const { runner, engines, clock, book, pass } = await begin();
    const { id } = runner.submit(backupOf('/a'), 'schedule');
    await settle();
    for (const [wanted, longest] of [
      [5 * MINUTE, 5 * MINUTE],
      [86_400_000, RETRY_TIMES.longestMs],
    ] as const) {
      engines.of(id).fail('DESTINATION_UNREACHABLE', { retryAfterMs: wanted });
      await settle();
      expect((book.record(id).bookkeeping.retryAt ?? 0) - clock.now()).toBe(longest);
      await pass(longest);
    }
  });

  it('begins anew once something was stored', async () => {
    const { runner, engines, job, book, pass } = await begin();
    const { id } = runner.submit(backupOf('/a'), 'schedule');
    await settle();
    for (let failures = 0; failures < RETRY_TIMES.giveUpFailures; failures += 1) {
      engines.of(id).fail('DESTINATION_UNREACHABLE');
      await pass(RETRY_TIMES.longestMs);
    }
    await pass(RETRY_TIMES.giveUpMs);
    engines.of(id).progress(1);
    engines.of(id).fail('DESTINATION_UNREACHABLE');
    await settle();
    expect(job(id).status).toBe('queued');
    expect(book.record(id).bookkeeping.retries).toBe(1);
  });

  it('does not keep a job waiting for a clock that was wrong', async () => {
    const { runner, engines, job, clock, pass } = await begin();
    clock.jump(365 * 86_400_000);
    const { id } = runner.submit(backupOf('/a'), 'schedule');
    await settle();
    engines.of(id).fail('DESTINATION_UNREACHABLE');
    await settle();
    clock.jump(-365 * 86_400_000);
    await pass(30_000);
    expect(job(id).status).toBe('running');
  });

  it('shows what a job waits for, and starts it when that has passed', async () => {
    let reason: Wait | null = { code: 'on_battery', params: {} };
    const { runner, job, pass } = await begin({ waitingReason: async () => await Promise.resolve(reason) });
    const { id } = runner.submit(backupOf('/a'), 'schedule');
    await settle();
    expect(job(id)).toMatchObject({ status: 'queued', waits: reason });
    reason = null;
    await pass(30_000);
    expect(job(id)).toMatchObject({ status: 'running', waiting_for: null });
  });

  it('does not keep a job from running when it cannot be found out', async () => {
    const { runner, job, troubles } = await begin({
      waitingReason: async () => await Promise.reject(new Error('no such time zone')),
    });
    const { id } = runner.submit(backupOf('/a'), 'schedule');
    await settle();
    expect(job(id).status).toBe('running');
    expect(troubles).toHaveLength(1);
  });
});

describe('the runner', () => {
  it('tells that a job is over though what it found out cannot be kept', async () => {
    const { runner, engines, ended, troubles } = await begin({
      completed: () => {
        throw new Error('there is no such destination');
      },
    });
    const { id } = runner.submit(backupOf('/a'), 'api');
    await settle();
    engines.of(id).complete();
    await settle();
    expect(ended.map((job) => job.id)).toEqual([id]);
    expect(troubles).toHaveLength(1);
  });

  it('looks again now and then, not all the time, while a job waits for its place', async () => {
    let looks = 0;
    const { runner, engines, job, pass } = await begin({
      uploadLimit: () => {
        looks += 1;
        return null;
      },
    });
    const first = runner.submit(backupOf('/a'), 'api');
    await settle();
    engines.of(first.id).fail('DESTINATION_UNREACHABLE');
    const second = runner.submit(backupOf('/b'), 'api');
    await pass(60_000);
    expect([job(first.id).status, job(second.id).status]).toEqual(['queued', 'running']);
    looks = 0;
    await pass(300_000);
    expect(looks).toBe(10);
  });

  it('shares a limit with what begins beside it, and has all of it again afterwards', async () => {
    const { runner, engines, pass } = await begin({ uploadLimit: () => 9_000 });
    const first = runner.submit(backupOf('/a', 'one'), 'schedule');
    await settle();
    const second = runner.submit(backupOf('/b', 'two'), 'schedule');
    await settle();
    expect(engines.of(first.id).limits.at(-1)).toBe(4_500);
    expect(engines.of(second.id).job.destination.uploadLimit).toBe(4_500);
    engines.of(first.id).complete();
    await pass(RETRY_TIMES.firstMs);
    expect(engines.of(second.id).limits.at(-1)).toBe(9_000);
  });

  it('waits where the memory is for no more at once, unless a person waits for it', async () => {
    const { runner, engines, job } = await begin({ mostAtOnce: 1 });
    const first = runner.submit(backupOf('/a', 'one'), 'schedule');
    const second = runner.submit(backupOf('/b', 'two'), 'watch');
    await settle();
    expect(job(first.id).status).toBe('running');
    expect(job(second.id)).toMatchObject({ status: 'queued', waits: { code: 'turn' } });
    const asked = runner.submit(backupOf('/c', 'three'), 'api');
    await settle();
    expect(job(asked.id).status).toBe('running');
    engines.of(first.id).complete();
    engines.of(asked.id).complete();
    await settle();
    expect(job(second.id)).toMatchObject({ status: 'running', waiting_for: null });
  });

  it('tells a running engine of another limit', async () => {
    let limit: number | null = null;
    const { runner, engines, pass } = await begin({ uploadLimit: () => limit });
    const { id } = runner.submit(backupOf('/a'), 'api');
    await pass(60_000);
    limit = 5_000;
    await pass(60_000);
    expect(engines.of(id).limits).toEqual([5_000]);
  });

  it('accepts nothing once it is closed', async () => {
    const here = await begin();
    await here.runner.close();
    expect(() => here.runner.submit(backupOf('/a'), 'api')).toThrow(
      expect.objectContaining({ code: 'SHUTTING_DOWN' }),
    );
  });

  it('writes the end of a job as soon as it can be written', async () => {
    const here = await begin();
    const { id } = here.runner.submit(backupOf('/a'), 'api');
    await settle();
    const { journal } = here.state;
    const { append } = journal;
    Object.assign(journal, {
      append: () => {
        throw new StateError('WRITE_ERROR', 'The disk is full');
      },
    });
    here.engines.of(id).complete();
    await settle();
    expect(here.job(id).status).toBe('running');
    expect(here.troubles[0]).toMatchObject({ code: 'WRITE_ERROR' });
    Object.assign(journal, { append });
    expect(here.ended).toEqual([]);
    await here.pass(MINUTE);
    expect(here.job(id)).toMatchObject({ status: 'completed', attempt: 1 });
    expect(here.ended.map((job) => job.id)).toEqual([id]);
    expect(here.troubles).toHaveLength(1);
  });

  it('says once that the end of a job cannot be written, as it is to be', async () => {
    const delayed: Job[] = [];
    const here = await begin({ endDelayed: (job) => void delayed.push(job) });
    const { id } = here.runner.submit(backupOf('/a'), 'api');
    await settle();
    const { journal } = here.state;
    const { append } = journal;
    Object.assign(journal, {
      append: () => {
        throw new StateError('WRITE_ERROR', 'The disk is full');
      },
    });
    here.engines.of(id).fail('WRONG_PASSPHRASE');
    await here.pass(MINUTE);
    expect(delayed).toMatchObject([{ id, status: 'failed', error: { code: 'WRONG_PASSPHRASE' } }]);
    expect(here.job(id).status).toBe('running');
    Object.assign(journal, { append });
    await here.pass(MINUTE);
    expect(here.job(id).status).toBe('failed');
    expect(delayed).toHaveLength(1);
  });

  it('ends together with what is noted of its end, or not yet', async () => {
    let isFull = true;
    const kept: string[] = [];
    const here = await begin({
      keepEnd: (job) => {
        if (isFull) throw new StateError('WRITE_ERROR', 'The disk is full');
        kept.push(job.status);
      },
    });
    const { id } = here.runner.submit(backupOf('/a'), 'api');
    await settle();
    here.engines.of(id).complete();
    await settle();
    expect(here.job(id).status).toBe('running');
    isFull = false;
    await here.pass(MINUTE);
    expect([here.job(id).status, ...kept]).toEqual(['completed', 'completed']);
  });

  it('waits for the end of a job as long as it is asked to', async () => {
    const { runner, engines, book, pass } = await begin();
    const { signal } = new AbortController();
    const { id } = runner.submit(backupOf('/a'), 'api');
    await settle();
    const short = book.waitFor(id, 1_000, signal);
    const long = book.waitFor(id, 60_000, signal);
    await pass(1_000);
    await expect(short).resolves.toMatchObject({ status: 'running' });
    engines.of(id).complete();
    await expect(long).resolves.toMatchObject({ status: 'completed' });
  });
});

describe('hooks', () => {
  const hooks = { before: null, after: null, timeoutSeconds: 5, onFailure: 'fail' as const };
  const real = { clock: systemClock };

  /** Processes are real here, and so is the time they take. */
  async function until(here: RunnerSite, id: string, holds: (job: Job) => boolean): Promise<void> {
    while (!holds(here.job(id))) await delay(5);
  }
  const lines = (here: RunnerSite, id: string): readonly string[] =>
    here.state.database.jobLog.list(id).map(({ text }) => text);

  it('are run before and after, and told how it went', async () => {
    const show = 'echo "$HOLDFAST_JOB_TYPE $HOLDFAST_SOURCE $HOLDFAST_STATUS"';
    const here = await begin({ ...real, hooksOf: () => ({ ...hooks, before: show, after: show }) });
    const { id } = here.runner.submit(backupOf('/a'), 'api');
    while (here.engines.running.length === 0) await delay(5);
    here.engines.of(id).complete();
    await until(here, id, () => lines(here, id).length === 4);
    expect(lines(here, id)).toEqual([
      'Started.',
      'backup /a running',
      'Completed: snapshot snap_1.',
      'backup /a completed',
    ]);
  });

  it('that fail fail the job before it begins, or are only noted', async () => {
    const here = await begin({
      ...real,
      hooksOf: ({ spec }) => ({
        ...hooks,
        before: 'exit 3',
        onFailure: spec.type === 'backup' && spec.source === '/strict' ? 'fail' : 'warn',
      }),
    });
    const strict = here.runner.submit(backupOf('/strict', 'one'), 'api');
    const lenient = here.runner.submit(backupOf('/lenient', 'two'), 'api');
    await until(here, strict.id, ({ status }) => status === 'failed');
    expect(here.job(strict.id).error).toMatchObject({
      code: 'HOOK_FAILED',
      message: expect.stringContaining('code 3'),
    });
    while (here.engines.running.length === 0) await delay(5);
    expect(here.engines.of(lenient.id).isRunning).toBe(true);
    const said = 'The command before the job ended with code 3: exit 3';
    expect(lines(here, lenient.id)).toContain(said);
    here.engines.of(lenient.id).complete();
    await until(here, lenient.id, ({ status }) => status === 'completed');
    // What the command was to make may be missing from the snapshot: nobody is told that all is well.
    expect(here.job(lenient.id)).toMatchObject({ result: 'warning', warnings_count: 1 });
    expect(here.state.database.jobs.get(lenient.id)?.problems).toEqual([
      { path: '/lenient', code: 'HOOK_FAILED', message: said },
    ]);
  });

  it('that fail afterwards are a warning of the job that has ended, told once', async () => {
    const here = await begin({ ...real, hooksOf: () => ({ ...hooks, after: 'exit 3' }) });
    const { id } = here.runner.submit(backupOf('/a'), 'api');
    while (here.engines.running.length === 0) await delay(5);
    here.engines.of(id).complete();
    await until(here, id, ({ result }) => result === 'warning');
    const message = 'The command after the job ended with code 3: exit 3';
    expect(lines(here, id)).toContain(message);
    const job = here.state.database.jobs.get(id);
    expect(job).toMatchObject({
      status: 'completed',
      warnings_count: 1,
      problems: [{ path: '/a', code: 'HOOK_FAILED', message }],
    });
    expect([here.ended.map(({ result }) => result), here.warned.map(({ result }) => result)]).toEqual([
      ['success'],
      ['warning'],
    ]);
    expect(
      here.state.database.events.after(0, id, 100).filter(({ kind }) => kind === 'job.finished'),
    ).toHaveLength(1);
    expect(here.troubles).toEqual([]);
  });

  it('are for their source: another one that shares its destination does not wait for them', async () => {
    const here = await begin({
      ...real,
      hooksOf: ({ spec }) =>
        spec.type === 'backup' && spec.source === '/slow'
          ? { ...hooks, before: 'sleep 0.3', after: 'sleep 60', timeoutSeconds: 60 }
          : null,
    });
    const [slow, quick, last] = ['/slow', '/quick', '/last'].map(
      (source) => here.runner.submit(backupOf(source, 'nas'), 'api').id,
    );
    if (slow === undefined || quick === undefined || last === undefined) throw new Error('no job');
    while (here.engines.running.length === 0) await delay(5);
    expect(here.engines.of(quick).isRunning).toBe(true);
    await until(here, last, ({ waits }) => waits?.code === 'turn');
    // Its command is done by now, and nobody else works there meanwhile.
    await delay(500);
    expect(here.engines.running).toHaveLength(1);
    here.engines.of(quick).complete();
    await until(here, quick, ({ status }) => status === 'completed');
    while (here.engines.running.length === 0) await delay(5);
    expect(here.engines.of(slow).isRunning).toBe(true);
    here.engines.of(slow).complete();
    await until(here, slow, ({ status }) => status === 'completed');
    while (here.engines.running.length === 0) await delay(5);
    expect(here.engines.of(last).isRunning).toBe(true);
    expect(here.job(last).waiting_for).toBeNull();
    here.engines.of(last).complete();
    await until(here, last, ({ status }) => status === 'completed');
  });

  it('are stopped when the job is canceled', async () => {
    const here = await begin({
      ...real,
      hooksOf: () => ({ ...hooks, before: 'sleep 60', timeoutSeconds: 60 }),
    });
    const { id } = here.runner.submit(backupOf('/a'), 'api');
    await until(here, id, ({ status }) => status === 'running');
    here.runner.cancel(id);
    await until(here, id, ({ status }) => status === 'canceled');
    expect(here.engines.engines).toEqual([]);
  });
});
