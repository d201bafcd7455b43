/** Engine processes: forked for a job, kept a while for the next one, and harmless to the agent when they die. */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { causeText } from '../base/errno-words.ts';
import type { Clock } from '../base/clock.ts';
import { OutputLines } from '../base/output-lines.ts';
import type { EngineJob, FromEngine, ToEngine } from '../engine/protocol.ts';
import type { EngineEnd, EngineLauncher, RunningEngine } from './engine-launcher.ts';

/** Milliseconds. */
export const ENGINE_TIMES = {
  /** How long an idle process is kept for the next job. */
  warmMs: 60_000,
  /** Time for a process to become ready: usually 0.3 s, but half a minute when several start on a slow machine. */
  startMs: 300_000,
  /** Time for a process to stop before it is killed. The agent itself has 10 seconds. */
  stopMs: 6_000,
  /** Time for the last messages of a process that has ended. */
  drainMs: 200,
} as const;

export interface EngineProcessSetup {
  readonly clock: Clock;
  /** Environment of the processes, without secrets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The program to fork; the engine's own unless a test sets another one. */
  readonly entry?: string | undefined;
  /** Arguments for Node. */
  readonly execArgv?: readonly string[] | undefined;
  readonly times?: Partial<Record<keyof typeof ENGINE_TIMES, number>> | undefined;
}

export interface EngineProcesses extends EngineLauncher {
  /** Ends all processes. */
  close(): Promise<void>;
}

interface Settled extends Pick<EngineProcessSetup, 'clock' | 'environment'> {
  readonly entry: string;
  readonly execArgv: readonly string[];
  readonly times: Readonly<Record<keyof typeof ENGINE_TIMES, number>>;
}

export function createEngineProcesses(setup: EngineProcessSetup): EngineProcesses {
  const settled: Settled = {
    clock: setup.clock,
    environment: setup.environment,
    entry: setup.entry ?? engineEntry(),
    execArgv: setup.execArgv ?? process.execArgv,
    times: { ...ENGINE_TIMES, ...setup.times },
  };
  const processes = new Set<EngineProcess>();
  return {
    start(job, on) {
      for (const engine of processes) if (engine.hasEnded) processes.delete(engine);
      const warm = [...processes].find((engine) => engine.isFree);
      const engine = warm ?? new EngineProcess(settled);
      processes.add(engine);
      return engine.run(job, on);
    },
    async close() {
      await Promise.all([...processes].map(async (engine) => await engine.end()));
      processes.clear();
    },
  };
}

function engineEntry(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fileURLToPath(new URL(`../engine/engine-main.${extension}`, import.meta.url));
}

interface CurrentJob {
  /** Includes the upload limit that applies when the job is handed over. */
  job: EngineJob;
  readonly on: (message: FromEngine) => void;
  readonly resolve: (end: EngineEnd) => void;
  /** Output of the process during this job, such as the messages of a native crash. */
  readonly printed: OutputLines;
}

class EngineProcess {
  readonly #setup: Settled;
  readonly #child: ChildProcess | undefined;
  /** Aborted when the process has ended. */
  readonly #gone = new AbortController();
  readonly #ended: Promise<void>;
  #warm = new AbortController();
  #current: CurrentJob | undefined;
  /** The process is being ended because it did not become ready in time. */
  #late = false;
  #state: 'starting' | 'ready' | 'ending' | 'ended' = 'starting';

