import { afterEach, describe, expect, it } from 'vitest';
import { NOTHING_TO_COPY } from '../../../src/engine/protocol.ts';
import type { PassPart } from '../../../src/jobs/pass.ts';
import type { Job, JobTrigger } from '../../../src/jobs/job.ts';
import { MOST_DEATHS } from '../../../src/jobs/job-states.ts';
import { MOST_QUEUED, placesByName } from '../../../src/jobs/queue.ts';
import { RETRY_TIMES } from '../../../src/jobs/retry-delay.ts';
import type { JobHost } from '../../../src/jobs/job-host.ts';
import type { RunnerParts } from '../../../src/jobs/runner.ts';
import { settle } from '../../support/manual-clock.ts';
import { backupOf, engineJobOf, runnerSite, type RunnerSite } from './runner-site.ts';

let site: RunnerSite | undefined;
/** What the jobs were to do for their passes, by their ids. */
let parts: Map<string, PassPart>;
/** Destinations that are not there. */
let away: Set<string>;

afterEach(async () => {
  await site?.remove();
  site = undefined;
});

async function begin(setup: Partial<RunnerParts & JobHost> = {}): Promise<RunnerSite> {
  parts = new Map();
  away = new Set();
  site = await runnerSite({
    prepare: async (job, part) => {
      parts.set(job.id, part);
      return await Promise.resolve(engineJobOf(job));
    },
    waitingReason: async ({ spec }) =>
      await Promise.resolve(away.has(spec.destination) ? { code: 'destination_absent', params: {} } : null),
    ...setup,
  });
  return site;
}

async function pass(
  { runner }: RunnerSite,
  destinations: readonly string[],
  trigger: JobTrigger = 'schedule',
): Promise<readonly string[]> {
  const jobs = runner.submitPass(
    destinations.map((name) => backupOf('/home', name)),
    trigger,
  );
  await settle();
  return jobs.map(({ id }) => id);
}

const statuses = ({ job }: RunnerSite, ids: readonly string[]): readonly Job['status'][] =>
  ids.map((id) => job(id).status);

/** Whom the job copies from; undefined when it does not. */
function originsOf(id: string): readonly string[] | undefined {
  const part = parts.get(id);
  return part?.kind === 'copies' ? part.from.map((job) => job.id) : undefined;
}

