/** Engine processes that do what a test says: the process boundary is all that is replaced. */
import type { EngineJob, EngineOutcome, FromEngine } from '../../../src/engine/protocol.ts';
import type { EngineEnd, EngineLauncher, RunningEngine } from '../../../src/jobs/engine-launcher.ts';
import { NO_PROGRESS, type JobError } from '../../../src/jobs/job.ts';

export const OUTCOME: EngineOutcome = {
  result: 'success',
  snapshotId: 'snap_1',
  sourceReadAt: null,
  hasReadSource: false,
  repositoryId: 'repo',
  files: 3,
  filesSkipped: 0,
  bytes: 300,
  warnings: 0,
  progress: { ...NO_PROGRESS, percent: 100 },
  storedBytes: null,
  compared: null,
  facts: {},
};

export interface FakeEngine {
  readonly job: EngineJob;
  readonly limits: readonly (number | null)[];
  /** It was told that what it opened is remembered. */
  readonly mayGoOn: boolean;
  readonly asked: 'nothing' | 'cancel' | 'stop';
  readonly isRunning: boolean;
  say(message: FromEngine): void;
  progress(stored: number, bytes?: number): void;
  complete(outcome?: Partial<EngineOutcome>): void;
  fail(code: string, details?: JobError['details']): void;
  /** What an engine says that was asked to cancel. */
  giveUp(): void;
  die(): void;
}

export interface FakeEngines extends EngineLauncher {
  readonly engines: readonly FakeEngine[];
  /** The one that runs this job. */
  of(id: string): FakeEngine;
  readonly running: readonly FakeEngine[];
}

/** `obedient`: engines that are asked to cancel or to stop do so at once. */
export function fakeEngines({ obedient = true }: { readonly obedient?: boolean } = {}): FakeEngines {
  const engines: FakeEngine[] = [];
  return {
    engines,
    get running() {
      return engines.filter(({ isRunning }) => isRunning);
    },
    of(id) {
      const found = engines.findLast((engine) => engine.job.id === id && engine.isRunning);
      if (found === undefined) throw new Error(`no engine runs ${id}`);
      return found;
    },
    start(job, on) {
      const { engine, running } = fakeEngine(job, on, obedient);
      engines.push(engine);
      return running;
    },
  };
}

function fakeEngine(
  job: EngineJob,
  on: (message: FromEngine) => void,
  obedient: boolean,
): { engine: FakeEngine; running: RunningEngine } {
  const { promise, resolve } = Promise.withResolvers<EngineEnd>();
  const limits: (number | null)[] = [];
  let [asked, isRunning]: [FakeEngine['asked'], boolean] = ['nothing', true];
  let mayGoOn = false;
  const end = (final: FromEngine | undefined, how: EngineEnd): void => {
    if (!isRunning) return;
    isRunning = false;
    if (final !== undefined) on(final);
    resolve(how);
  };
  const fine: EngineEnd = { code: 0, signal: null };
  const ask = (what: 'cancel' | 'stop'): void => {
    asked = what;
    if (obedient) end({ kind: 'canceled' }, fine);
  };
  const engine: FakeEngine = {
    job,
    limits,
    get asked() {
      return asked;
    },
    get mayGoOn() {
      return mayGoOn;
    },
    get isRunning() {
      return isRunning;
    },
    say: on,
    progress(stored, bytes = stored) {
      on({ kind: 'progress', progress: { ...NO_PROGRESS, bytes_done: bytes }, files: 1, bytes, stored });
    },
    complete: (outcome = {}) => end({ kind: 'completed', outcome: { ...OUTCOME, ...outcome } }, fine),
    fail: (code, details = {}) =>
      end({ kind: 'failed', error: { code, message: `It failed: ${code}.`, details } }, fine),
    giveUp: () => end({ kind: 'canceled' }, fine),
    die: () => end(undefined, { code: null, signal: 'SIGKILL' }),
  };
  const running: RunningEngine = {
    ended: promise,
    cancel: () => ask('cancel'),
    limit: (uploadLimit) => limits.push(uploadLimit),
    remembered: () => {
      mayGoOn = true;
    },
    stop: async () => {
      ask('stop');
      await promise;
    },
  };
  return { engine, running };
}
