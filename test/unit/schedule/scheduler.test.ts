import { afterEach, describe, expect, it } from 'vitest';
import type { ScheduleState, ScheduleStore } from '../../../src/schedule/due-state.ts';
import { parseSchedule } from '../../../src/schedule/schedule.ts';
import { Scheduler, type OnDue, type ScheduleEntry } from '../../../src/schedule/scheduler.ts';
import { manualClock, settle } from '../../support/manual-clock.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 22:13:20 UTC. */
const START = 1_700_000_000_000;
const MIDNIGHT = Date.parse('2023-11-15T00:00:00Z');

interface Run {
  readonly key: string;
  readonly dueAt: number;
  readonly caughtUp: boolean;
  /** On the wall clock. */
  readonly at: number;
}

const open: Scheduler[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((scheduler) => scheduler.close()));
});

function site(store = memoryStore()) {
  const clock = manualClock();
  const runs: Run[] = [];
  const errors: unknown[] = [];
  const woken: number[] = [];
  const behaviour: { due: OnDue } = { due: () => undefined };
  function scheduler(): Scheduler {
    const made = new Scheduler({
      clock,
      store,
      seed: 'seed',
      due: (key, dueAt, caughtUp) => {
        behaviour.due(key, dueAt, caughtUp);
        runs.push({ key, dueAt, caughtUp, at: clock.now() });
      },
      onError: (_key, error) => errors.push(error),
      onWake: (ahead) => woken.push(ahead),
    });
    open.push(made);
    return made;
  }
  return { clock, store, runs, errors, woken, behaviour, scheduler };
}

function memoryStore(): ScheduleStore & { readonly states: Map<string, ScheduleState> } {
  const states = new Map<string, ScheduleState>();
  return {
    states,
    get: (key) => states.get(key),
    putAll: (all) => {
      for (const [key, state] of all) states.set(key, state);
    },
  };
}

function entry(text: string, key = 'a', jitterSeconds = 0): ScheduleEntry {
  return { key, schedule: parseSchedule(text), jitterSeconds };
}

