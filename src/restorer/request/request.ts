import type { ByteString } from '../../base/byte-path.ts';
import type { NeverPath } from '../../exclude/excluder.ts';
import type { PatternSetting } from '../../exclude/patterns.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Snapshot } from '../../repository/snapshots.ts';

/**
 * What happens to an entry that stands in the target already. `never`: it stays. `if_changed`: the content of a regular
 * file of equal size and modification time stays, and its metadata is set when it differs. `if_newer`: it stays unless
 * the snapshot's is newer. `always`: nothing is taken on trust. Content that is equal, part by part, is left alone in
 * every mode.
 */
export type OverwriteMode = 'never' | 'if_changed' | 'if_newer' | 'always';

export type RestoreTarget =
  /**
   * An absolute path; created when absent. Entries keep their full path below it. `within`: it must lie in one of these
   * directories once links are resolved; none for anywhere.
   */
  | {
      readonly kind: 'directory';
      readonly path: string;
      readonly within?: readonly string[] | undefined;
    }
  /** Where the entries were when they were backed up. */
  | { readonly kind: 'in-place' };

export interface RestoreRequest {
  readonly repository: Repository;
  /** Loaded when absent. */
  readonly index?: ChunkIndex | undefined;
  readonly snapshot: Snapshot;
  readonly target: RestoreTarget;
  /** Holdfast's own places, as real paths: nothing in them is written or removed, and no target lies in one. */
  readonly never: readonly NeverPath[];
  /** Absolute paths in the snapshot to restore, with everything below them; none: all of it. */
  readonly paths: readonly ByteString[];
  /**
   * A directory of the snapshot: nothing outside of it is restored, and patterns are relative to it. Its entries are put
   * directly below a target that is a directory; in place they come back to where they were.
   */
  readonly subfolder?: ByteString | undefined;
  /** gitignore patterns, relative to `subfolder`; when there are any, only what matches one of them, or lies below a match, is restored. */
  readonly include: readonly PatternSetting[];
  /** gitignore patterns of what is left out; they win over `include`. */
  readonly exclude: readonly PatternSetting[];
  readonly overwrite: OverwriteMode;
  /**
   * Removes from restored directories what the snapshot's version of them does not have, what the backup left out too.
   * What this restore leaves out stays, and so does what is in the root directory itself, and in what is mounted
   * somewhere below what was asked for.
   */
  readonly deleteExtra: boolean;
  /** Reads and reports, writes nothing. */
  readonly dryRun: boolean;
  /** Reads files that were changed in place once more. What is written is always checked against its ids before. */
  readonly verify: boolean;
  /** Owners, setuid and setgid bits, devices, security.* and trusted.* attributes; needs root. */
  readonly restoreOwnership: boolean;
  /** Owners by the names that the snapshot recorded, where this system knows them. */
  readonly ownersByName: boolean;
  /** Threads; as many as there are cores, at most 4, when absent. */
  readonly workers?: number | undefined;
}

/** Something of an entry that was left out although the entry was restored. */
export type OmissionKind =
  | 'ownership'
  | 'setuid-bits'
  | 'devices'
  | 'sockets'
  | 'privileged-xattrs'
  | 'xattrs'
  | 'times'
  | 'modes'
  | 'holes'
  | 'hard-links'
  | 'names'
  | 'deletion';

export interface Omission {
  readonly kind: OmissionKind;
  readonly count: number;
  /** Why, for the first of them. */
  readonly reason: string;
  /** The first few, below the target. */
  readonly paths: readonly ByteString[];
}

/** An entry that could not be restored. */
export interface RestoreProblem {
  /** In the snapshot. */
  readonly path: ByteString;
  /** errno name, CORRUPT_DATA, IN_THE_WAY, TOO_DEEP, CHANGED or LIMIT_EXCEEDED. */
  readonly code: string;
  readonly message: string;
}

export interface RestoreSummary {
  /** `partial`: something in `errors`. */
  readonly status: 'complete' | 'partial';
  /** Written, or given their metadata where only that differed. */
  readonly filesRestored: number;
  /** Already as in the snapshot. */
  readonly filesUnchanged: number;
  /** Left alone by the overwrite mode. */
  readonly filesSkipped: number;
  readonly filesFailed: number;
  /** Created or given their metadata. */
  readonly directories: number;
  /** Directories that could not be read, or of which parts could not: which names were there is unknown. */
  readonly directoriesUnread: number;
  readonly links: number;
  readonly others: number;
  /** Bytes written. */
  readonly bytesRestored: number;
  /** Sizes of all selected files. */
  readonly bytesTotal: number;
  readonly omissions: readonly Omission[];
  /** The first 10,000. */
  readonly errors: readonly RestoreProblem[];
  readonly errorsMore: number;
  /** Paths removed by `deleteExtra`, directories for all that was in them; the first 10,000. */
  readonly deleted: readonly ByteString[];
  readonly deletedMore: number;
  readonly durationMs: number;
}

export type RestorePhase = 'planning' | 'comparing' | 'restoring' | 'finishing';

/** Counters of a running restore. They only grow; the totals do while planning. */
export interface RestoreCounters {
  readonly filesDone: number;
  readonly filesTotal: number;
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export type PlannedAction = 'create' | 'update' | 'replace' | 'leave' | 'skip' | 'delete';

/** Whatever is no directory counts as a file. */
export type PlannedKind = 'file' | 'directory';

/** Told what happens while a restore runs; cheap calls, none may throw. */
export interface RestoreObserver {
  phase(phase: RestorePhase): void;
  /** A few times a second at most; `path` is a file just done. */
  progress(counters: RestoreCounters, path: ByteString): void;
  problem(problem: RestoreProblem): void;
  /** Dry runs only: what would be done with an entry. */
  planned(path: ByteString, action: PlannedAction, kind: PlannedKind): void;
}

export const SILENT_RESTORE: RestoreObserver = {
  phase: () => {},
  progress: () => {},
  problem: () => {},
  planned: () => {},
};
