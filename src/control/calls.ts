/** What the command line can ask a running agent over its local socket. Plain data in, plain data out. */
import type { FullStatus, LogLine, PartnerStatus, SnapshotSummary } from '../jobs/agent.ts';
import type { BackupOptions, Job, JobResult, JobStatus, JobType } from '../jobs/job.ts';

export interface CredentialView {
  readonly api_key: string;
  readonly name: string;
  readonly created_at: number;
  readonly last_used_at: number | null;
}

export interface NewCredential extends CredentialView {
  /** Shown this once. */
  readonly secret: string;
}

export interface AlarmView {
  readonly id: string;
  readonly kind: string;
  readonly source: string;
  readonly at: number;
  readonly text: string;
}

/** What the agent remembers of a destination of the settings. */
export interface DestinationView {
  readonly name: string;
  /** At the end of the last job there; null before the first. */
  readonly used_bytes: number | null;
  /** Of the repository that was seen there; null before the first backup. */
  readonly repository_id: string | null;
  /** The newest check that has ended. */
  readonly last_check: {
    readonly status: JobStatus;
    readonly result: JobResult | null;
    readonly finished_at: number;
  } | null;
}

export interface RunningAgent {
  readonly pid: number;
  readonly version: string;
  /** `http://127.0.0.1:7390` first. */
  readonly addresses: readonly string[];
}

/** The way to the agent's own page. */
export interface PageAddress {
  /** With a code that opens it once. Not to be kept, and not for other people's eyes. */
  readonly address: string;
  readonly seconds: number;
}

/** Snapshots as a folder. */
export interface WebdavView {
  readonly enabled: boolean;
  /** Null while it is off. */
  readonly created_at: number | null;
  /** Without the secret. */
  readonly address: string;
}

export interface NewWebdav {
  /** With the secret, which is shown this once. */
  readonly address: string;
  readonly user: string;
  /** The secret, for clients that are given the address without it. */
  readonly password: string;
}

type Nothing = Readonly<Record<string, never>>;

/** Every call with what it takes and gives. */
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
  /** All of them; gives those that were open. */
  readonly acknowledge: { readonly in: Nothing; readonly out: readonly AlarmView[] };
  /** `user`: the id of the only user of this machine whose browser may use the code; null for any. */
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
  /** Gives what it was; null for one that could not be read. */
  readonly end_enrollment: { readonly in: Nothing; readonly out: PartnerStatus | null };
  readonly revoke_credential: { readonly in: { readonly api_key: string }; readonly out: null };
}

export type ControlCall = keyof ControlCalls;

/** One function for each call. */
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

/** Where the socket of the agent of a state directory is. */
export function controlSocketPath(runDirectory: string): string {
  return process.platform === 'win32'
    ? `\\\\.\\pipe\\holdfast-${Buffer.from(runDirectory).toString('hex').slice(-40)}`
    : `${runDirectory}/control.sock`;
}