describe('a scheduler', () => {
  it('calls when things are due, on time', async () => {
    const { clock, runs, scheduler } = site();
    const made = scheduler();
    made.replace([entry('hourly', 'hour'), entry('every 45m', 'interval')], 'UTC');
    made.start();
    expect(made.nextRun('hour')).toBe(Date.parse('2023-11-14T23:00Z'));
    await clock.advance(2 * HOUR);
    expect(runs).toEqual([
      { key: 'interval', dueAt: START + 45 * MINUTE, caughtUp: false, at: START + 45 * MINUTE },
      { key: 'hour', dueAt: MIDNIGHT - HOUR, caughtUp: false, at: MIDNIGHT - HOUR },
      { key: 'interval', dueAt: START + 90 * MINUTE, caughtUp: false, at: START + 90 * MINUTE },
      { key: 'hour', dueAt: MIDNIGHT, caughtUp: false, at: MIDNIGHT },
    ]);
    expect(made.lastRun('hour')).toBe(MIDNIGHT);
  });

  it('does nothing before it is started and after it is closed', async () => {
    const { clock, runs, scheduler } = site();
    const made = scheduler();
    made.replace([entry('every 1m')], 'UTC');
    await clock.advance(HOUR);
    expect(runs).toEqual([]);
    made.start();
    expect(runs).toHaveLength(1);
    await made.close();
    await clock.advance(HOUR);
    expect(runs).toHaveLength(1);
  });

  it('catches up once on what sleep let pass, within seconds of waking', async () => {
    const { clock, runs, woken, scheduler } = site();
    const made = scheduler();
    made.replace([entry('hourly')], 'UTC');
    made.start();
    await settle();
    clock.jump(10 * HOUR);
    await clock.advance(20 * SECOND);
    expect(runs).toHaveLength(1);
    expect(runs[0]).toMatchObject({ dueAt: MIDNIGHT - HOUR, caughtUp: true });
    expect(woken).toEqual([10 * HOUR]);
    await clock.advance(HOUR);
    expect(runs.map(({ dueAt, caughtUp }) => [dueAt, caughtUp])).toEqual([
      [MIDNIGHT - HOUR, true],
      [Date.parse('2023-11-15T09:00Z'), false],
    ]);
  });

  it('catches up once on what was due while the process was not there', async () => {
    const { clock, store, runs, scheduler } = site();
    const first = scheduler();
    first.replace([entry('daily at 02:00'), entry('every 4h', 'b')], 'UTC');
    first.start();
    await settle();
    await first.close();
    await clock.advance(5 * DAY);
    expect(runs).toEqual([]);
    const second = scheduler();
    second.replace([entry('daily at 02:00'), entry('every 4h', 'b')], 'UTC');
    second.start();
    await clock.advance(MINUTE);
    expect(runs.map(({ key, caughtUp }) => [key, caughtUp])).toEqual([
      ['a', true],
      ['b', true],
    ]);
    expect(store.states.get('a')?.nextRun).toBe(Date.parse('2023-11-20T02:00Z'));
    // An interval begins anew.
    expect(store.states.get('b')?.nextRun).toBe(START + 5 * DAY + 4 * HOUR);
  });

  it('runs nothing twice when the clock is set back', async () => {
    const { clock, runs, scheduler } = site();
    const made = scheduler();
    made.replace([entry('daily at 23:00'), entry('every 1h', 'b')], 'UTC');
    made.start();
    await clock.advance(HOUR);
    expect(runs.map(({ key }) => key)).toEqual(['a', 'b']);
    clock.jump(-2 * HOUR);
    await clock.advance(23 * HOUR);
    expect(runs.filter(({ key }) => key === 'a')).toHaveLength(1);
    // The interval is one of time, not of the clock.
    expect(runs.filter(({ key }) => key === 'b')).toHaveLength(23);
  });

  it('runs once under a clock that is ten years ahead for a while, and goes on when it is right again', async () => {
    const { clock, runs, scheduler } = site();
    const made = scheduler();
    made.replace([entry('daily at 02:00')], 'UTC');
    made.start();
    await settle();
    clock.jump(3653 * DAY);
    await clock.advance(MINUTE);
    clock.jump(-3653 * DAY);
    await clock.advance(MINUTE);
    expect(runs).toHaveLength(1);
    // The run of the coming night is the one that was made too early.
    expect(made.nextRun('a')).toBe(Date.parse('2023-11-16T02:00Z'));
    await clock.advance(2 * DAY);
    expect(runs).toHaveLength(2);
  });

  it('runs nothing more because the machine starts in 1970 and asks for the time later', async () => {
    const { clock, runs, store, scheduler } = site();
    store.states.set('a', { lastRun: MIDNIGHT - 22 * HOUR, nextRun: MIDNIGHT + 2 * HOUR });
    clock.jump(-START);
    const made = scheduler();
    made.replace([entry('daily at 02:00')], 'UTC');
    made.start();
    await clock.advance(MINUTE);
    clock.jump(START);
    await clock.advance(MINUTE);
    expect(runs).toEqual([]);
    expect(made.nextRun('a')).toBe(MIDNIGHT + 2 * HOUR);
  });

  it('delays each run by its own random time, which a restart does not change', async () => {
    const { clock, runs, scheduler } = site();
    const first = scheduler();
    first.replace([entry('hourly', 'a', 600)], 'UTC');
    const planned = first.nextRun('a');
    expect(planned).toBeGreaterThan(MIDNIGHT - HOUR);
    expect(planned).toBeLessThan(MIDNIGHT - HOUR + 600 * SECOND);
    await first.close();
    const second = scheduler();
    second.replace([entry('hourly', 'a', 600)], 'UTC');
    expect(second.nextRun('a')).toBe(planned);
    second.start();
    await clock.advance(MIDNIGHT + 11 * MINUTE - START);
    expect(runs.map(({ dueAt }) => dueAt)).toEqual([MIDNIGHT - HOUR, MIDNIGHT]);
    expect(runs[0]?.at).toBe(planned);
    expect((runs[1]?.at ?? 0) - MIDNIGHT).not.toBe((planned ?? 0) - MIDNIGHT + HOUR);
    expect(runs.every(({ caughtUp }) => !caughtUp)).toBe(true);
  });

  it('keeps what it knows when the entries change while it runs', async () => {
    const { clock, runs, scheduler } = site();
    const made = scheduler();
    made.replace([entry('every 1h')], 'UTC');
    made.start();
    await clock.advance(50 * MINUTE);
    made.replace([entry('every 1h'), entry('every 5m', 'b')], 'UTC');
    await clock.advance(10 * MINUTE);
    expect(runs.map(({ key }) => key)).toEqual(['b', 'a', 'b']);
    made.replace([entry('off'), entry('every 5m', 'b')], 'UTC');
    expect(made.nextRun('a')).toBeNull();
    made.replace([entry('every 5m', 'b')], 'UTC');
    expect(made.nextRun('a')).toBeNull();
    await clock.advance(DAY);
    expect(runs.filter(({ key }) => key === 'a')).toHaveLength(1);
  });

  it('makes nothing due at once because its schedule or zone was changed', async () => {
    const { clock, runs, scheduler } = site();
    const made = scheduler();
    made.replace([entry('monthly')], 'UTC');
    made.start();
    await clock.advance(3 * DAY);
    made.replace([entry('daily at 01:00')], 'UTC');
    made.replace([entry('daily at 01:00')], 'America/New_York');
    await clock.advance(MINUTE);
    expect(runs).toEqual([]);
    expect(made.nextRun('a')).toBe(Date.parse('2023-11-18T06:00Z'));
  });

  it('offers a run again that could not be taken on, and others meanwhile', async () => {
    const { clock, runs, errors, behaviour, store, scheduler } = site();
    const made = scheduler();
    made.replace([entry('every 1h'), entry('every 1h', 'b')], 'UTC');
    made.start();
    behaviour.due = (key) => {
      if (key === 'a') throw new Error('the queue is full');
    };
    await clock.advance(HOUR + 2.5 * MINUTE);
    expect(runs.map(({ key }) => key)).toEqual(['b']);
    expect(errors).toHaveLength(3);
    expect(store.states.get('a')).toEqual({ lastRun: null, nextRun: START + HOUR });
    behaviour.due = () => undefined;
    await clock.advance(MINUTE);
    expect(runs.map(({ key, dueAt }) => [key, dueAt])).toEqual([
      ['b', START + HOUR],
      ['a', START + HOUR],
    ]);
  });

  it('may be told of new entries by what it calls', async () => {
    const { clock, runs, behaviour, scheduler } = site();
    const made = scheduler();
    made.replace([entry('every 1h')], 'UTC');
    made.start();
    behaviour.due = (key) => {
      if (key === 'a') made.replace([entry('every 10m', 'b')], 'UTC');
    };
    await clock.advance(130 * MINUTE);
    expect(runs.map(({ key }) => key)).toEqual(['a', ...Array.from({ length: 7 }, () => 'b')]);
  });

  it('goes on when the store fails', async () => {
    const store = memoryStore();
    const { clock, runs, errors, scheduler } = site({
      ...store,
      putAll: () => {
        throw new Error('disk full');
      },
    });
    const made = scheduler();
    made.replace([entry('every 1h')], 'UTC');
    made.start();
    await clock.advance(3 * HOUR);
    expect(runs).toHaveLength(3);
    expect(errors).toHaveLength(4);
  });

  it('never waits longer than a minute at a time', async () => {
    const { clock, scheduler } = site();
    const waits: number[] = [];
    const sleep = clock.sleep;
    clock.sleep = (ms, signal) => {
      waits.push(ms);
      return sleep(ms, signal);
    };
    const made = scheduler();
    made.replace([entry('monthly')], 'UTC');
    made.start();
    await clock.advance(HOUR);
    expect(waits.length).toBeGreaterThan(50);
    expect(Math.max(...waits)).toBeLessThanOrEqual(MINUTE);
  });
});
