/** Jobs as the state database stores them and the Desktop API shows them. */
import type { StoredBy } from '../base/stored-by.ts';
import type { OthersWait } from '../base/waits.ts';

export type JobType = 'backup' | 'restore' | 'check' | 'prune' | 'drill';
export type JobStatus = 'queued' | 'running' | 'completed' | 'failed' | 'canceled';
export type JobPhase = 'scanning' | 'uploading' | 'committing' | 'verifying' | 'pruning' | 'restoring';
/** `warning`: complete except for files that could not be read, or changed while they were read. */
export type JobResult = 'success' | 'warning';
export type JobTrigger = 'api' | 'schedule' | 'watch' | 'cli' | 'ui';

/** Prefix of the ids of each type; a ULID follows. */
export const ID_PREFIX = {
  backup: 'bkp_',
  restore: 'rst_',
  check: 'chk_',
  prune: 'prn_',
  drill: 'drl_',
} as const;

export interface BackupOptions {
  /** `zstd`, `zstd:1` … `zstd:19`, `none`, `auto`. */
  readonly compression: string;
  readonly encryption: boolean;
  readonly deduplication: boolean;
  readonly exclude: readonly string[];
  readonly tags: readonly string[];
  readonly dry_run: boolean;
}

export interface BackupSpec {
  readonly type: 'backup';
  /** Absolute path. */
  readonly source: string;
  /** Name of a configured destination, or a URL without secrets. */
  readonly destination: string;
  readonly options: BackupOptions;
}

export type Overwrite = 'never' | 'if_changed' | 'if_newer' | 'always';

export interface RestoreSpec {
  readonly type: 'restore';
  readonly destination: string;
  readonly snapshot_id: string;
  /** Who stored the snapshot; missing in jobs of older versions. */
  readonly stored_by?: StoredBy | undefined;
  /** Absolute paths in the snapshot, with those given in base64 as `{b64}`. Empty: everything. */
  readonly paths: readonly (string | { readonly b64: string })[];
  /** Absolute path; null restores in place. */
  readonly target: string | null;
  readonly options: {
    readonly overwrite: Overwrite;
    readonly dry_run: boolean;
    readonly verify: boolean;
    readonly delete_extra: boolean;
    readonly restore_ownership: boolean;
  };
}

export interface CheckSpec {
  readonly type: 'check';
  readonly destination: string;
  /** Share of all packs to read, 0 to 1. */
  readonly read_data: number;
}

export interface PruneSpec {
  readonly type: 'prune';
  readonly destination: string;
  /** Apply the retention of the settings first, which forgets snapshots. */
  readonly apply_retention: boolean;
}

/** Restores random files of the newest snapshots to a scratch directory and compares them. */
export interface DrillSpec {
  readonly type: 'drill';
  readonly destination: string;
  readonly files: number;
}

export type JobSpec = BackupSpec | RestoreSpec | CheckSpec | PruneSpec | DrillSpec;

export interface JobProgress {
  /** 0 to 100; null while the total is unknown. */
  readonly percent: number | null;
  readonly files_total: number;
  readonly files_new: number;
  readonly files_changed: number;
  readonly files_unchanged: number;
  readonly files_failed: number;
  readonly bytes_done: number;
  readonly bytes_total: number;
  readonly bytes_uploaded: number;
  readonly bytes_deduplicated: number;
  readonly current_path: string | null;
  readonly rate_bytes_per_second: number;
  readonly eta_seconds: number | null;
}

export const NO_PROGRESS: JobProgress = {
  percent: null,
  files_total: 0,
  files_new: 0,
  files_changed: 0,
  files_unchanged: 0,
  files_failed: 0,
  bytes_done: 0,
  bytes_total: 0,
  bytes_uploaded: 0,
  bytes_deduplicated: 0,
  current_path: null,
  rate_bytes_per_second: 0,
  eta_seconds: null,
};

/** A key in the details of an error: the disk of the state directory is full or read-only, which passes. */
export const STATE_UNWRITABLE = 'state_unwritable';

