/** The options of an agent, and the interface of one that runs. */
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
  /** Whether the file was named explicitly, so that it must exist. */
  readonly configRequired: boolean;
  /** Overrides the port of the settings. */
  readonly port: number | undefined;
  readonly version: string;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly log: Logger;
  readonly redactor: Redactor;
  /** Removes variables from the process's own environment. */
  readonly forget: (names: readonly string[]) => void;
  /** The secret of the embedded repository. */
  readonly machineKey: () => Promise<Buffer>;
  /** Sources to back up at once. */
  readonly now: readonly string[];
  /** Overrides what the system says of power and network. */
  readonly circumstances?: Circumstances | undefined;
  /** Overrides what the system says of disks. */
  readonly sameDisk?: SameDisk | undefined;
  readonly freeBytes?: ((directory: string) => Promise<number | null>) | undefined;
  /** Overrides how memory is returned to the system, which takes longer the more memory a process holds. */
  readonly returnMemory?: (() => void) | undefined;
}

/** A running agent. */
export interface Daemon extends AsyncDisposable {
  readonly agent: Agent;
  readonly listening: Listening;
  readonly config: ConfigSource;
  /** Makes an address of the agent's own page, with a one-time code; `user` as in `PageSessions`. */
  readonly pageAddress: (user: number | null) => PageAddress;
  /** The jobs that were queued for `now`. */
  readonly firstJobs: readonly Job[];
}
