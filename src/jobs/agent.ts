/** What the agent can be asked to do: all that HTTP, the local socket and the page know of it. */
import type { ByteString } from '../base/byte-path.ts';
import type { StoredBy } from '../base/stored-by.ts';
import type { SourceName } from '../base/source-names.ts';
import type { BackupOptions, Job, JobSpec, JobStatus, JobTrigger, JobType } from './job.ts';
import type { Headline, Statement } from './statement.ts';

export interface JobFilter {
  readonly types?: readonly JobType[] | undefined;
  readonly status?: JobStatus | undefined;
  readonly source?: string | undefined;
  readonly destination?: string | undefined;
  /** Milliseconds since 1970. */
  readonly createdAfter?: number | undefined;
  readonly createdBefore?: number | undefined;
}

/** Newest first; `before` is the last id of the page before. */
export interface JobPageRequest extends JobFilter {
  readonly limit: number;
  readonly before?: string | undefined;
}

export interface AgentEvent {
  /** Rising, kept across restarts. */
  readonly id: number;
  readonly kind: 'job.created' | 'job.updated' | 'job.finished' | 'alarm' | 'config' | 'status';
  /** Of the job it is about. */
  readonly jobId: string | null;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface LogLine {
  readonly at: number;
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
}

/** A place in a list of snapshots: it stays where it is when the snapshot goes. */
export interface SnapshotPosition {
  /** Milliseconds since 1970. */
  readonly created_at: number;
  /** Decides among those of one time. */
  readonly id: string;
}

/** The order of all lists of snapshots; below zero when `a` comes first. Those of one time are ordered by their ids. */
export function newestFirst(a: SnapshotPosition, b: SnapshotPosition): number {
  if (a.created_at !== b.created_at) return b.created_at - a.created_at;
  return a.id === b.id ? 0 : a.id > b.id ? -1 : 1;
}

/**
 * Where paths that somebody typed lead on this machine: for snapshots that did not keep by what names their sources were
 * asked for. The agent fills it in itself. Bytes as Latin-1.
 */
export interface AskedPaths {
  readonly leadsTo?: { readonly source: readonly string[]; readonly path: readonly string[] } | undefined;
}

export interface SnapshotRequest extends AskedPaths {
  readonly source?: string | undefined;
  /** As jobs name it. */
  readonly destination?: string | undefined;
  readonly host?: string | undefined;
  /** Who stored them, as `isStoredByAny` takes it; all where there are none. */
  readonly storedBy?: readonly string[] | undefined;
  readonly limit: number;
  /** Only those that come behind it, whether or not there still is such a snapshot. */
  readonly behind?: SnapshotPosition | undefined;
}

/** Which snapshot the newest one is to be found among. */
export interface NewestRequest extends AskedPaths {
  readonly source?: string | undefined;
  readonly host?: string | undefined;
  /** Milliseconds since 1970: only those that bear no later time. */
  readonly until?: number | undefined;
  /** Who stored it, as `isStoredByAny` takes it. */
  readonly storedBy?: readonly string[] | undefined;
}

export interface SnapshotSummary extends SnapshotPosition {
  readonly source: string;
  /** What `source` says as text: bytes as Latin-1, one of them for each path that was saved. */
  readonly paths: readonly string[];
  /** How those of them were called that were asked for by another path, as that of a link. */
  readonly named?: readonly SourceName[] | undefined;
  readonly destination: string;
  readonly host: string;
  /** A write-only key says what it likes of host, paths, tags and contents; its time is that of the storage. */
  readonly stored_by: StoredBy;
  /** The start that a write-only key gave, where it cannot be. Milliseconds since 1970; null: nothing speaks against it. */
  readonly said_at: number | null;
  readonly tags: readonly string[];
  readonly pinned: boolean;
  readonly partial: boolean;
  /** What the backup could not read: paths of the first of them, and how many there are; null when nobody knows. */
  readonly unread: { readonly paths: readonly string[]; readonly count: number | null };
  readonly files: number;
  readonly size_bytes: number;
  /** Rises with each one of its repository that was made later, whatever its clock said. Says nothing between repositories. */
  readonly rank: number;
  /** Directories that could not be read from the destination: lists lack what is in them. */
  readonly unreadable: number;
  /** Of the job that made it, when this agent did. */
  readonly backup_id: string | null;
  /** Left out while no restore drill has tried it. */
  readonly last_drill?: SnapshotDrill;
}

/** What the latest restore drill found of a snapshot. */
export interface SnapshotDrill {
  readonly job_id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Files that were restored and compared. */
  readonly files: number;
  readonly files_failed: number;
}

export interface FileItem {
  /** Lossy where the name is not UTF-8; then `path_b64` has its bytes. */
  readonly path: string;
  readonly path_b64: string | null;
  readonly name: string;
  readonly type: 'file' | 'directory' | 'symlink' | 'other';
  readonly size_bytes: number;
  readonly modified_at: number;
  readonly mode: number;
  readonly link_target: string | null;
  readonly children_count: number | null;
  readonly snapshot_id: string;
  readonly backup_id: string | null;
  readonly source: string;
  readonly stored_by: StoredBy;
  readonly backed_up_at: number;
}

/** A time as a `snapshot` of a query: the beginning of an id may be digits alone. @param ms since 1970 */
export function momentOf(ms: number): string {
  return `@${ms}`;
}

export interface FileQuery extends AskedPaths {
  /** `latest`, a snapshot id, or what `momentOf` gives. */
  readonly snapshot: string;
  readonly backupId?: string | undefined;
  readonly source?: string | undefined;
  /** Of `latest` or a time: who stored it, as `isStoredByAny` takes it. */
  readonly storedBy?: readonly string[] | undefined;
  /** Bytes as Latin-1. */
  readonly path?: string | undefined;
  /** Substring, or a glob with * and ?, of the name; case-insensitive. */
  readonly q?: string | undefined;
  readonly type?: FileItem['type'] | undefined;
  readonly view: 'flat' | 'tree';
  readonly sort: 'path' | 'name' | 'size' | 'modified';
  readonly limit: number;
  /** What `FilePage.next` said. */
  readonly after?: string | undefined;
}

export interface FilePage {
  readonly items: readonly FileItem[];
  /** Directories of the snapshots listed whose entries the list lacks, because they could not be read. */
  readonly unreadable: number;
  readonly next: string | null;
}

export interface FileVersion extends FileItem {
  readonly change: 'added' | 'modified' | 'unchanged' | 'removed';
}

export interface ChangePage {
  readonly items: readonly SnapshotChange[];
  /** Directories of both snapshots that could not be read: what changed in them the list lacks. */
  readonly unreadable: number;
  readonly next: string | null;
}

export interface SnapshotChange {
  readonly path: string;
  readonly path_b64: string | null;
  readonly change: 'added' | 'removed' | 'modified' | 'type_changed' | 'metadata';
  readonly size_before: number | null;
  readonly size_after: number | null;
}

export interface FileContent {
  readonly name: string;
  readonly size: number;
  /** `end` is the place of the first byte after the range; no range is the whole. */
  read(
    range: { readonly start: number; readonly end: number } | undefined,
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array>;
}

export interface StatusCheck {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'error';
  readonly message: string;
}

export interface PublicStatus {
  readonly status: 'ok' | 'degraded' | 'error' | 'starting' | 'paused';
  readonly version: string;
  readonly uptime_seconds: number;
  readonly jobs: { readonly running: number; readonly queued: number };
  readonly last_backup: { readonly status: string; readonly finished_at: number } | null;
  readonly next_run_at: number | null;
  /** The worst there is to say; without what would name anything of the person. */
  readonly headline: Pick<Headline, 'code' | 'level' | 'severity' | 'more'>;
  /** No paths, host or account names. */
  readonly checks: readonly StatusCheck[];
}

export interface SourceStatus {
  readonly path: string;
  readonly destination: string;
  readonly schedule: string | null;
  readonly last_good_backup_at: number | null;
  readonly next_run_at: number | null;
  readonly overdue: boolean;
  readonly watching: boolean;
}

/** `not_mounted`: nothing is mounted where it should be; `not_there`: its directory is gone; `no_answer`: the last job did not reach it. */
export type UnreachableReason = 'not_mounted' | 'not_there' | 'no_answer';

export interface DestinationReach {
  /** Null: nobody has tried yet. */
  readonly reachable: boolean | null;
  /** When a job last reached it; milliseconds since 1970. */
  readonly reachedAt: number | null;
  /** Why it cannot be reached; null while it can, and while nobody has tried. */
  readonly reason: UnreachableReason | null;
}

export interface DestinationStatus {
  readonly name: string;
  readonly url: string;
  readonly reachable: boolean | null;
  readonly reached_at: number | null;
  readonly unreachable_reason: UnreachableReason | null;
  /** It was added without a test, and nobody has reached it since. */
  readonly untested: boolean;
  /** The repository in the state directory. */
  readonly embedded: boolean;
  readonly used_bytes: number | null;
  /** Whether it is on a disk that files are on which are backed up to it; null where that cannot be told. */
  readonly same_disk: boolean | null;
}

export interface FullStatus extends PublicStatus {
  /** All there is to say, the worst first; the first is the headline. */
  readonly statements: readonly Statement[];
  readonly sources: readonly SourceStatus[];
  readonly destinations: readonly DestinationStatus[];
  readonly storage: { readonly used_bytes: number; readonly free_bytes: number | null };
  readonly watcher: { readonly status: string; readonly directories: number };
  readonly config: {
    readonly status: 'ok' | 'degraded';
    readonly file: string;
    readonly error: string | null;
  };
}

/** With which Partner service the device is enrolled, and how it stands with it. Times are milliseconds since 1970. */
export interface PartnerStatus {
  readonly service: string;
  readonly device_id: string;
  readonly customer_id: string;
  readonly name: string;
  readonly enrolled_at: number;
  /** Null when what is kept of it is not signed as it must be: then the limits of the free trial hold. */
  readonly plan: {
    readonly slug: string;
    readonly desktop_requests_per_hour: number;
    readonly status: 'active' | 'suspended' | 'trial_expired';
    readonly expires_at: number;
    /** Until when it holds though the service is out of reach. */
    readonly grace_until: number;
  } | null;
  /** Of the running agent; null when none runs. */
  readonly reports: {
    /** Null before the first one since the agent started. */
    readonly last_at: number | null;
    readonly results_waiting: number;
    /** Results that will not be told: too many waited, or the service does not take them. */
    readonly results_dropped: number;
    /** What went wrong last; null when it works. */
    readonly problem: string | null;
  } | null;
}

export interface BackupRequest {
  readonly source: string;
  readonly destination?: string | undefined;
  readonly options: Partial<BackupOptions>;
}

/** What is stored with a new job, or not at all: called in the transaction that stores the job. */
export type Noted = (job: Job) => void;

/** Errors are `RequestError`s whose code is in the registry of `src/api/wire/error-codes.ts`. */
export interface Agent {
  /** Checks a backup request against disk and settings, and queues it. */
  requestBackup(request: BackupRequest, trigger: JobTrigger, also?: Noted): Promise<Job>;
  /**
   * How jobs name a destination of the settings, the default one where none is named, or another place where a
   * repository was found.
   * @throws {RequestError} INVALID_DESTINATION, SECRET_IN_URL
   */
  destinationOf(nameOrUrl: string | undefined): string;
  /** Queues anything else that is checked already. */
  submit(spec: JobSpec, trigger: JobTrigger, also?: Noted): Promise<Job>;
  job(id: string): Job | undefined;
  jobs(request: JobPageRequest): readonly Job[];
  /** Waits until the job has ended, or `ms` have passed; gives it as it then is. */
  waitFor(id: string, ms: number, signal: AbortSignal): Promise<Job>;
  cancel(id: string): Promise<Job>;
  log(id: string): readonly LogLine[];
  /** Stops starting jobs until then; null for ever. Running ones go on unless `interrupt`. */
  pause(until: number | null, interrupt: boolean): Promise<void>;
  resume(): Promise<void>;
  /** Events after `after`, as far as they are kept, then new ones as they come, until the signal aborts. */
  events(
    after: number | undefined,
    jobId: string | undefined,
    signal: AbortSignal,
  ): AsyncIterable<AgentEvent>;

