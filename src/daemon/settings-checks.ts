/** Checks of the settings that a schema cannot express. */
import { parseLocation } from '../destination/location.ts';
import { holdsBackups } from '../config/embedded-backups.ts';
import { isPreset } from '../config/schedule-text.ts';
import { parseSchedule } from '../schedule/schedule.ts';
import { checkPattern } from './sources/exclude-check.ts';
import type { SettingsContext } from '../config/settings-context.ts';

export const SETTINGS_CHECKS: Required<
  Pick<SettingsContext, 'checkLocation' | 'checkSchedule' | 'checkPattern' | 'holdsBackups'>
> = {
  holdsBackups,
  checkLocation: (location) => void parseLocation(location),
  checkSchedule: (schedule) => {
    if (!isPreset(schedule)) parseSchedule(schedule);
  },
  checkPattern: (pattern, source) => checkPattern(pattern, source, 'the settings'),
};
