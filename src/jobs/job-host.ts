/** What the runner needs of the agent: facts about jobs, and somewhere to report what becomes of them. */
import type { HookSettings } from '../config/settings.ts';
import type { EngineJob, EngineOutcome, SnapshotTrial } from '../engine/protocol.ts';
import type { Job, JobSpec, Wait } from './job.ts';
import type { PassPart } from './pass.ts';
import type { JobPlaces } from './queue.ts';

export interface JobHost {
  /** The source and destination of a job, which no other job may use at the same time. */
  placesOf(spec: JobSpec): JobPlaces;
  /** What a job waits for; null when it may run. */
  waitingReason(job: Job, part: PassPart): Promise<Wait | null>;
  /** Builds the job for the engine. A throw fails the job. */
  prepare(job: Job, part: PassPart, signal: AbortSignal): Promise<EngineJob>;
  hooksOf(job: Job): HookSettings | null;
  /** A hook of the job begins. The returned function is called when the hook has ended. */
  hookRuns(job: Job): () => void;
  /** An attempt at a job begins. A throw is reported as trouble. */
  began(job: Job): void;
  /** A running job begins to wait for others. `waitsFor` is a sentence. */
  heldUp(jobId: string, waitsFor: string): void;
  /**
   * An engine has opened or made a repository where none was remembered, and has stored nothing there yet. Returns when
   * the repository id is stored durably; a throw fails a backup.
   */
  opened(job: Job, repositoryId: string): void;
  /** A drill has finished one snapshot. A throw is reported as trouble. */
  tried(jobId: string, trial: SnapshotTrial): void;
  /** Returns the outcome of a job as people are to see it: problems that somebody has accepted are no warnings. */
  judged(jobId: string, outcome: EngineOutcome): EngineOutcome;
  /** A job ends; `outcome` is null unless it completed. Called in the transaction that stores the end: a throw undoes it. */
  keepEnd(job: Job, outcome: EngineOutcome | null): void;
  /** The end of this job cannot be stored for now; called once. A throw is reported as trouble. */
  endDelayed(job: Job): void;
  /** An engine has completed a job; called before `ended`. A throw is reported as trouble. */
  completed(job: Job, outcome: EngineOutcome): void;
  /** A job that has ended got a warning since. A throw is reported as trouble. */
  warned(job: Job): void;
  /** A job has ended. A throw is reported as trouble. */
  ended(job: Job): void;
}
