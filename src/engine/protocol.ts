/** Messages between the daemon and an engine process. They are plain data, as they cross a process boundary. */
import type { DestinationAccess } from '../destination/access.ts';
import type { Person } from '../destination/open/open.ts';
import type {
  JobError,
  JobPhase,
  JobProblem,
  JobProgress,
  JobResult,
  JobSpec,
  RestorePreview,
  Wait,
} from '../jobs/job.ts';
import type { RetentionRules } from '../repository/retention/forgetting.ts';
import type { HandedSecret } from '../repository/slots/typed-secret.ts';

/** Everything an engine process needs to open a repository. Secrets exist only in memory and on the IPC channel. */
export interface EngineDestination {
  readonly name: string;
  /** An absolute path or a URL. */
  readonly url: string;
  /** Credentials and options for reaching a remote place. */
  readonly access?: DestinationAccess | undefined;
  /** Where to look for what `access` lacks. */
  readonly person?: Person | undefined;
  readonly secret: HandedSecret;
  /** Id of the repository that must be found there; null (or empty) when one may be made if the place is empty. */
  readonly repositoryId: string | null;
  /** Bytes per second; null for no limit. */
  readonly uploadLimit: number | null;
}

export interface ChangedPaths {
  /** Latin-1 byte strings, absolute: directories to list and files to look at again. */
  readonly paths: readonly string[];
  /**
   * Milliseconds since 1970: the paths contain every change since then. They are used only when the parent snapshot was
   * begun at that time or later; otherwise everything is walked. Without it the changes are taken as complete.
   */
  readonly since?: number;
}

/** Another repository that has the snapshot of the same run. */
export interface CopyOrigin {
  readonly destination: EngineDestination;
  /** The job that made the snapshot, and its id. */
  readonly jobId: string;
  readonly snapshotId: string;
}

/** The part of a backup in a pass to several destinations. */
export interface EnginePass {
  /** The snapshot is copied from the first of these that has it, without reading the source. Null: the source is read. */
  readonly copyFrom: readonly CopyOrigin[] | null;
  /** A new repository is made like the first of these that can be opened. */
  readonly alike: readonly EngineDestination[];
  /** Where one job of the pass keeps packs that it stores, for the next job; null when that is not worthwhile. */
  readonly spool: { readonly directory: string; readonly use: 'keep' | 'read' } | null;
}

/** Error code of a job that was to copy, but could not do so from any origin. */
export const NOTHING_TO_COPY = 'NOTHING_TO_COPY';

export interface EngineJob {
  readonly id: string;
  readonly spec: JobSpec;
  readonly destination: EngineDestination;
  readonly stateDirectory: string;
  /** Paths that no backup includes: the state directory and local repositories. */
  readonly never: readonly string[];
  /** From the watcher; null for a full walk. */
  readonly changes: ChangedPaths | null;
  /** Rules of the source from the settings. */
  readonly exclude: {
    readonly patterns: readonly string[];
    readonly ignoreFiles: readonly string[];
    readonly caches: boolean;
    readonly ifPresent: readonly string[];
    readonly largerThan: number | null;
    readonly oneFileSystem: boolean;
  };
  readonly retention: RetentionRules | null;
  /** Whether a person has said that the source is meant to be empty: then it is backed up as it is. */
  readonly emptyExpected: boolean;
  /** For a backup. */
  readonly comparison?: ComparisonWish;
  readonly workers: number | null;
  /** Missing for a backup outside of a pass. */
  readonly pass?: EnginePass;
  /** Directories that a restore may write to; empty or undefined for all. */
  readonly allowedRoots?: readonly string[];
}

export type ToEngine =
  | { readonly kind: 'run'; readonly job: EngineJob }
  /** Stop at the next safe point; what is stored already stays. */
  | { readonly kind: 'cancel' }
  | { readonly kind: 'limit'; readonly uploadLimit: number | null }
  /** Answers `opened`: the repository id is stored durably. */
  | { readonly kind: 'remembered' }
  | { readonly kind: 'end' };

export interface EngineOutcome {
  readonly result: JobResult;
  readonly snapshotId: string | null;
  /**
   * For a backup: when the run that read the source began, in milliseconds since 1970, whenever the snapshot was
   * copied. Null for other jobs, and for a dry run.
   */
  readonly sourceReadAt: number | null;
  /** Whether this run of a backup has read the source: its snapshot is no copy, and did not exist before. */
  readonly hasReadSource: boolean;
  /** Empty for a dry run that found no repository. */
  readonly repositoryId: string;
  readonly files: number;
  readonly filesSkipped: number;
  readonly bytes: number;
  readonly warnings: number;
  readonly progress: JobProgress;
  /** Stored bytes of the repository after the job; null when unknown. */
  readonly storedBytes: number | null;
  /** For a backup; null for other jobs, and when there was no earlier snapshot of the source. */
  readonly compared: SourceComparison | null;
  /** For a backup that copied the snapshot of another destination instead of reading the source. */
  readonly copied?: true;
  /** For a dry run of a restore. */
  readonly preview?: RestorePreview;
  /** Facts of a check, prune or drill, for the log. */
  readonly facts: Readonly<Record<string, string | number | boolean>>;
}

