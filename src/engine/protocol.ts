/** Messages between the daemon and an engine process. Plain data: they cross a process boundary. */
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

/** Everything an engine process needs to reach a repository. Secrets are in memory and on the IPC channel only. */
export interface EngineDestination {
  readonly name: string;
  /** An absolute path or a URL. */
  readonly url: string;
  /** What a remote place is reached with. */
  readonly access?: DestinationAccess | undefined;
  /** Where to look for what `access` does not say. */
  readonly person?: Person | undefined;
  readonly secret: HandedSecret;
  /** The repository that must be found there; null (or empty) when it may be initialised if the place is empty. */
  readonly repositoryId: string | null;
  /** Bytes per second; null for no limit. */
  readonly uploadLimit: number | null;
}

export interface ChangedPaths {
  /** Latin-1 byte strings, absolute: directories to list and files to look at again. */
  readonly paths: readonly string[];
  /**
   * Milliseconds since 1970: every change since then is among the paths. Used only when the snapshot to compare with was
   * begun at that time or later, else everything is walked. Left out: the changes are taken as complete.
   */
  readonly since?: number;
}

/** The same run in another repository. */
export interface CopyOrigin {
  readonly destination: EngineDestination;
  /** Of the job that made it, and of what it made. */
  readonly jobId: string;
  readonly snapshotId: string;
}

/** A backup that goes to several destinations. */
export interface EnginePass {
  /** The source is not read: the run is copied from the first of these that has it. Null: the source is read. */
  readonly copyFrom: readonly CopyOrigin[] | null;
  /** A repository that is made anew is made like the first of these that can be opened. */
  readonly alike: readonly EngineDestination[];
  /** Packs that one job of the pass has stored, for the next; null when they are not worth keeping. */
  readonly spool: { readonly directory: string; readonly use: 'keep' | 'read' } | null;
}

/** Error code of a job that was to copy and can do so from none of its origins. */
export const NOTHING_TO_COPY = 'NOTHING_TO_COPY';

export interface EngineJob {
  readonly id: string;
  readonly spec: JobSpec;
  readonly destination: EngineDestination;
  readonly stateDirectory: string;
  /** Paths that no backup takes in: state directory, local repositories. */
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
  /** A person said that the source is meant to be empty: it is backed up as it is. */
  readonly emptyExpected: boolean;
  readonly workers: number | null;
  /** Left out: the backup is one by itself. */
  readonly pass?: EnginePass;
  /** Directories that a restore may write to; none for all. */
  readonly allowedRoots?: readonly string[];
}

export type ToEngine =
  | { readonly kind: 'run'; readonly job: EngineJob }
  /** Stop at the next safe point; what is stored stays. */
  | { readonly kind: 'cancel' }
  | { readonly kind: 'limit'; readonly uploadLimit: number | null }
  /** The answer to `opened`: it is written down for good. */
  | { readonly kind: 'remembered' }
  | { readonly kind: 'end' };

export interface EngineOutcome {
  readonly result: JobResult;
  readonly snapshotId: string | null;
  /**
   * Of a backup: when the run began that read the source, in milliseconds since 1970, whenever its snapshot was copied.
   * Null for anything else, and for a dry run.
   */
  readonly sourceReadAt: number | null;
  /** A backup of which this very run has looked at the source: its snapshot was not there already, and is no copy. */
  readonly hasReadSource: boolean;
  /** Empty for a dry run that found no repository. */
  readonly repositoryId: string;
  readonly files: number;
  readonly filesSkipped: number;
  readonly bytes: number;
  readonly warnings: number;
  readonly progress: JobProgress;
  /** Stored bytes of the repository after the job, when it is known. */
  readonly storedBytes: number | null;
  /** Of a backup; null for anything else, and when there was no earlier snapshot of the source. */
  readonly compared: SourceComparison | null;
  /** Of a backup that has not looked at the source: another destination had the run. */
  readonly copied?: true;
  /** Of a dry run of a restore. */
  readonly preview?: RestorePreview;
  /** Facts of a check, prune or drill, for the log. */
  readonly facts: Readonly<Record<string, string | number | boolean>>;
}

/** What a backup found, compared with the newest earlier snapshot that shows how the source was. */
export interface SourceComparison {
  /** Id of that snapshot; ends that an older version noted have none. */
  readonly snapshotBefore?: string;
  /** Regular files in that snapshot. */
  readonly filesBefore: number;
  /** Entries that could not be read, or changed while they were. */
  readonly unread: number;
  /** The exclude rules left out all that is in the source; ends that an older version noted do not say. */
  readonly leftOut?: boolean;
  readonly filesNew: number;
  readonly filesChanged: number;
  /** Content that the repository did not have yet, and what it was compressed to. */
  readonly bytesNew: number;
  readonly bytesStored: number;
  /** Files by extension, of extensions that no file had before; looked at only when much is new. */
  readonly newExtensions: Readonly<Record<string, number>>;
}

/** What a restore drill found of one snapshot. */
export interface SnapshotTrial {
  readonly snapshotId: string;
  /** Restored, or only read, and compared. */
  readonly files: number;
  readonly failed: number;
}

export type FromEngine =
  | { readonly kind: 'ready'; readonly pid: number }
  /**
   * Which repository was opened, or made, at a place of which none was remembered. The job goes on once it is
   * `remembered`: of a place that goes away later, it has to be known that one was there.
   */
  | { readonly kind: 'opened'; readonly repositoryId: string }
  | { readonly kind: 'phase'; readonly phase: JobPhase }
  /** At most twice a second. `stored`: bytes newly stored so far, which is what tells progress from a crash loop. */
  | {
      readonly kind: 'progress';
      readonly progress: JobProgress;
      readonly files: number;
      readonly bytes: number;
      readonly stored: number;
    }
  /** What the job has sent so far, finished objects or not: once a second while that grows. */
  | { readonly kind: 'sent'; readonly bytes: number }
  | { readonly kind: 'problem'; readonly problem: JobProblem }
  | { readonly kind: 'note'; readonly text: string }
  /** What others hold up; null once it goes on. */
  | { readonly kind: 'held_up'; readonly waitsFor: Wait | null }
  /** A drill is through with one snapshot. */
  | { readonly kind: 'tried'; readonly trial: SnapshotTrial }
  | { readonly kind: 'completed'; readonly outcome: EngineOutcome }
  | { readonly kind: 'failed'; readonly error: JobError }
  | { readonly kind: 'canceled' };

/** How much is in a source, and what its rules leave out: counted by a process of its own (`size-estimate-main.ts`). */
export interface EstimateOrder extends Pick<EngineJob, 'stateDirectory' | 'never' | 'exclude'> {
  /** Absolute. */
  readonly path: string;
  /** Milliseconds after which counting is broken off. */
  readonly withinMs: number;
}

export interface SourceEstimate {
  /** Where the source really lies. */
  readonly path: string;
  readonly files: number;
  readonly directories: number;
  readonly bytes: number;
  /** False: it is at least that much. */
  readonly complete: boolean;
  readonly unreadable: number;
  /** Regular files, as far as they were counted. */
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
  /** The pattern as it is written, the name of the file that marks its directory, or why it is never backed up. */
  readonly rule: string | null;
}

export type FromEstimate =
  /** `isLast`: it is through; else what was seen so far, twice a second. */
  | { readonly kind: 'counted'; readonly estimate: SourceEstimate; readonly isLast: boolean }
  /** The source, or a rule, cannot be used. */
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      readonly hint: string;
      readonly details: Readonly<Record<string, string | number | boolean>>;
    };
