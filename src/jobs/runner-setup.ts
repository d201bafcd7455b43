/** What a runner of jobs is given, and whom it tells. */
import type { Clock } from '../base/clock.ts';
import type { HookSettings } from '../config/settings.ts';
import type { SettingStore } from '../db/settings.ts';
import type { EngineJob, EngineOutcome, SnapshotTrial } from '../engine/protocol.ts';
import type { EngineLauncher } from './engine-launcher.ts';
import type { JobBook } from './job-book.ts';
import type { Job, Wait } from './job.ts';
import type { PassPart } from './pass.ts';
import type { PlacesOf } from './queue.ts';

export interface RunnerSetup {
  /** What somebody has accepted is no warning: gives the outcome of a job as people are to be told of it. */
  readonly judged?: ((jobId: string, outcome: EngineOutcome) => EngineOutcome) | undefined;
  readonly book: JobBook;
  readonly settings: SettingStore;
  readonly launcher: EngineLauncher;
  /** Jobs at work beside which none begins that nobody waits for; undefined for any number. */
  readonly mostAtOnce?: number | undefined;
  readonly clock: Clock;
  /** Which start of the machine this is. */
  readonly boot: () => string;
  readonly placesOf: PlacesOf;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What a job waits for; null when it may run. */
  readonly waitingReason: (job: Job, part: PassPart) => Promise<Wait | null>;
  /** What the engine has to be told. A throw fails the job. */
  readonly prepare: (job: Job, part: PassPart, signal: AbortSignal) => Promise<EngineJob>;
  readonly hooksOf: (job: Job) => HookSettings | null;
  /** A hook of the job begins; what is returned is called when it has ended. */
  readonly hookRuns: (job: Job) => () => void;
  /** Bytes per second, now. */
  readonly uploadLimit: () => number | null;
  /** An engine has completed a job: what it found out, told before `ended`. A throw is reported to `trouble`. */
  readonly completed: (job: Job, outcome: EngineOutcome) => void;
  /** An attempt at a job begins. A throw is reported to `trouble`. */
  readonly began: (job: Job) => void;
  /**
   * An engine has opened, or made, a repository where none was remembered, and stored nothing there yet. Returns when it
   * is remembered for good; a throw fails a backup.
   */
  readonly opened: (job: Job, repositoryId: string) => void;
  /** A drill is through with one snapshot. A throw is reported to `trouble`. */
  readonly tried: (jobId: string, trial: SnapshotTrial) => void;
  /** A running job begins to wait for what others hold up: in a sentence. */
  readonly heldUp?: ((jobId: string, waitsFor: string) => void) | undefined;
  /** A job ends, with what its engine found out when it completed: in the transaction that stores it. A throw undoes it. */
  readonly keepEnd: (job: Job, outcome: EngineOutcome | null) => void;
  /** The end of this job cannot be stored for now; told once. A throw is reported to `trouble`. */
  readonly endDelayed: (job: Job) => void;
  /** A job is over. A throw is reported to `trouble`. */
  readonly ended: (job: Job) => void;
  /** Something failed that no job can be blamed for, as the state database; to be logged. */
  readonly trouble: (error: unknown) => void;
}
