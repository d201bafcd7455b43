/**
 * The calls that the command line can make to a running agent over its local socket. Inputs and outputs are plain data.
 */
import type { FullStatus, LogLine, PartnerStatus, SnapshotSummary } from '../jobs/agent.ts';
import type { BackupOptions, Job, JobError, JobProblem, JobResult, JobStatus, JobType } from '../jobs/job.ts';

export interface CredentialView {
  readonly api_key: string;
  readonly name: string;
  readonly created_at: number;
  readonly last_used_at: number | null;
}

export interface NewCredential extends CredentialView {
  /** Shown only this once. */
  readonly secret: string;
}

export interface AlarmView {
  readonly id: string;
  readonly kind: string;
  readonly source: string;
  readonly at: number;
  readonly text: string;
}

/** What the agent knows about a configured destination. */
export interface DestinationView {
  readonly name: string;
  /** At the end of the last job there; null before the first job. */
  readonly used_bytes: number | null;
  /** Id of the repository that was seen there; null before the first backup. */
  readonly repository_id: string | null;
  /** The newest finished check. */
  readonly last_check: {
    readonly status: JobStatus;
    readonly result: JobResult | null;
    readonly finished_at: number;
  } | null;
}

export interface RunningAgent {
  readonly pid: number;
  readonly version: string;
  /** Addresses of the agent's API; the first is like `http://127.0.0.1:7390`. */
  readonly addresses: readonly string[];
}

/** How to open the agent's own page. */
export interface PageAddress {
  /** Contains a code that works once. It must not be stored or shown to other people. */
  readonly address: string;
  readonly seconds: number;
}

/** Access to snapshots as a WebDAV folder. */
export interface WebdavView {
  readonly enabled: boolean;
  /** Null while access is off. */
  readonly created_at: number | null;
  /** Without the secret. */
  readonly address: string;
}

export interface NewWebdav {
  /** Contains the secret, which is shown only this once. */
  readonly address: string;
  readonly user: string;
  /** The secret, for clients that ask for it separately. */
  readonly password: string;
}

interface DoneBefore {
  /** Of the repository in which it was done. */
  readonly repository_id: string;
  /** Milliseconds since 1970. */
  readonly began_at: number;
  readonly duration_ms: number;
}

/** What a command has done without the agent: a backup of one whole source, or a check. */
export type DoneByCommand =
  | (DoneBefore & {
      readonly type: 'backup';
      /** Absolute path. */
      readonly source: string;
      readonly snapshot_id: string;
      readonly files: number;
      readonly files_failed: number;
      readonly bytes: number;
      readonly problems: readonly JobProblem[];
    })
  | (DoneBefore & {
      readonly type: 'check';
      /** Share of all packs that were read, 0 to 1. */
      readonly read_data: number;
      /** Null when nothing is damaged. */
      readonly damage: Pick<JobError, 'message' | 'details'> | null;
    });

type Nothing = Readonly<Record<string, never>>;

/** Every call with its input and output. */
export interface ControlCalls {
  readonly agent: { readonly in: Nothing; readonly out: RunningAgent };
  readonly status: { readonly in: Nothing; readonly out: FullStatus };
  readonly backup: {
    readonly in: {
      readonly source: string;
      readonly destination: string | null;
      readonly options: Partial<BackupOptions>;
    };
    readonly out: Job;
  };
  readonly check: {
    readonly in: { readonly destination: string; readonly read_data: number };
    readonly out: Job;
  };
  /** Returns how many jobs were noted: none when the settings do not have that source or destination. */
  readonly done_by_command: { readonly in: DoneByCommand; readonly out: number };
  readonly prune: { readonly in: { readonly destination: string }; readonly out: Job };
  readonly drill: {
    readonly in: { readonly destination: string; readonly files: number };
    readonly out: Job;
  };
  readonly job: { readonly in: { readonly id: string; readonly wait_ms: number }; readonly out: Job };
  readonly jobs: {
    readonly in: {
      readonly types: readonly JobType[] | null;
      readonly status: JobStatus | null;
      readonly limit: number;
    };
    readonly out: readonly Job[];
  };
  readonly log: { readonly in: { readonly id: string }; readonly out: readonly LogLine[] };
  readonly cancel: { readonly in: { readonly id: string }; readonly out: Job };
  readonly pause: {
    readonly in: { readonly until: number | null; readonly interrupt: boolean };
    readonly out: null;
  };
  readonly resume: { readonly in: Nothing; readonly out: null };
  readonly destinations: { readonly in: Nothing; readonly out: readonly DestinationView[] };
  readonly snapshots: { readonly in: { readonly limit: number }; readonly out: readonly SnapshotSummary[] };
  readonly alarms: { readonly in: Nothing; readonly out: readonly AlarmView[] };
  /** Acknowledges all alarms; returns those that were open. */
  readonly acknowledge: { readonly in: Nothing; readonly out: readonly AlarmView[] };
  /** `user` is the id of the only local user whose browser may use the code; null for any user. */
  readonly open_page: { readonly in: { readonly user: number | null }; readonly out: PageAddress };
  readonly credentials: { readonly in: Nothing; readonly out: readonly CredentialView[] };
  readonly create_credential: { readonly in: { readonly name: string }; readonly out: NewCredential };
  readonly rotate_credential: { readonly in: { readonly api_key: string }; readonly out: NewCredential };
  readonly webdav: { readonly in: Nothing; readonly out: WebdavView };
  readonly turn_on_webdav: { readonly in: Nothing; readonly out: NewWebdav };
  readonly turn_off_webdav: { readonly in: Nothing; readonly out: WebdavView };
  readonly enroll: {
    readonly in: { readonly url: string; readonly token: string; readonly name: string };
    readonly out: PartnerStatus;
  };
  /** Null while the device is not enrolled. */
  readonly enrollment: { readonly in: Nothing; readonly out: PartnerStatus | null };
  /** Returns the status before it ended; null when the enrollment could not be read. */
  readonly end_enrollment: { readonly in: Nothing; readonly out: PartnerStatus | null };
  readonly revoke_credential: { readonly in: { readonly api_key: string }; readonly out: null };
}

export type ControlCall = keyof ControlCalls;

/** A handler for each call. */
export type ControlHandlers = {
  readonly [K in ControlCall]: (
    input: ControlCalls[K]['in'],
    signal: AbortSignal,
  ) => Promise<ControlCalls[K]['out']>;
};

export type ControlReply =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly hint: string;
      readonly details: Readonly<Record<string, string | number | boolean>>;
    };
