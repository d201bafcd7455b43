/** The agent as its clients see it: all that HTTP, the local socket and the page know of it. */
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
  /** Of the job that the event is about; null when it is about no job. */
  readonly jobId: string | null;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface LogLine {
  readonly at: number;
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
}

/** A position in a list of snapshots. It stays valid when the snapshot there is forgotten. */
export interface SnapshotPosition {
  /** Milliseconds since 1970. */
  readonly created_at: number;
  /** Orders snapshots with the same time. */
  readonly id: string;
}

/** The order of all lists of snapshots; negative when `a` comes first. Snapshots with the same time are ordered by their ids. */
export function newestFirst(a: SnapshotPosition, b: SnapshotPosition): number {
  if (a.created_at !== b.created_at) return b.created_at - a.created_at;
  return a.id === b.id ? 0 : a.id > b.id ? -1 : 1;
}

/**
 * Where a path that somebody typed leads on this machine. Needed for snapshots that did not record by which names their
 * sources were requested. The agent fills it in itself. Bytes as Latin-1.
 */
export interface AskedPaths {
  readonly leadsTo?: { readonly source: readonly string[]; readonly path: readonly string[] } | undefined;
}

export interface SnapshotRequest extends AskedPaths {
  readonly source?: string | undefined;
  /** Written as jobs write it: a name from the settings, or a URL. */
  readonly destination?: string | undefined;
  readonly host?: string | undefined;
  /** Who stored the snapshots, as `isStoredByAny` takes it; an empty list means everybody. */
  readonly storedBy?: readonly string[] | undefined;
  readonly limit: number;
  /** Only snapshots that come after this position, whether or not a snapshot still exists there. */
  readonly behind?: SnapshotPosition | undefined;
}

/** The snapshots among which the newest one is searched. */
export interface NewestRequest extends AskedPaths {
  readonly source?: string | undefined;
  readonly host?: string | undefined;
  /** Milliseconds since 1970: only snapshots with this time or an earlier one. */
  readonly until?: number | undefined;
  /** Who stored it, as `isStoredByAny` takes it. */
  readonly storedBy?: readonly string[] | undefined;
}

