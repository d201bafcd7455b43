import type { ByteString } from '../../base/byte-path.ts';
import type { NeverPath } from '../../exclude/excluder.ts';
import type { PatternSetting } from '../../exclude/patterns.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Snapshot } from '../../repository/snapshots.ts';

/**
 * What happens to an entry that exists in the target. `never`: it stays. `if_changed`: a regular file that is the one
 * that was backed up stays, by its size, times and inode; of any other the content is compared. Its metadata is set when it differs. `if_newer`: it stays unless the
 * snapshot's is newer. `always`: nothing is taken on trust. In every mode, parts of a file's content that are already
 * right are not written again.
 */
export type OverwriteMode = 'never' | 'if_changed' | 'if_newer' | 'always';

export type RestoreTarget =
  /**
   * An absolute path; created when absent. Entries keep their full path below it. `within`: with links resolved, it
   * must lie in one of these directories; if there are none, anywhere.
   */
  | {
      readonly kind: 'directory';
      readonly path: string;
      readonly within?: readonly string[] | undefined;
    }
  /** The places where the entries were when they were backed up. */
  | { readonly kind: 'in-place' };

export interface RestoreRequest {
  readonly repository: Repository;
  /** Loaded when absent. */
  readonly index?: ChunkIndex | undefined;
  readonly snapshot: Snapshot;
  readonly target: RestoreTarget;
  /** Holdfast's own places, as real paths: nothing in them is written or removed, and no target lies in one. */
  readonly never: readonly NeverPath[];
  /** Absolute paths in the snapshot to restore, with everything below them. If there are none, everything is restored. */
  readonly paths: readonly ByteString[];
  /**
   * A directory of the snapshot: nothing outside of it is restored, and patterns are relative to it. Its entries are put
   * directly below a target that is a directory; in place they come back to where they were.
   */
  readonly subfolder?: ByteString | undefined;
  /**
   * gitignore patterns, relative to `subfolder`. If there are any, only entries that match one, or lie below a match,
   * are restored.
   */
  readonly include: readonly PatternSetting[];
  /** gitignore patterns of entries to leave out; they take precedence over `include`. */
  readonly exclude: readonly PatternSetting[];
  readonly overwrite: OverwriteMode;
  /**
   * Removes from restored directories what the snapshot's version of them does not have, including what the backup left
   * out. Entries that this restore leaves out stay, and so do those in the root directory itself, and in file systems
   * mounted somewhere below what was asked for.
   */
  readonly deleteExtra: boolean;
  /** Only reads and reports; nothing is written. */
  readonly dryRun: boolean;
  /** Reads files that were changed in place again. In any case, content is checked against its ids before it is written. */
  readonly verify: boolean;
  /** Restores owners, setuid and setgid bits, devices, security.* and trusted.* attributes; needs root. */
  readonly restoreOwnership: boolean;
  /** Restores owners by the names that the snapshot recorded, where this system knows them. */
  readonly ownersByName: boolean;
  /** Number of threads; if absent, the number of cores, at most 4. */
  readonly workers?: number | undefined;
}

/** A part of an entry that was left out although the entry was restored. */
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

/** Why owners and what else needs privileges was left out. The reader has to do something else about each. */
export const NOT_ASKED_FOR = 'restoring it was not asked for';
export const ONLY_ROOT = 'only root can set it';

export interface Omission {
  readonly kind: OmissionKind;
  readonly count: number;
  /** The reason, for the first of them. */
  readonly reason: string;
  /** The first few, below the target. */
  readonly paths: readonly ByteString[];
}

/** An entry that could not be restored. */
export interface RestoreProblem {
  /** Path in the snapshot. */
  readonly path: ByteString;
  /** errno name, CORRUPT_DATA, IN_THE_WAY, TOO_DEEP, CHANGED or LIMIT_EXCEEDED. */
  readonly code: string;
  readonly message: string;
}

export interface RestoreSummary {
  /** `partial`: there are `errors`. */
  readonly status: 'complete' | 'partial';
  /** Files that were written, or whose metadata was set where only that differed. */
  readonly filesRestored: number;
  /** Files that were already as in the snapshot. */
  readonly filesUnchanged: number;
  /** Files that the overwrite mode left alone. */
  readonly filesSkipped: number;
  readonly filesFailed: number;
  /** Directories that were created or given their metadata. */
  readonly directories: number;
  /** Directories that could not be read in full, so that some of their names are unknown. */
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
  /** Paths removed by `deleteExtra`; a directory stands for everything in it. The first 10,000. */
  readonly deleted: readonly ByteString[];
  readonly deletedMore: number;
  readonly durationMs: number;
}

export type RestorePhase = 'planning' | 'comparing' | 'restoring' | 'finishing';

/** Counters of a running restore. They only grow; the totals do so during planning. */
export interface RestoreCounters {
  readonly filesDone: number;
  readonly filesTotal: number;
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export type PlannedAction = 'create' | 'update' | 'replace' | 'leave' | 'skip' | 'delete';

/** Anything but a directory counts as a file. */
export type PlannedKind = 'file' | 'directory';

/** Receives the events of a running restore. Calls are cheap, and none may throw. */
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