describe('a pass', () => {
  it('has one reader, the first; the others say that they wait, and then copy from it side by side', async () => {
    const here = await begin();
    const ids = await pass(here, ['a', 'b', 'c']);
    const [a = '', b = '', c = ''] = ids;
    expect(statuses(here, ids)).toEqual(['running', 'queued', 'queued']);
    expect([b, c].map((id) => here.job(id).waits?.code)).toEqual(['reader', 'reader']);
    expect(parts.get(a)).toMatchObject({ kind: 'reads', waiting: [{ id: b }, { id: c }] });
    here.engines.of(a).complete();
    await settle();
    expect(statuses(here, ids)).toEqual(['completed', 'running', 'running']);
    expect([originsOf(b), originsOf(c)]).toEqual([[a], [a]]);
    expect(here.job(b).waiting_for).toBeNull();
    // The source is free meanwhile.
    const { id: next } = here.runner.submit(backupOf('/home', 'a'), 'schedule');
    await settle();
    expect(here.job(next).status).toBe('running');
    for (const id of [b, c, next]) here.engines.of(id).complete();
    await settle();
    expect(statuses(here, ids)).toEqual(['completed', 'completed', 'completed']);
    expect(here.troubles).toEqual([]);
  });

  it('is read by the next one when the destination of the first is not there, and copied when it is back', async () => {
    const here = await begin();
    away.add('a');
    const [a = '', b = '', c = ''] = await pass(here, ['a', 'b', 'c']);
    expect(here.job(a).waits?.code).toBe('destination_absent');
    here.engines.of(b).complete();
    await settle();
    here.engines.of(c).complete();
    await settle();
    expect(statuses(here, [a, b, c])).toEqual(['queued', 'completed', 'completed']);
    expect(here.job(a).waits?.code).toBe('destination_absent');
    away.clear();
    here.runner.look();
    await settle();
    expect(here.job(a).status).toBe('running');
    expect(originsOf(a)).toEqual([b, c]);
  });

  it('is read by the next one at once when the reader has to try again, which then copies', async () => {
    const here = await begin();
    const [a = '', b = '', c = ''] = await pass(here, ['a', 'b', 'c']);
    here.engines.of(a).fail('DESTINATION_UNREACHABLE');
    await settle();
    expect(statuses(here, [a, b, c])).toEqual(['queued', 'running', 'queued']);
    expect(here.job(c).waits?.code).toBe('reader');
    expect(here.job(a).waiting_for).toContain('cannot be reached');
    here.engines.of(b).complete();
    await settle();
    here.engines.of(c).complete();
    await here.pass(RETRY_TIMES.firstMs);
    expect(here.job(a).status).toBe('running');
    expect(originsOf(a)).toEqual([b, c]);
  });

  it.each([
    ['fails for good', (here: RunnerSite, id: string) => here.engines.of(id).fail('CORRUPT_DATA'), 'failed'],
    ['is canceled', (here: RunnerSite, id: string) => void here.runner.cancel(id), 'canceled'],
  ])('is read by the next one when the reader %s', async (_how, end, status) => {
    const here = await begin();
    const [a = '', b = '', c = ''] = await pass(here, ['a', 'b', 'c']);
    end(here, a);
    await settle();
    expect(statuses(here, [a, b, c])).toEqual([status, 'running', 'queued']);
    expect(parts.get(b)?.kind).toBe('reads');
  });

  it('is gone on with by the reader whose engine died, and read by the next one when that comes to nothing', async () => {
    const here = await begin();
    const [a = '', b = ''] = await pass(here, ['a', 'b']);
    for (let death = 1; death <= MOST_DEATHS; death += 1) {
      expect(statuses(here, [a, b])).toEqual(['running', 'queued']);
      here.engines.of(a).die();
      await here.pass(RETRY_TIMES.longestDeathMs);
    }
    expect(statuses(here, [a, b])).toEqual(['failed', 'running']);
    expect(parts.get(b)?.kind).toBe('reads');
  });

  it('is read by the next one when the reader that died finds its destination taken', async () => {
    const here = await begin();
    const [a = '', b = ''] = await pass(here, ['a', 'b']);
    const { id: check } = here.runner.submit({ type: 'check', destination: 'a', read_data: 0 }, 'api');
    here.engines.of(a).die();
    await settle();
    expect(statuses(here, [a, b, check])).toEqual(['queued', 'running', 'running']);
  });

  it('has a job that can copy nothing read the source itself, as soon as nobody else does', async () => {
    const here = await begin();
    const [a = '', b = ''] = await pass(here, ['a', 'b']);
    here.engines.of(a).complete();
    await settle();
    const { id: other } = here.runner.submit(backupOf('/home', 'x'), 'schedule');
    await settle();
    here.engines.of(b).fail(NOTHING_TO_COPY);
    await settle();
    expect(here.job(b)).toMatchObject({ status: 'queued', attempt: 2, error: null });
    here.engines.of(other).complete();
    await settle();
    expect(here.job(b).status).toBe('running');
    expect(parts.get(b)?.kind).toBe('reads');
    here.engines.of(b).complete();
    await settle();
    expect(here.job(b).status).toBe('completed');
    expect(here.ended.map(({ id }) => id).sort()).toEqual([a, b, other].sort());
  });
});

