/** What an agent is started with, and what one is that runs. */
import type { Logger } from 'pino';
import type { Listening } from '../api/connections/listening.ts';
import type { Clock } from '../base/clock.ts';
import type { Redactor } from '../base/redact.ts';
import type { ConfigSource } from '../config/config-source.ts';
import type { Environment } from '../config/secret.ts';
import type { PageAddress } from '../control/calls.ts';
import type { Agent } from '../jobs/agent.ts';
import type { Circumstances } from '../jobs/conditions.ts';
import type { Job } from '../jobs/job.ts';
import type { SameDisk } from './places/disk-sharing.ts';

export interface DaemonOptions {
  readonly stateDirectory: string;
  readonly configFile: string;
  /** Somebody named the file. */
  readonly configRequired: boolean;
  /** Instead of the one in the settings. */
  readonly port: number | undefined;
  readonly version: string;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly log: Logger;
  readonly redactor: Redactor;
  /** Takes variables out of the process's own environment. */
  readonly forget: (names: readonly string[]) => void;
  /** The secret of the embedded repository. */
  readonly machineKey: () => Promise<Buffer>;
  /** Sources to back up at once. */
  readonly now: readonly string[];
  /** Of power and network, instead of what the system says. */
  readonly circumstances?: Circumstances | undefined;
  /** Of disks, instead of what the system says. */
  readonly sameDisk?: SameDisk | undefined;
  readonly freeBytes?: ((directory: string) => Promise<number | null>) | undefined;
  /** Instead of the housekeeping's way, which takes the longer the more a process holds. */
  readonly returnMemory?: (() => void) | undefined;
}

/** A running agent. */
export interface Daemon extends AsyncDisposable {
  readonly agent: Agent;
  readonly listening: Listening;
  readonly config: ConfigSource;
  /** To its own page, with a one-time code; `user` as in `PageSessions`. */
  readonly pageAddress: (user: number | null) => PageAddress;
  /** Queued by `now`. */
  readonly firstJobs: readonly Job[];
}
