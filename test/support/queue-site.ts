/** The queue with real engine processes, a real repository and the state on disk; without HTTP, watching and schedules. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { createEngineProcesses } from '../../src/jobs/engine-process.ts';
import { createJobBook, type JobBook } from '../../src/jobs/job-book.ts';
import type { Job, JobSpec } from '../../src/jobs/job.ts';
import { openAgentState } from '../../src/jobs/open-state.ts';
import { placesByName } from '../../src/jobs/queue.ts';
import type { JobHost } from '../../src/jobs/job-host.ts';
import { Runner, type RunnerParts } from '../../src/jobs/runner.ts';
import { engineEnvironment, openSite, type EngineSite } from '../unit/engine/engine-process.ts';

export interface QueueSite extends AsyncDisposable {
  readonly site: EngineSite;
  readonly troubles: readonly unknown[];
  submit(spec: JobSpec): Job;
  /** What was logged of a job. */
  log(id: string): readonly string[];
  /** Waits until the job has ended. */
  ended(id: string): Promise<Job>;
  /** Calls `then` as soon as an engine says what it does for a job, and resolves with what that gives. */
  atWork<T>(id: string, then: () => T | PromiseLike<T>): Promise<T>;
  /** Process ids of the engines. */
  engines(): readonly number[];
  /** A planned stop. */
  stop(): Promise<void>;
  start(): void;
}

/** The built one starts three times as fast. */
const BUILT_ENGINE = join(import.meta.dirname, '..', '..', 'dist', 'engine', 'engine-main.js');
const MOST_MS = 60_000;
const { signal } = new AbortController();

export function openQueueSite(): QueueSite {
  const site = openSite();
  const troubles: unknown[] = [];
  const watchers = new Map<string, () => void>();

  const open = () => {
    const state = openAgentState(site.state, systemClock);
    const real = createJobBook(state, systemClock);
    const book: JobBook = {
      ...real,
      show(id, step) {
        const shown = real.show(id, step);
        if (shown.job.phase !== null) watchers.get(id)?.();
        return shown;
      },
    };
    const processes = createEngineProcesses({
      clock: systemClock,
      environment: engineEnvironment(),
      entry: BUILT_ENGINE,
      execArgv: [],
    });
    const setup: RunnerParts & JobHost = {
      book,
      settings: state.database.settings,
      launcher: processes,
      clock: systemClock,
      boot: () => 'this one',
      placesOf: placesByName,
      environment: {},
      waitingReason: async () => await Promise.resolve(null),
      prepare: async ({ id, spec }) => await Promise.resolve(site.job(spec, { id })),
      hooksOf: () => null,
      hookRuns: () => () => undefined,
      uploadLimit: () => null,
      completed: () => undefined,
      opened: () => undefined,
      began: () => undefined,
      tried: () => undefined,
      keepEnd: () => undefined,
      endDelayed: () => undefined,
      ended: () => undefined,
      trouble: (error) => troubles.push(error),
      heldUp: () => undefined,
      warned: () => undefined,
      judged: (_, outcome) => outcome,
    };
    const runner = new Runner(setup);
    runner.attach(setup);
    runner.start();
    return { state, book, processes, runner };
  };
  let now: ReturnType<typeof open> | undefined = open();
  const running = (): ReturnType<typeof open> => {
    if (now === undefined) throw new Error('the queue is stopped');
    return now;
  };
  const stop = async (): Promise<void> => {
    if (now === undefined) return;
    await now.runner.close();
    await now.processes.close();
    now.state.close();
    now = undefined;
  };

  return {
    site,
    troubles,
    submit: (spec) => running().runner.submit(spec, 'api'),
    log: (id) =>
      running()
        .state.database.jobLog.list(id)
        .map(({ text }) => text),
    ended: async (id) => await running().book.waitFor(id, MOST_MS, signal),
    atWork: async (id, then) =>
      await new Promise((resolve, reject) => {
        watchers.set(id, () => {
          watchers.delete(id);
          try {
            resolve(then());
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        });
      }),
    engines: enginesHere,
    stop,
    start() {
      now ??= open();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      site[Symbol.dispose]();
    },
  };
}

function enginesHere(): readonly number[] {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'latin1');
  return children
    .trim()
    .split(' ')
    .filter((pid) => pid !== '')
    .map(Number)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('engine-main'));
}

/** Niceness of every thread of a process. */
export function threadsOf(pid: number): readonly { readonly id: number; readonly nice: number }[] {
  return readdirSync(`/proc/${pid}/task`).map((id) => {
    const fields = readFileSync(`/proc/${pid}/task/${id}/stat`, 'latin1')
      .replace(/^.*\) /, '')
      .split(' ');
    return { id: Number(id), nice: Number(fields[16]) };
  });
}