/** What a backup found, compared with the newest earlier snapshot that shows the whole source. */
export interface SourceComparison {
  /** Id of that snapshot; missing in ends that an older version stored. */
  readonly snapshotBefore?: string;
  /** Regular files in that snapshot. */
  readonly filesBefore: number;
  /** Entries that could not be read, or changed while they were read. */
  readonly unread: number;
  /** Whether the exclude rules left out everything in the source; missing in ends that an older version stored. */
  readonly leftOut?: boolean;
  readonly filesNew: number;
  readonly filesChanged: number;
  /** Size of the content that the repository did not have yet, before and after compression. */
  readonly bytesNew: number;
  readonly bytesStored: number;
  /** Number of files by extension, for extensions that no file had before; determined only when much is new. */
  readonly newExtensions: Readonly<Record<string, number>>;
  /** Missing where too little changed for damage, and in ends that an older version stored. */
  readonly damage?: SourceDamage;
  /** For folders with an open alarm about lost files: how many files each has. */
  readonly filesInFolders?: Readonly<Record<string, number>>;
}

/** A folder of a source with everything below. */
export interface FolderDamage {
  /** Relative to the source; empty for the source itself. */
  readonly path: string;
  readonly filesBefore: number;
  /** Files that are damaged. */
  readonly files: number;
}

/** Damage that is small beside the whole source. */
export interface SourceDamage {
  /** Files anywhere in the source that could be read before, and look encrypted now. */
  readonly encrypted: number;
  /** Folders with such files, at least 20 in each; the source itself is one of them. */
  readonly folders: readonly FolderDamage[];
  /** Folders directly in the source that lost at least 100 files. */
  readonly lost: readonly FolderDamage[];
  /** Whether all of it happened since the last backup, and none earlier in the hour. */
  readonly isNew: boolean;
}

/** What the daemon knows of a source that its next comparison needs. */
export interface ComparisonWish {
  /** The snapshot to compare with: the one from before the current hour of changes. Null for the last one. */
  readonly since: string | null;
  /** Files that were added, changed or deleted in that hour so far. */
  readonly touched: number;
  /** Folders with an open alarm about lost files, relative to the source. */
  readonly folders: readonly string[];
}

/** What a restore drill found of one snapshot. */
export interface SnapshotTrial {
  readonly snapshotId: string;
  /** Files that were compared, whether restored or only read. */
  readonly files: number;
  readonly failed: number;
}

export type FromEngine =
  | { readonly kind: 'ready'; readonly pid: number }
  /**
   * The repository that was opened or made at a place where none was remembered. The job goes on when it receives
   * `remembered`. If the place goes away later, the daemon knows that a repository was there.
   */
  | { readonly kind: 'opened'; readonly repositoryId: string }
  | { readonly kind: 'phase'; readonly phase: JobPhase }
  /** At most twice a second. `stored`: bytes newly stored so far, which distinguishes progress from a crash loop. */
  | {
      readonly kind: 'progress';
      readonly progress: JobProgress;
      readonly files: number;
      readonly bytes: number;
      readonly stored: number;
    }
  /** Bytes that the job has sent so far, including unfinished objects; once a second while they increase. */
  | { readonly kind: 'sent'; readonly bytes: number }
  | { readonly kind: 'problem'; readonly problem: JobProblem }
  | { readonly kind: 'note'; readonly text: string }
  /** What the job waits for; null when it goes on. */
  | { readonly kind: 'held_up'; readonly waitsFor: Wait | null }
  /** A drill has finished one snapshot. */
  | { readonly kind: 'tried'; readonly trial: SnapshotTrial }
  | { readonly kind: 'completed'; readonly outcome: EngineOutcome }
  | { readonly kind: 'failed'; readonly error: JobError }
  | { readonly kind: 'canceled' };

/** A request for the size of a source and of what its rules leave out, for a separate process (`size-estimate-main.ts`). */
export interface EstimateOrder extends Pick<EngineJob, 'stateDirectory' | 'never' | 'exclude'> {
  /** Absolute. */
  readonly path: string;
  /** Milliseconds after which counting stops. */
  readonly withinMs: number;
}

export interface SourceEstimate {
  /** Real path of the source. */
  readonly path: string;
  readonly files: number;
  readonly directories: number;
  readonly bytes: number;
  /** False when counting stopped early: the figures are minimums. */
  readonly complete: boolean;
  readonly unreadable: number;
  /** Regular files that were left out, as far as they were counted. */
  readonly excludedFiles: number;
  /** The largest first. */
  readonly excluded: readonly LeftOut[];
  /** Directories directly below, the largest first. */
  readonly largest: readonly { readonly path: string; readonly bytes: number; readonly files: number }[];
}

export interface LeftOut {
  readonly path: string;
  readonly reason:
    | 'pattern'
    | 'ignore_file'
    | 'cache'
    | 'if_present'
    | 'larger_than'
    | 'other_file_system'
    | 'never';
  /** The pattern as it was written, the name of the file that marks its directory, or the reason why it is never backed up. */
  readonly rule: string | null;
}

export type FromEstimate =
  /** `isLast`: the final result; otherwise what was counted so far, sent twice a second. */
  | { readonly kind: 'counted'; readonly estimate: SourceEstimate; readonly isLast: boolean }
  /** The source or a rule cannot be used. */
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      readonly hint: string;
      readonly details: Readonly<Record<string, string | number | boolean>>;
    };
