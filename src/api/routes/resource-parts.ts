import type { Clock } from '../../base/clock.ts';
import type { Settings } from '../../config/settings.ts';
import type { Agent } from '../../jobs/agent.ts';
import type { IsFresh } from '../access/secret-guard.ts';
import type { ConfigChange } from '../../config/config-edit.ts';
import type { PresentSettings } from '../../config/replacement.ts';

/** The configuration file in force. */
export interface SettingsFile {
  /** The content of the file; undefined while there is no file and defaults apply. */
  readonly document: (PresentSettings & { readonly revision: string }) | undefined;
  /**
   * Changes the file and applies it.
   * @throws {RequestError} REVISION_MISMATCH, or what is wrong with the change
   * @throws {ConfigError} when the file is broken and must be repaired first
   * @throws {StateError} when the file cannot be written
   */
  edit(
    changes: readonly ConfigChange[],
    expectedRevision: string | undefined,
    signal: AbortSignal,
  ): Promise<unknown>;
  /** Throws what `edit` would throw because of the change or the file, without changing anything. */
  check(changes: readonly ConfigChange[], expectedRevision: string | undefined): Promise<void>;
}

/** What the routes of all resources use. */
export interface ResourceParts {
  readonly agent: Agent;
  readonly clock: Clock;
  /** Returns the settings currently in force. */
  readonly settings: () => Settings;
  readonly stateDirectory: string;
  /** Returns the local directories that backups are currently stored in. */
  readonly stores: () => readonly string[];
  /** The configuration file behind the settings; absent where requests cannot change the settings. */
  readonly settingsFile?: SettingsFile | undefined;
  /** For the page alone, which may put secrets that were typed there into the settings. */
  readonly isFreshSecret?: IsFresh | undefined;
}