  publicStatus(): PublicStatus;
  fullStatus(): Promise<FullStatus>;

  /** Of all repositories, in the order of `newestFirst`. */
  snapshots(request: SnapshotRequest): Promise<readonly SnapshotSummary[]>;
  /**
   * @param id `latest` means the one that was made last, of whatever source and host, among what full keys stored; where
   * these stored none, among what the one write-only key did that stored any
   * @param storedBy of `latest`: who stored it, as `isStoredByAny` takes it
   */
  snapshot(id: string, storedBy?: readonly string[]): Promise<SnapshotSummary>;
  /**
   * The snapshot of a source that this machine made last; with a time, in milliseconds since 1970, the newest of those that
   * bear no later one. The agent stores with full keys: what write-only keys stored is meant where they are named alone.
   */
  newestOf(source: string, until: number | undefined, storedBy?: readonly string[]): Promise<SnapshotSummary>;
  /** The snapshot that a backup made, under whatever id it is now. */
  snapshotOfBackup(backupId: string): Promise<SnapshotSummary>;
  /** Where a snapshot has what somebody asks for by a path, which may lead through links. Bytes as Latin-1. */
  pathIn(snapshot: Pick<SnapshotSummary, 'paths' | 'named'>, path: ByteString): ByteString;
  forgetSnapshot(id: string): Promise<void>;
  files(query: FileQuery): Promise<FilePage>;
  /** What a snapshot, named by its id, has at a path. The path is bytes as Latin-1, here and in what follows. */
  entry(snapshot: string, path: string): Promise<FileItem>;
  /** Of what full keys stored, or as `latest` of `snapshot` where these have nothing of it. */
  versions(
    path: string,
    source: string | undefined,
    storedBy?: readonly string[],
  ): Promise<readonly FileVersion[]>;
  diff(id: string, base: string | undefined, limit: number, after: string | undefined): Promise<ChangePage>;
  /** `snapshot` as in `FileQuery`. */
  content(snapshot: string, path: string, storedBy?: readonly string[]): Promise<FileContent>;
}
