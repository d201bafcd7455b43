/** Engine processes: forked for a job, kept for a while for the next one, and harmless when they die. */
import { fork, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../base/clock.ts';
import type { EngineJob, FromEngine, ToEngine } from '../engine/protocol.ts';
import type { EngineEnd, EngineLauncher, RunningEngine } from './engine-launcher.ts';
import { lowerPriority } from './engine-priority.ts';

/** Milliseconds. */
export const ENGINE_TIMES = {
  /** That an idle process is kept for the next job. */
  warmMs: 60_000,
  /** For a process to say that it is ready: several at once on a slow machine take minutes, and each that is killed begins anew. */
  startMs: 300_000,
  /** For a process that was asked to stop, before it is killed: the agent itself has 10 seconds. */
  stopMs: 6_000,
  /** For the last messages of a process that has ended. */
  drainMs: 200,
} as const;

export interface EngineProcessSetup {
  readonly clock: Clock;
  /** Of the processes: without secrets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The program; the engine's own unless a test says otherwise. */
  readonly entry?: string | undefined;
  /** Of Node. */
  readonly execArgv?: readonly string[] | undefined;
  readonly times?: Partial<Record<keyof typeof ENGINE_TIMES, number>> | undefined;
}

export interface EngineProcesses extends EngineLauncher {
  /** Ends all of them. */
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
  /** With the limit that holds when it is handed over. */
  job: EngineJob;
  readonly on: (message: FromEngine) => void;
  readonly resolve: (end: EngineEnd) => void;
}

class EngineProcess {
  readonly #setup: Settled;
  readonly #child: ChildProcess | undefined;
  /** Aborted when the process has ended. */
  readonly #gone = new AbortController();
  readonly #ended: Promise<void>;
  #warm = new AbortController();
  #current: CurrentJob | undefined;
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
      // In a later turn: whoever starts a job must have the promise of its end first.
      setImmediate(finish, { code: null, signal: null }, `The engine could not be started: ${String(error)}`);
    }
    this.#after(setup.times.startMs, this.#gone.signal, () => {
      if (this.#state !== 'starting') return;
      this.#current?.on({ kind: 'note', text: 'The engine process did not become ready in time.' });
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
    const current: CurrentJob = { job, on, resolve };
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

  /** Ends the process, whatever it does. */
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
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (text) => {
        this.#current?.on({ kind: 'note', text: `engine: ${text}` });
      });
    }
    child.on('message', (message) => this.#receive(message as FromEngine));
    child.on('error', (error) => {
      // A process that never was has no exit.
      if (child.pid === undefined) {
        finish({ code: null, signal: null }, `The engine could not be started: ${error.message}`);
      } else this.#kill();
    });
    child.on('exit', (code, signal) => {
      void this.#drained(child).then(() => finish({ code, signal }));
    });
    return child;
  }

  /** The last messages of a process may come after its end. */
  async #drained(child: ChildProcess): Promise<void> {
    if (!child.connected) return;
    await new Promise<void>((resolve) => {
      child.once('disconnect', () => resolve());
      this.#after(this.#setup.times.drainMs, this.#gone.signal, resolve);
    });
  }

  #receive(message: FromEngine): void {
    if (message.kind === 'ready') {
      if (this.#state !== 'starting') return;
      this.#state = 'ready';
      // Threads that were started before the first time.
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
      // What failed may have left something behind: the next job gets a new process.
      void this.end();
    }
  }

  #finish(end: EngineEnd): void {
    const current = this.#current;
    this.#current = undefined;
    current?.resolve(end);
  }

  #keepWarm(): void {
    if (this.#state !== 'ready') return;
    this.#warm = new AbortController();
    this.#after(this.#setup.times.warmMs, this.#warm.signal, () => void this.end());
  }

  #cancel(): void {
    // One that has not begun has nothing to bring to an end.
    if (this.#state === 'starting') this.#kill();
    else this.#send({ kind: 'cancel' });
  }

  #send(message: ToEngine): void {
    const child = this.#child;
    if (child === undefined || !child.connected) return;
    child.send(message, (error) => {
      // It does not listen any more; if it still lives, it can do nothing useful.
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
        // No longer needed.
        return;
      }
      work();
    };
    void wait();
  }
}
