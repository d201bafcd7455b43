/** Checks of the settings that a schema cannot express. */
import { RequestError } from '../base/errors.ts';
import { treePath } from '../base/tree-path.ts';
import { holdsBackups } from '../config/embedded-repository.ts';
import { isPreset } from '../config/schedule-text.ts';
import type { SettingsContext } from '../config/settings-context.ts';
import { parseLocation } from '../destination/location.ts';
import { compileSettings, typedPattern } from '../exclude/patterns.ts';
import { parseSchedule } from '../schedule/schedule.ts';
import { refuseUnfit } from './sources/unfit-sources.ts';

export const SETTINGS_CHECKS: Required<
  Pick<
    SettingsContext,
    'checkLocation' | 'checkSchedule' | 'checkPattern' | 'checkNewSource' | 'holdsBackups'
  >
> = {
  holdsBackups,
  checkNewSource: (path, settings, stateDirectory) => refuseUnfit(path, { settings, stateDirectory }),
  checkLocation: (location) => void parseLocation(location),
  checkSchedule: (schedule) => {
    if (!isPreset(schedule)) parseSchedule(schedule);
  },
  checkPattern: (pattern, source) => checkPattern(pattern, source, 'the settings'),
};

/** @throws {RequestError} INVALID_REQUEST, with the field of the request, for a pattern that could never match */
export function checkExcludes(patterns: readonly string[], source: string): void {
  try {
    for (const pattern of patterns) checkPattern(pattern, source, 'the backup request');
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { message, hint } = error;
    throw new RequestError('INVALID_REQUEST', message, { hint, details: { field: 'options.exclude' } });
  }
}

/** @param from where the pattern is written, for the message. @throws {RequestError} */
function checkPattern(pattern: string, source: string, from: string): void {
  if (pattern.includes('\0'))
    throw new RequestError('INVALID_REQUEST', `A pattern in ${from} contains a NUL character`, {
      hint: 'Paths cannot contain one. Remove it.',
    });
  compileSettings([{ pattern: typedPattern(pattern), from }], treePath(source));
}