describe('hooks of a pass', () => {
  const hooks = { before: 'true', after: 'true', timeoutSeconds: 60, onFailure: 'fail' as const };
  const ran = ({ state }: RunnerSite, id: string): boolean =>
    state.database.jobLog.list(id).some(({ text }) => text === 'ran');

  it('are around its reading, not around copies', async () => {
    const here = await begin({ hooksOf: () => ({ ...hooks, before: 'echo ran', after: null }) });
    const [a = '', b = ''] = await pass(here, ['a', 'b']);
    await here.book.waitFor(a, 0, new AbortController().signal);
    await untilRunning(here, a);
    here.engines.of(a).complete();
    await untilRunning(here, b);
    here.engines.of(b).complete();
    await settle();
    expect([ran(here, a), ran(here, b)]).toEqual([true, false]);
  });

  it('fail all of it when the command before fails, which is run once', async () => {
    const here = await begin({ hooksOf: () => ({ ...hooks, before: 'echo ran; false', after: null }) });
    const ids = await pass(here, ['a', 'b', 'c']);
    await Promise.all(ids.map(async (id) => await ended(here, id)));
    for (const id of ids)
      expect(here.job(id)).toMatchObject({ status: 'failed', error: { code: 'HOOK_FAILED' } });
    expect(ids.map((id) => ran(here, id))).toEqual([true, false, false]);
    expect(here.engines.engines).toEqual([]);
  });
});

describe('the next pass', () => {
  it('takes along the job of a destination that is away, so that it gets the newest', async () => {
    const here = await begin();
    away.add('c');
    const [a = '', b = '', c = ''] = await pass(here, ['a', 'b', 'c']);
    for (const id of [a, b]) {
      here.engines.of(id).complete();
      await settle();
    }
    const second = await pass(here, ['a', 'b', 'c']);
    expect(second[2]).toBe(c);
    expect(second.slice(0, 2)).not.toContain(a);
    for (const id of second.slice(0, 2)) {
      here.engines.of(id).complete({ snapshotId: 'newer' });
      await settle();
    }
    away.clear();
    here.runner.look();
    await settle();
    expect(originsOf(c)).toEqual(second.slice(0, 2));
    expect(here.book.ofPass(here.book.record(a).bookkeeping.pass).map(({ job }) => job.id)).toEqual([a, b]);
  });

  it('is read by one on this machine, though one that was taken along and is far away has waited for longer', async () => {
    const here = await begin({
      placesOf: (spec) => ({ ...placesByName(spec), isFar: spec.destination === 'far' }),
    });
    away.add('far');
    const [near = '', far = ''] = await pass(here, ['near', 'far']);
    here.engines.of(near).complete();
    await settle();
    away.add('near');
    const second = await pass(here, ['near', 'far']);
    expect(second[1]).toBe(far);
    expect(statuses(here, second)).toEqual(['queued', 'queued']);
    away.clear();
    here.runner.look();
    await settle();
    expect(statuses(here, second)).toEqual(['running', 'queued']);
  });

  it('is the one that waits already when nothing of that has begun', async () => {
    const here = await begin();
    for (const name of ['a', 'b']) away.add(name);
    const first = await pass(here, ['a', 'b']);
    expect(await pass(here, ['a', 'b'], 'watch')).toEqual(first);
    expect(await pass(here, ['a', 'b'], 'api')).not.toEqual(first);
  });

  it('leaves alone jobs whose own is being read just now, so that they get it', async () => {
    const here = await begin();
    const [a = '', b = ''] = await pass(here, ['a', 'b']);
    const second = await pass(here, ['a', 'b']);
    expect(second).not.toContain(b);
    here.engines.of(a).complete();
    await settle();
    expect(originsOf(b)).toEqual([a]);
    expect(statuses(here, second)).toEqual(['running', 'queued']);
  });

  it('takes along the job that waits for one from before to a destination that cannot be reached', async () => {
    const here = await begin();
    const work = async (): Promise<void> => {
      await settle();
      for (let { running } = here.engines; running.length > 0; { running } = here.engines) {
        for (const engine of running)
          if (engine.job.destination.name === 'cloud') engine.fail('DESTINATION_UNREACHABLE');
          else engine.complete();
        await settle();
      }
    };
    for (let number = 0; number < 6; number += 1) {
      await pass(here, ['disk', 'cloud'], 'watch');
      await work();
      await here.pass(RETRY_TIMES.firstMs);
      await work();
    }
    expect(here.book.queued()).toHaveLength(2);
  });

  it('reads anew for those that have left the one who read before', async () => {
    const here = await begin();
    away.add('b').add('c');
    const [a = '', b, c] = await pass(here, ['a', 'b', 'c']);
    here.engines.of(a).complete();
    await settle();
    const again = await pass(here, ['b', 'c'], 'watch');
    expect(again).toEqual([b, c]);
    away.clear();
    here.runner.look();
    await settle();
    expect(originsOf(again[0] ?? '')).toBeUndefined();
    expect(parts.get(again[0] ?? '')).toMatchObject({ kind: 'reads' });
  });

  it.each([true, false])(
    'does not stand for a backup by itself to one of its destinations once another one has begun to read (or read: %s)',
    async (isRead) => {
      const here = await begin();
      away.add('b');
      const [a = '', b = ''] = await pass(here, ['a', 'b']);
      if (isRead) {
        here.engines.of(a).complete();
        await settle();
      }
      const alone = here.runner.submit(backupOf('/home', 'b'), 'schedule');
      expect(alone.id).not.toBe(b);
      expect(here.runner.submit(backupOf('/home', 'b'), 'schedule').id).toBe(alone.id);
    },
  );

  it('is refused as a whole when there is no room in the queue for all of it', async () => {
    const here = await begin();
    await here.runner.pause(null, false);
    for (let number = 2; number < MOST_QUEUED; number += 1) here.runner.submit(backupOf(`/${number}`), 'api');
    expect(() =>
      here.runner.submitPass(
        ['a', 'b', 'c'].map((name) => backupOf('/home', name)),
        'api',
      ),
    ).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }));
    expect(here.book.queued()).toHaveLength(MOST_QUEUED - 2);
    expect(await pass(here, ['a', 'b'])).toHaveLength(2);
  });
});

