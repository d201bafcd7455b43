/** What the agent does for the jobs that its runner runs, and is told of them. */
import type { HookSettings } from '../config/settings.ts';
import type { EngineJob, EngineOutcome, SnapshotTrial } from '../engine/protocol.ts';
import type { Job, JobSpec, Wait } from './job.ts';
import type { PassPart } from './pass.ts';
import type { JobPlaces } from './queue.ts';

export interface JobHost {
  /** What a job works on, which no other may work on at the same time. */
  placesOf(spec: JobSpec): JobPlaces;
  /** What a job waits for; null when it may run. */
  waitingReason(job: Job, part: PassPart): Promise<Wait | null>;
  /** What the engine has to be told. A throw fails the job. */
  prepare(job: Job, part: PassPart, signal: AbortSignal): Promise<EngineJob>;
  hooksOf(job: Job): HookSettings | null;
  /** A hook of the job begins; what is returned is called when it has ended. */
  hookRuns(job: Job): () => void;
  /** An attempt at a job begins. A throw is reported as trouble. */
  began(job: Job): void;
  /** A running job begins to wait for what others hold up: in a sentence. */
  heldUp(jobId: string, waitsFor: string): void;
  /**
   * An engine has opened, or made, a repository where none was remembered, and stored nothing there yet. Returns when it
   * is remembered for good; a throw fails a backup.
   */
  opened(job: Job, repositoryId: string): void;
  /** A drill is through with one snapshot. A throw is reported as trouble. */
  tried(jobId: string, trial: SnapshotTrial): void;
  /** What somebody has accepted is no warning: gives the outcome of a job as people are to be told of it. */
  judged(jobId: string, outcome: EngineOutcome): EngineOutcome;
  /** A job ends, with what its engine found out when it completed: in the transaction that stores it. A throw undoes it. */
  keepEnd(job: Job, outcome: EngineOutcome | null): void;
  /** The end of this job cannot be stored for now; told once. A throw is reported as trouble. */
  endDelayed(job: Job): void;
  /** An engine has completed a job: what it found out, told before `ended`. A throw is reported as trouble. */
  completed(job: Job, outcome: EngineOutcome): void;
  /** A job is over. A throw is reported as trouble. */
  ended(job: Job): void;
}