export interface JobError {
  /** From the registry of error codes. */
  readonly code: string;
  /** What happened, then what to do. */
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A file that could not be saved or restored. */
export interface JobProblem {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** What a restore would do to the files at its target, from a dry run. */
export interface RestorePreview {
  /** Everything but directories counts as a file. */
  readonly filesNew: number;
  readonly filesOverwritten: number;
  /** Files that stay as they are although the snapshot has other versions. */
  readonly filesKept: number;
  readonly filesUnchanged: number;
  /** A directory counts as one, whatever is in it. */
  readonly filesDeleted: number;
  /** Size of the files that would be written. */
  readonly bytes: number;
  /** Ordered by path. When there are too many, entries that would be lost take precedence over entries that stay. */
  readonly items: readonly PreviewItem[];
  readonly isCut: boolean;
}

export interface PreviewItem {
  /** On this machine; lossy where it is not UTF-8. */
  readonly path: string;
  readonly what: 'overwritten' | 'kept' | 'deleted';
}

/** What a job waits for. */
export type Wait =
  | { readonly code: PlainWait; readonly params: Readonly<Record<string, never>> }
  | { readonly code: 'quiet_hours'; readonly params: { /** `HH:MM`. */ readonly until: string } }
  /** `until` is an RFC 3339 time; null: until a person ends the pause. */
  | { readonly code: 'paused'; readonly params: { readonly until: string | null } }
  | OthersWait;

export type PlainWait =
  /** The destination is neither there nor mounted. */
  | 'destination_absent'
  | 'on_battery'
  | 'on_metered'
  /** For the job of the same pass that reads the source. */
  | 'reader'
  /** For an earlier identical job that is being retried. */
  | 'earlier'
  /** For another job at the same source or destination, or for memory. */
  | 'turn'
  /** For the next attempt, after a failure that passes. */
  | 'destination_unreachable'
  | 'repository_locked'
  | 'state_unwritable'
  /** For the Partner service. */
  | 'account_suspended'
  | 'trial_over';

/** Times are milliseconds since 1970. */
export interface Job {
  readonly id: string;
  readonly type: JobType;
  readonly status: JobStatus;
  readonly phase: JobPhase | null;
  readonly result: JobResult | null;
  readonly spec: JobSpec;
  readonly trigger: JobTrigger;
  readonly attempt: number;
  /** Why the job is not running, in words for people; null when it waits for nothing. */
  readonly waiting_for: string | null;
  /** The same for programs. Missing in jobs that earlier versions stored. */
  readonly waits?: Wait | null;
  /** Id of the snapshot that was made or restored. */
  readonly snapshot_id: string | null;
  /** Regular files in the snapshot, or restored. */
  readonly files_done: number;
  readonly files_skipped: number;
  readonly size_bytes: number;
  readonly duration_ms: number;
  readonly progress: JobProgress;
  readonly warnings_count: number;
  /** The first 1,000. */
  readonly problems: readonly JobProblem[];
  readonly error: JobError | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  /**
   * For a completed backup: when the run that read the source began. All copies of one snapshot have the same time,
   * whenever they were made. Missing in jobs that earlier versions completed.
   */
  readonly source_read_at?: number;
}

/**
 * Whether a backup represents its whole source: no dry run, and no exclude rules in the request. `JobStore.newest`
 * applies the same rule.
 */
export function isWhole(spec: JobSpec): boolean {
  return spec.type === 'backup' && !spec.options.dry_run && spec.options.exclude.length === 0;
}

/** Whether a backup completed without a single file because something could not be read: nothing could be restored from it. */
export function hasReadNothing({ status, result, files_done: files }: Job): boolean {
  return status === 'completed' && result === 'warning' && files === 0;
}

/** Whether the source could be restored from this backup, except for a few files at most. */
export function isGood(job: Job): boolean {
  return job.status === 'completed' && isWhole(job.spec) && !hasReadNothing(job);
}

/**
 * Error codes of a check or drill that found damage. Any other code, such as an unreachable destination, says nothing
 * about the stored data.
 */
export const DAMAGE_CODES: readonly string[] = ['CORRUPT_DATA', 'DECRYPTION_FAILED'];