describe('an agent that is killed in the middle of a pass', () => {
  it('goes on with what is left of it', async () => {
    const here = await begin();
    const [a = '', b = '', c = ''] = await pass(here, ['a', 'b', 'c']);
    here.engines.of(a).complete();
    await settle();
    here.engines.of(b).complete();
    await settle();
    expect(statuses(here, [a, b, c])).toEqual(['completed', 'completed', 'running']);
    await here.crash();
    await here.pass(RETRY_TIMES.firstDeathMs);
    expect(here.job(c)).toMatchObject({ status: 'running', attempt: 2 });
    expect(originsOf(c)).toEqual([a, b]);
  });

  it('has the source read by the one that was killed, which has stored some of it', async () => {
    const here = await begin();
    const [a = '', b = ''] = await pass(here, ['a', 'b']);
    await here.crash();
    await settle();
    expect(statuses(here, [a, b])).toEqual(['queued', 'queued']);
    await here.pass(RETRY_TIMES.firstDeathMs);
    expect(statuses(here, [a, b])).toEqual(['running', 'queued']);
    expect(parts.get(a)?.kind).toBe('reads');
  });

  it('has it read by the next one when the destination of that one is gone after the start', async () => {
    const here = await begin();
    const [a = '', b = ''] = await pass(here, ['a', 'b']);
    away.add('a');
    await here.crash();
    await here.pass(RETRY_TIMES.firstDeathMs);
    expect(statuses(here, [a, b])).toEqual(['queued', 'running']);
    here.engines.of(b).complete();
    away.clear();
    await here.pass(RETRY_TIMES.firstDeathMs);
    here.runner.look();
    await settle();
    expect(originsOf(a)).toEqual([b]);
  });
});

async function ended({ book }: RunnerSite, id: string): Promise<Job> {
  return await until(() => {
    const { job } = book.record(id);
    return job.finished_at === null ? undefined : job;
  });
}

/** A hook runs in real time. */
async function untilRunning({ engines }: RunnerSite, id: string): Promise<void> {
  await until(() => (engines.running.some((engine) => engine.job.id === id) ? true : undefined));
}

async function until<T>(look: () => T | undefined): Promise<T> {
  const beganMs = performance.now();
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (performance.now() - beganMs > 30_000) throw new Error('it did not come');
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
}