export interface SnapshotSummary extends SnapshotPosition {
  readonly source: string;
  /** The paths that were saved, which `source` gives as text. Bytes as Latin-1. */
  readonly paths: readonly string[];
  /** The other names of sources that were requested by a path other than the saved one, such as a symbolic link. */
  readonly named?: readonly SourceName[] | undefined;
  readonly destination: string;
  readonly host: string;
  /** With a write-only key, host, paths, tags and contents are unverified claims, and the time is the one of the storage. */
  readonly stored_by: StoredBy;
  /** The start time that a write-only key claimed, when it is implausible. Milliseconds since 1970; null when it is plausible. */
  readonly said_at: number | null;
  readonly tags: readonly string[];
  readonly pinned: boolean;
  readonly partial: boolean;
  /** What the backup could not read: the paths of the first such files, and how many there are; null when that is unknown. */
  readonly unread: { readonly paths: readonly string[]; readonly count: number | null };
  readonly files: number;
  readonly size_bytes: number;
  /**
   * Orders the snapshots of one repository by when they were made, whatever the clock said: higher is later. Not
   * comparable between repositories.
   */
  readonly rank: number;
  /** Directories that could not be read from the destination: lists lack their contents. */
  readonly unreadable: number;
  /** Id of the backup job that made it; null when another agent did. */
  readonly backup_id: string | null;
  /** Missing until a restore drill has tried the snapshot. */
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

/**
 * A time in the form that the `snapshot` of a query takes. The `@` keeps it apart from the beginning of an id, which
 * may be digits alone.
 * @param ms since 1970
 */
export function momentOf(ms: number): string {
  return `@${ms}`;
}

export interface FileQuery extends AskedPaths {
  /** `latest`, a snapshot id, or what `momentOf` gives. */
  readonly snapshot: string;
  readonly backupId?: string | undefined;
  readonly source?: string | undefined;
  /** For `latest` or a time: who stored the snapshot, as `isStoredByAny` takes it. */
  readonly storedBy?: readonly string[] | undefined;
  /** Bytes as Latin-1. */
  readonly path?: string | undefined;
  /** Substring, or a glob with * and ?, of the name; case-insensitive. */
  readonly q?: string | undefined;
  readonly type?: FileItem['type'] | undefined;
  readonly view: 'flat' | 'tree';
  readonly sort: 'path' | 'name' | 'size' | 'modified';
  readonly limit: number;
  /** The `next` of the previous `FilePage`. */
  readonly after?: string | undefined;
}

export interface FilePage {
  readonly items: readonly FileItem[];
  /** Directories whose entries are missing from the list because they could not be read. */
  readonly unreadable: number;
  readonly next: string | null;
}

export interface FileVersion extends FileItem {
  readonly change: 'added' | 'modified' | 'unchanged' | 'removed';
}

export interface ChangePage {
  readonly items: readonly SnapshotChange[];
  /** Directories of either snapshot that could not be read: changes in them are missing from the list. */
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
  /** `end` is exclusive; without a range the whole file is read. */
  read(
    range: { readonly start: number; readonly end: number } | undefined,
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array>;
}

/** A tar archive (pax) that is made while it is read. It lacks sockets, which no archive can hold. */
export interface TarContent {
  /** The name of its top entry; empty for the root. */
  readonly name: string;
  read(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** What the check `partner` says. */
export const PARTNER_CHECK_CODES = [
  'device_removed',
  'repository_contradicted',
  'account_suspended',
  'account_suspended_waiting',
  'trial_ended',
  'trial_ended_stopping',
  'trial_ended_waiting',
  'no_plan',
  'enrollment_unreadable',
] as const;
export type PartnerCheckCode = (typeof PARTNER_CHECK_CODES)[number];

export interface StatusCheck {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'error';
  /** Which of several things this check says; absent where its name tells. The page has a text for each. */
  readonly code?: PartnerCheckCode;
  readonly message: string;
}

export interface PublicStatus {
  readonly status: 'ok' | 'degraded' | 'error' | 'starting' | 'paused';
  readonly version: string;
  readonly uptime_seconds: number;
  readonly jobs: { readonly running: number; readonly queued: number };
  readonly last_backup: { readonly status: string; readonly finished_at: number } | null;
  readonly next_run_at: number | null;
  /** The worst statement, without anything that would name something of the person. */
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

/**
 * `not_mounted`: nothing is mounted where the disk should be; `not_there`: the directory is gone; `no_answer`: the last
 * job did not reach the destination.
 */
export type UnreachableReason = 'not_mounted' | 'not_there' | 'no_answer';

export interface DestinationReach {
  /** Null while no job has tried it yet. */
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
  /** The destination was added without a test, and no job has reached it since. */
  readonly untested: boolean;
  /** Whether it is the repository in the state directory. */
  readonly embedded: boolean;
  readonly used_bytes: number | null;
  /** Whether it is on the same disk as files that are backed up to it; null where that cannot be told. */
  readonly same_disk: boolean | null;
}

export interface FullStatus extends PublicStatus {
  /** All statements, the worst first; the first one is the headline. */
  readonly statements: readonly Statement[];
  readonly sources: readonly SourceStatus[];
  readonly destinations: readonly DestinationStatus[];
  readonly storage: { readonly used_bytes: number; readonly free_bytes: number | null };
  /** Notices that wait for the end of their quiet hours; `held_until` is `HH:MM` local time, null when none do. */
  readonly notices: { readonly held: number; readonly held_until: string | null };
  readonly watcher: { readonly status: string; readonly directories: number };
  readonly config: {
    readonly status: 'ok' | 'degraded';
    readonly file: string;
    readonly error: string | null;
  };
}

/** Why the Partner service gets no reports. */
export const REPORT_PROBLEMS = [
  'device_removed',
  'partner_suspended',
  'unreachable',
  'refused',
  'reply_invalid',
] as const;
export type ReportProblem = (typeof REPORT_PROBLEMS)[number];

/** The Partner service that the device is enrolled with, and the state of the connection. Times are milliseconds since 1970. */
export interface PartnerStatus {
  readonly service: string;
  readonly device_id: string;
  readonly customer_id: string;
  readonly name: string;
  readonly enrolled_at: number;
  /** Null when the stored plan has no valid signature: then the limits of the free trial apply. */
  readonly plan: {
    readonly slug: string;
    readonly desktop_requests_per_hour: number;
    readonly status: 'active' | 'suspended' | 'trial_expired';
    readonly expires_at: number;
    /** Until when the plan applies while the service is out of reach. */
    readonly grace_until: number;
  } | null;
  /** Null when no agent runs. */
  readonly reports: {
    /** Null before the first one since the agent started. */
    readonly last_at: number | null;
    /** Results that the service has not confirmed, also those in a report that it has not answered. */
    readonly results_waiting: number;
    /** Results that will never be reported: too many were waiting, or the service rejected them. */
    readonly results_dropped: number;
    /** The latest problem, in English, without a period; null while reporting works. */
    readonly problem: string | null;
    readonly problem_code: ReportProblem | null;
  } | null;
}

export interface BackupRequest {
  readonly source: string;
  readonly destination?: string | undefined;
  readonly options: Partial<BackupOptions>;
}

/** Called in the transaction that stores a new job, to store something together with it. A throw undoes both. */
export type Noted = (job: Job) => void;

/**
 * The interface of the agent. Its methods throw `RequestError`s whose codes are in the registry of
 * `src/api/wire/error-codes.ts`.
 */
export interface Agent {
  /** Checks a backup request against disk and settings, and queues it. */
  requestBackup(request: BackupRequest, trigger: JobTrigger, also?: Noted): Promise<Job>;
  /**
   * Returns a destination as jobs write it: a destination of the settings (the default one when `nameOrUrl` is
   * undefined), or another place where a repository was found.
   * @throws {RequestError} INVALID_DESTINATION, SECRET_IN_URL
   */
  destinationOf(nameOrUrl: string | undefined): string;
  /** Queues a job of any type without checking its specification, which the caller has done. */
  submit(spec: JobSpec, trigger: JobTrigger, also?: Noted): Promise<Job>;
  job(id: string): Job | undefined;
  jobs(request: JobPageRequest): readonly Job[];
  /** Waits until the job has ended or `ms` have passed. Returns the job as it is at that moment. */
  waitFor(id: string, ms: number, signal: AbortSignal): Promise<Job>;
  cancel(id: string): Promise<Job>;
  log(id: string): readonly LogLine[];
  /**
   * Starts no jobs until the given time (milliseconds since 1970; null: until `resume`). Running jobs go on unless
   * `interrupt` is set.
   */
  pause(until: number | null, interrupt: boolean): Promise<void>;
  resume(): Promise<void>;
  /** The events after the id `after` that are still kept, then new ones as they come, until the signal aborts. */
  events(
    after: number | undefined,
    jobId: string | undefined,
    signal: AbortSignal,
  ): AsyncIterable<AgentEvent>;

  publicStatus(): PublicStatus;
  fullStatus(): Promise<FullStatus>;

  /** From all repositories, in the order of `newestFirst`. */
  snapshots(request: SnapshotRequest): Promise<readonly SnapshotSummary[]>;
  /**
   * @param id `latest` means the snapshot that was made last, of any source and host, among those that full keys
   * stored; if there are none, among those of the only write-only key that stored any
   * @param storedBy for `latest`: who stored the snapshot, as `isStoredByAny` takes it
   * @param isOwn for `latest`: only of this machine, and unless `storedBy` says otherwise, of full keys
   */
  snapshot(id: string, storedBy?: readonly string[], isOwn?: boolean): Promise<SnapshotSummary>;
  /**
   * The snapshot of a source that this machine made last. With `until`, in milliseconds since 1970, the newest one
   * whose time is not later. Only snapshots of full keys are considered, since the agent stores with full keys; those
   * of write-only keys have to be named by `storedBy`.
   */
  newestOf(source: string, until: number | undefined, storedBy?: readonly string[]): Promise<SnapshotSummary>;
  /** The snapshot that a backup made, also when its id has changed since. */
  snapshotOfBackup(backupId: string): Promise<SnapshotSummary>;
  /**
   * The path under which a snapshot holds what somebody asks for by `path`, which may lead through symbolic links.
   * Bytes as Latin-1.
   */
  pathIn(snapshot: Pick<SnapshotSummary, 'paths' | 'named'>, path: ByteString): ByteString;
  forgetSnapshot(id: string): Promise<void>;
  files(query: FileQuery): Promise<FilePage>;
  /** The entry at a path of the snapshot with this id. Here and below, paths are bytes as Latin-1. */
  entry(snapshot: string, path: string): Promise<FileItem>;
  /**
   * Versions that full keys stored; where these have nothing of the path, those of the write-only key that `latest` of
   * `snapshot` would choose.
   */
  versions(
    path: string,
    source: string | undefined,
    storedBy?: readonly string[],
  ): Promise<readonly FileVersion[]>;
  diff(id: string, base: string | undefined, limit: number, after: string | undefined): Promise<ChangePage>;
  /** `snapshot` as in `FileQuery`. */
  content(snapshot: string, path: string, storedBy?: readonly string[]): Promise<FileContent>;
  /** A directory with everything below it, or one entry. `snapshot` as in `FileQuery`. */
  archive(snapshot: string, path: string): Promise<TarContent>;
}
