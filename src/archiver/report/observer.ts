import type { ByteString } from '../../base/byte-path.ts';
import type { SourceError } from '../../base/errors.ts';
import type { EntryProblem } from '../../format/records.ts';

export type ArchivePhase = 'scanning' | 'uploading' | 'committing';

/** Counters of a running backup; they only grow. */
export interface ArchiveCounters {
  readonly filesNew: number;
  readonly filesChanged: number;
  readonly filesUnchanged: number;
  readonly filesFailed: number;
  readonly directories: number;
  readonly links: number;
  readonly others: number;
  /** Logical bytes of the files captured so far, unchanged ones included. */
  readonly bytesDone: number;
  /** As `bytesDone`, plus the files that wait to be read or are being read. */
  readonly bytesFound: number;
  /** Bytes that were read. */
  readonly bytesRead: number;
  /** Bytes sent to the destination. */
  readonly bytesUploaded: number;
  /** Bytes of finished packs: those that have been sent, and those on their way. */
  readonly bytesHanded: number;
}

/** Receives the events of a running backup. Calls are cheap, and none may throw. */
export interface ArchiveObserver {
  phase(phase: ArchivePhase): void;
  /**
   * Called at the start with a function that returns the counters at any time: readers work on while the walker waits
   * for them.
   */
  live?(counters: () => ArchiveCounters): void;
  /** The walker arrived at a directory. */
  directory(path: ByteString, counters: ArchiveCounters): void;
  problem(problem: EntryProblem): void;
  /** Text for people: something about the run that they should know, but that is not a problem. */
  note?(text: string): void;
  /** A file that holds exclude rules could not be used, or the rules leave out a source as a whole. */
  ruleProblem(error: SourceError): void;
}

export const SILENT: ArchiveObserver = {
  phase: () => {},
  directory: () => {},
  problem: () => {},
  ruleProblem: () => {},
};
