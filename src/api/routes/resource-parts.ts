import type { Clock } from '../../base/clock.ts';
import type { Settings } from '../../config/settings.ts';
import type { Agent } from '../../jobs/agent.ts';
import type { IsFresh } from '../access/secret-guard.ts';
import type { ConfigChange } from '../../config/config-edit.ts';
import type { PresentSettings } from '../../config/replacement.ts';

/** The configuration file, as it is in force. */
export interface SettingsFile {
  /** Undefined while there is no file and defaults are in force. */
  readonly document: (PresentSettings & { readonly revision: string }) | undefined;
  /**
   * Changes the file and puts it in force.
   * @throws {RequestError} REVISION_MISMATCH, or what is wrong with the change
   * @throws {ConfigError} when the file is broken and must be put right first
   * @throws {StateError} when it cannot be written
   */
  edit(
    changes: readonly ConfigChange[],
    expectedRevision: string | undefined,
    signal: AbortSignal,
  ): Promise<unknown>;
  /** Throws what `edit` would throw of the change and of the file, and changes nothing. */
  check(changes: readonly ConfigChange[], expectedRevision: string | undefined): Promise<void>;
}

/** What the routes of the resources work with. */
export interface ResourceParts {
  readonly agent: Agent;
  readonly clock: Clock;
  /** As they are at the moment. */
  readonly settings: () => Settings;
  readonly stateDirectory: string;
  /** Directories of this machine that backups are stored in, now. */
  readonly stores: () => readonly string[];
  /** What the settings come from; absent where they cannot be changed by requests. */
  readonly settingsFile?: SettingsFile | undefined;
  /** For the page alone, which may put secrets that were typed there into the settings. */
  readonly isFreshSecret?: IsFresh | undefined;
}
