/** Jobs as the state database keeps them and the Desktop API shows them. */
import type { StoredBy } from '../base/stored-by.ts';
import type { OthersWait } from '../base/waits.ts';

export type JobType = 'backup' | 'restore' | 'check' | 'prune' | 'drill';
export type JobStatus = 'queued' | 'running' | 'completed' | 'failed' | 'canceled';
export type JobPhase = 'scanning' | 'uploading' | 'committing' | 'verifying' | 'pruning' | 'restoring';
/** `warning`: complete but for files that could not be read, or changed while they were. */
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
  /** Who stored it; left out by older versions. */
  readonly stored_by?: StoredBy | undefined;
  /** Absolute paths in the snapshot; base64 ones are given as `{b64}`. None: everything. */
  readonly paths: readonly (string | { readonly b64: string })[];
  /** Absolute path, or in place. */
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
  /** Forget by the retention of the settings first. */
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

/** In the details of an error: the disk of the state directory is full or takes no writes, which passes. */
export const STATE_UNWRITABLE = 'state_unwritable';

export interface JobError {
  /** From the registry of error codes. */
  readonly code: string;
  /** What happened, then what to do. */
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** One file that could not be saved or restored. */
export interface JobProblem {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** What a restore would do to what is there, from a dry run. */
export interface RestorePreview {
  /** Everything but directories counts as a file. */
  readonly filesNew: number;
  readonly filesOverwritten: number;
  /** They stay as they are, though the snapshot has others. */
  readonly filesKept: number;
  readonly filesUnchanged: number;
  /** A directory counts once for all that is in it. */
  readonly filesDeleted: number;
  /** Of the files that would be written. */
  readonly bytes: number;
  /** By path, what would be lost before what stays when there are too many. */
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
  | OthersWait;

export type PlainWait =
  /** Neither is it there, nor mounted. */
  | 'destination_absent'
  | 'on_battery'
  | 'on_metered'
  /** For the job of its pass that reads the source. */
  | 'reader'
  /** For the same job from before, which is tried again. */
  | 'earlier'
  /** For another one at the same source or destination, or for memory. */
  | 'turn'
  /** For its next try, after a failure that passes. */
  | 'destination_unreachable'
  | 'repository_locked'
  | 'state_unwritable'
  /** For the partner. */
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
  /** Why it is not running yet, in plain words that only people read; null unless it waits for something. */
  readonly waiting_for: string | null;
  /** The same for programs. Jobs that earlier versions have stored lack it. */
  readonly waits?: Wait | null;
  /** Of the snapshot made or restored. */
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
   * Of a completed backup: when the run began that read the source. Copies of one snapshot have the same, whenever they
   * were made. Jobs that earlier versions have completed lack it.
   */
  readonly source_read_at?: number;
}

/** Whether a backup says how its source stands: not by exclude rules of the request's own. `JobStore.newest` goes by the same. */
export function isWhole(spec: JobSpec): boolean {
  return spec.type === 'backup' && !spec.options.dry_run && spec.options.exclude.length === 0;
}

/** Completed, but with no file at all, and something could not be read: there is nothing that could be restored. */
export function hasReadNothing({ status, result, files_done: files }: Job): boolean {
  return status === 'completed' && result === 'warning' && files === 0;
}

/** One that a source may be restored from as it was, but for some files at most. */
export function isGood(job: Job): boolean {
  return job.status === 'completed' && isWhole(job.spec) && !hasReadNothing(job);
}

/** Why a check or a drill fails that found damage. Any other reason, as a destination out of reach, says nothing of what is stored. */
export const DAMAGE_CODES: readonly string[] = ['CORRUPT_DATA', 'DECRYPTION_FAILED'];
