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
  /** As that, with the files that wait to be read or are being read. */
  readonly bytesFound: number;
  /** Bytes that were read. */
  readonly bytesRead: number;
  /** Bytes sent to the destination. */
  readonly bytesUploaded: number;
  /** Bytes of finished packs: what of them was not sent is on its way. */
  readonly bytesHanded: number;
}

/** Told what happens while a backup runs; cheap calls, none may throw. */
export interface ArchiveObserver {
  phase(phase: ArchivePhase): void;
  /** Told at the start how to read the counters at any time: readers go on while the walker waits for them. */
  live?(counters: () => ArchiveCounters): void;
  /** The walker arrived at a directory. */
  directory(path: ByteString, counters: ArchiveCounters): void;
  problem(problem: EntryProblem): void;
  /** For people: something about the run that they should know, and that is no problem. */
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
