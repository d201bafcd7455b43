/** The interface through which the runner starts and controls engine processes. */
import type { EngineJob, FromEngine } from '../engine/protocol.ts';

export interface EngineEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** Set when the agent ended the process because it was not ready after this time. */
  readonly notReadyAfterMs?: number | undefined;
}

/** One job in an engine process. */
export interface RunningEngine {
  /** Asks the engine to stop at the next safe point. It answers `canceled`, or `completed` when it was too late to stop. */
  cancel(): void;
  /** Sets the upload limit in bytes per second; null for no limit. */
  limit(uploadLimit: number | null): void;
  /** Answers `opened`: the repository id is recorded. The job does not go on without it. */
  remembered(): void;
  /** Asks the engine to stop, and kills it when that takes too long. Resolves when it has ended. */
  stop(): Promise<void>;
  /**
   * Resolves when the job is over: after its last message (`completed`, `failed`, `canceled`), or when the process has
   * ended without one. Never rejects.
   */
  readonly ended: Promise<EngineEnd>;
}

export interface EngineLauncher {
  /** Never throws: a failure to start is reported to `on` as a note, and `ended` resolves. */
  start(job: EngineJob, on: (message: FromEngine) => void): RunningEngine;
}
