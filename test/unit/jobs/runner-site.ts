/** A runner with its state in a directory of its own, that can be stopped, killed and started again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../src/base/clock.ts';
import type { EngineJob } from '../../../src/engine/protocol.ts';
import { createJobBook, type JobBook } from '../../../src/jobs/job-book.ts';
import type { BackupSpec, Job } from '../../../src/jobs/job.ts';
import { openAgentState, type AgentState } from '../../../src/jobs/open-state.ts';
import { placesByName } from '../../../src/jobs/queue.ts';
import type { JobHost } from '../../../src/jobs/job-host.ts';
import { Runner, type RunnerParts } from '../../../src/jobs/runner.ts';
import { manualClock, settle, type ManualClock } from '../../support/manual-clock.ts';
import { fakeEngines, type FakeEngines } from './fake-engines.ts';

export function backupOf(source: string, destination = 'default'): BackupSpec {
  const options = { compression: 'zstd', encryption: true, deduplication: true };
  return {
    type: 'backup',
    source,
    destination,
    options: { ...options, exclude: [], tags: [], dry_run: false },
  };
}

export function engineJobOf(job: Job): EngineJob {
  return {
    id: job.id,
    spec: job.spec,
    destination: {
      name: job.spec.destination,
      url: '/nowhere',
      secret: { kind: 'passphrase', text: 'x' },
      repositoryId: null,
      uploadLimit: null,
    },
    stateDirectory: '/nowhere',
    never: [],
    changes: null,
    exclude: {
      patterns: [],
      ignoreFiles: [],
      caches: false,
      ifPresent: [],
      largerThan: null,
      oneFileSystem: false,
    },
    retention: null,
    emptyExpected: false,
    workers: null,
  };
}

export interface RunnerSite {
  readonly directory: string;
  readonly clock: ManualClock;
  readonly state: AgentState;
  readonly book: JobBook;
  readonly runner: Runner;
  readonly engines: FakeEngines;
  /** Jobs that were told to have ended, in order. */
  readonly ended: readonly Job[];
  /** Jobs that were told to have got a warning after their end. */
  readonly warned: readonly Job[];
  readonly troubles: readonly unknown[];
  job(id: string): Job;
  /** Lets time pass, and everything happen that follows. */
  pass(ms: number): Promise<void>;
  /** A planned stop and a new start. */
  restart(): Promise<void>;
  /** As `kill -9` of everything; `meanwhile` runs before the next start. */
  crash(meanwhile?: () => void): Promise<void>;
  remove(): Promise<void>;
}

interface Opened extends Pick<RunnerSite, 'state' | 'book' | 'runner' | 'engines'> {
  readonly killed: AbortController;
}

export async function runnerSite(
  wish: Partial<RunnerParts & JobHost> = {},
  options: { readonly obedient?: boolean } = {},
): Promise<RunnerSite> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-runner-'));
  const clock = manualClock();
  const ended: Job[] = [];
  const warned: Job[] = [];
  const troubles: unknown[] = [];

  const open = async (): Promise<Opened> => {
    // What a killed process waits for never comes.
    const killed = new AbortController();
    const mortal: Clock = {
      ...clock,
      sleep: async (ms, signal) => await clock.sleep(ms, AbortSignal.any([signal, killed.signal])),
    };
    const state = openAgentState(directory, clock);
    const book = createJobBook(state, clock);
    const engines = fakeEngines(options);
    const setup: RunnerParts & JobHost = {
      book,
      settings: state.database.settings,
      launcher: engines,
      clock: mortal,
      boot: () => 'this one',
      placesOf: placesByName,
      environment: { PATH: '/usr/bin:/bin' },
      waitingReason: async () => await Promise.resolve(null),
      prepare: async (job) => await Promise.resolve(engineJobOf(job)),
      hooksOf: () => null,
      hookRuns: () => () => undefined,
      uploadLimit: () => null,
      completed: () => undefined,
      opened: () => undefined,
      began: () => undefined,
      tried: () => undefined,
      keepEnd: () => undefined,
      endDelayed: () => undefined,
      ended: (job) => ended.push(job),
      warned: (job) => warned.push(job),
      trouble: (error) => {
        if (!killed.signal.aborted) troubles.push(error);
      },
      heldUp: () => undefined,
      judged: (_, outcome) => outcome,
      ...wish,
    };
    const runner = new Runner(setup);
    runner.attach(setup);
    runner.start();
    await settle();
    return { state, book, runner, engines, killed };
  };

  let now = await open();
  return {
    directory,
    clock,
    get state() {
      return now.state;
    },
    get book() {
      return now.book;
    },
    get runner() {
      return now.runner;
    },
    get engines() {
      return now.engines;
    },
    ended,
    warned,
    troubles,
    job: (id) => now.book.record(id).job,
    async pass(ms) {
      await settle();
      await clock.advance(ms);
      await settle();
    },
    async restart() {
      await now.runner.close();
      now.state.close();
      now = await open();
    },
    async crash(meanwhile) {
      now.killed.abort();
      now.state.close();
      meanwhile?.();
      now = await open();
    },
    async remove() {
      await now.runner.close();
      now.state.close();
      rmSync(directory, { recursive: true });
    },
  };
}