  constructor(setup: Settled) {
    this.#setup = setup;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#ended = promise.then(() => undefined);
    const finish = (end: EngineEnd, note?: string): void => {
      this.#state = 'ended';
      this.#gone.abort();
      this.#warm.abort();
      if (note !== undefined) this.#current?.on({ kind: 'note', text: note });
      this.#finish(end);
      resolve(undefined);
    };
    try {
      this.#child = this.#fork(finish);
    } catch (error) {
      this.#child = undefined;
      // In a later turn: the caller needs the promise of the job's end first.
      setImmediate(
        finish,
        { code: null, signal: null },
        `The engine could not be started: ${causeText(error)}`,
      );
    }
    this.#after(setup.times.startMs, this.#gone.signal, () => {
      if (this.#state !== 'starting') return;
      this.#late = true;
      this.#kill();
    });
  }

  get hasEnded(): boolean {
    return this.#state === 'ended';
  }

  get isFree(): boolean {
    return this.#state === 'ready' && this.#current === undefined;
  }

  run(job: EngineJob, on: (message: FromEngine) => void): RunningEngine {
    this.#warm.abort();
    const { promise, resolve } = Promise.withResolvers<EngineEnd>();
    const printed = new OutputLines((lines) => {
      for (const line of lines) on({ kind: 'note', text: `engine: ${line}` });
    });
    const current: CurrentJob = { job, on, resolve, printed };
    this.#current = current;
    if (this.#state === 'ready') this.#send({ kind: 'run', job });
    const whileMine = (work: () => void): void => {
      if (this.#current === current) work();
    };
    return {
      ended: promise,
      cancel: () => whileMine(() => this.#cancel()),
      limit: (uploadLimit) =>
        whileMine(() => {
          const destination = { ...current.job.destination, uploadLimit };
          current.job = { ...current.job, destination };
          if (this.#state === 'ready') this.#send({ kind: 'limit', uploadLimit });
        }),
      remembered: () => whileMine(() => this.#send({ kind: 'remembered' })),
      stop: async () => {
        whileMine(() => {
          this.#cancel();
          this.#after(this.#setup.times.stopMs, this.#gone.signal, () => whileMine(() => this.#kill()));
        });
        await promise;
      },
    };
  }

  /** Ends the process, even while it runs a job. */
  async end(): Promise<void> {
    this.#warm.abort();
    if (this.#state !== 'ended') {
      if (this.#current !== undefined || this.#state === 'starting') this.#kill();
      this.#state = 'ending';
      this.#send({ kind: 'end' });
      this.#after(this.#setup.times.stopMs, this.#gone.signal, () => this.#kill());
    }
    await this.#ended;
  }

  #fork(finish: (end: EngineEnd, note?: string) => void): ChildProcess {
    const { entry, execArgv, environment } = this.#setup;
    const child = fork(entry, [], {
      serialization: 'advanced',
      execArgv: [...execArgv],
      env: { ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    if (child.pid !== undefined) lowerPriority(child.pid);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (bytes: Buffer) => this.#current?.printed.take(bytes));
      stream?.on('error', () => undefined);
    }
    const closed = new Promise<void>((done) => child.once('close', () => done()));
    child.on('message', (message) => this.#receive(message as FromEngine));
    child.on('error', (error) => {
      // A process that was never started emits no `exit`.
      if (child.pid === undefined) {
        finish({ code: null, signal: null }, `The engine could not be started: ${causeText(error)}`);
      } else this.#kill();
    });
    child.on('exit', (code, signal) => {
      const notReadyAfterMs = this.#late ? this.#setup.times.startMs : undefined;
      void this.#drained(closed).then(() => finish({ code, signal, notReadyAfterMs }));
    });
    return child;
  }

  /** The last messages and the last output of a process may arrive after its end. */
  async #drained(closed: Promise<void>): Promise<void> {
    await new Promise<void>((resolve) => {
      void closed.then(resolve);
      this.#after(this.#setup.times.drainMs, this.#gone.signal, resolve);
    });
  }

  #receive(message: FromEngine): void {
    if (message.kind === 'ready') {
      if (this.#state !== 'starting') return;
      this.#state = 'ready';
      // Covers threads that were started before the first call.
      if (this.#child?.pid !== undefined) lowerPriority(this.#child.pid);
      if (this.#current !== undefined) this.#send({ kind: 'run', job: this.#current.job });
      return;
    }
    this.#current?.on(message);
    if (message.kind === 'completed' || message.kind === 'canceled') {
      this.#finish({ code: 0, signal: null });
      this.#keepWarm();
    } else if (message.kind === 'failed') {
      this.#finish({ code: 0, signal: null });
      // A failed job may have left the process in a bad state: the next job gets a new one.
      void this.end();
    }
  }

  #finish(end: EngineEnd): void {
    const current = this.#current;
    this.#current = undefined;
    current?.printed.end();
    current?.resolve(end);
  }

  #keepWarm(): void {
    if (this.#state !== 'ready') return;
    this.#warm = new AbortController();
    this.#after(this.#setup.times.warmMs, this.#warm.signal, () => void this.end());
  }

  #cancel(): void {
    // A process that is still starting has nothing to finish.
    if (this.#state === 'starting') this.#kill();
    else this.#send({ kind: 'cancel' });
  }

  #send(message: ToEngine): void {
    const child = this.#child;
    if (child === undefined || !child.connected) return;
    child.send(message, (error) => {
      // The process no longer listens; if it is still alive, it can do nothing useful.
      if (error !== null) this.#kill();
    });
  }

  #kill(): void {
    this.#child?.kill('SIGKILL');
  }

  #after(ms: number, signal: AbortSignal, work: () => void): void {
    const wait = async (): Promise<void> => {
      try {
        await this.#setup.clock.sleep(ms, signal);
      } catch {
        // The timer is not needed any more.
        return;
      }
      work();
    };
    void wait();
  }
}

const NICENESS = 10;
/**
 * Added to the OOM score of an engine (of 1,000), so that the system kills an engine rather than the agent, which can
 * run the job again.
 */
const RATHER_ENDED = 300;

/**
 * Lowers the priority of engine processes: they yield to everything that a person does, and to the agent when memory
 * runs out. Lowers the process's claim on processors and disks. Changes that the system refuses are skipped.
 */
function lowerPriority(pid: number): void {
  const threads = threadsOf(pid);
  for (const thread of threads) lower(thread);
  if (process.platform !== 'linux') return;
  endRather(pid);
  // Without ionice, niceness has to do: the disk scheduler derives its priority from it to some degree.
  const unheard = (): void => undefined;
  execFile('ionice', ['-c', '3', '-p', ...threads.map(String)], unheard);
}

/** Without this, the system would end the largest process when memory runs out, which may be the agent. */
function endRather(pid: number): void {
  try {
    const own = Number(readFileSync('/proc/self/oom_score_adj', 'latin1'));
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(Math.min(1_000, own + RATHER_ENDED)));
  } catch {
    // The process has ended, or may not be changed: the system's default score applies.
  }
}

/** On Linux both priorities belong to threads, and new threads inherit them. */
function threadsOf(pid: number): readonly number[] {
  if (process.platform !== 'linux') return [pid];
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    // The process has already ended.
    return [];
  }
}

function lower(thread: number): void {
  try {
    setPriority(thread, NICENESS);
  } catch {
    // The thread has ended, or may not be changed: it keeps its priority.
  }
}
