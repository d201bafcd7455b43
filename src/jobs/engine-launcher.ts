/** What the runner needs of engine processes. */
import type { EngineJob, FromEngine } from '../engine/protocol.ts';

export interface EngineEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** The agent ended it, as it had not become ready for that long. */
  readonly notReadyAfterMs?: number | undefined;
}

/** One job in an engine process. */
export interface RunningEngine {
  /** Asks the engine to stop at the next safe point; it answers `canceled`, or `completed` when that was too late. */
  cancel(): void;
  /** Bytes per second; null for no limit. */
  limit(uploadLimit: number | null): void;
  /** The answer to `opened`, without which the job does not go on. */
  remembered(): void;
  /** Asks it to stop, and kills it when it takes too long. Resolves when it has ended. */
  stop(): Promise<void>;
  /**
   * Resolves when nothing more comes of this job: after its last message (`completed`, `failed`, `canceled`), or when
   * the process has ended without one. Never rejects.
   */
  readonly ended: Promise<EngineEnd>;
}

export interface EngineLauncher {
  /** Never throws: what goes wrong is told by `on` as a note, and `ended` resolves. */
  start(job: EngineJob, on: (message: FromEngine) => void): RunningEngine;
}
