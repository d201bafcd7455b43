import type { Clock } from '../../base/clock.ts';
import type { Settings } from '../../config/settings.ts';
import type { Agent } from '../../jobs/agent.ts';
import type { IsFresh } from '../access/secret-guard.ts';
import type { SettingsFile } from './settings-file.ts';

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
