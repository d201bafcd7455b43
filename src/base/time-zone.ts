/** Finds the name of the system's time zone. */
import { realpathSync } from 'node:fs';
import { errnoOf } from './errors.ts';

/** UTC where the system names no known zone. */
export function systemZone(): string {
  // Undefined, or not a valid zone, for settings that Node.js does not understand.
  const told: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return told !== undefined && isTimeZone(told) ? told : 'UTC';
}

/**
 * Replaces a value of `TZ` that is not a zone name by the name of the zone it means, so that everything shows the same
 * time.
 * @returns a warning for people when the value is not understood, with the zone that is used
 */
export function nameTimeZone(environment: NodeJS.ProcessEnv): string | undefined {
  const written = environment['TZ'];
  if (written === undefined || (written !== '' && isTimeZone(written))) return undefined;
  const known = zoneOfName(written) ?? zoneOfFile(written) ?? zoneOfOffset(written);
  const zone = known ?? systemZone();
  if (zone !== written) environment['TZ'] = zone;
  if (known !== undefined || written === '' || written === ':') return undefined;
  return `TZ says "${written}", which is not a known time zone: using ${zone} instead. Use a name such as Europe/Berlin.`;
}

/** The zone of `:Europe/Berlin`, POSIX's form of a system zone. */
function zoneOfName(written: string): string | undefined {
  const name = written.replace(/^:/, '');
  return name !== '' && isTimeZone(name) ? name : undefined;
}

/**
 * The zone of `MSK-3` or `<+03>-3`, POSIX's form of a whole-hour offset: Etc/GMT zones have the same sign. Forms with
 * daylight saving rules have no equivalent.
 */
function zoneOfOffset(written: string): string | undefined {
  const hours = /^:?(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)([+-]?)0?(\d{1,2})(?::?00){0,2}$/.exec(written);
  if (hours === null) return undefined;
  const count = Number(hours[2]);
  const zone = count === 0 ? 'UTC' : `Etc/GMT${hours[1] === '-' ? '-' : '+'}${count}`;
  return isTimeZone(zone) ? zone : undefined;
}

/** The zone of a path such as `:/etc/localtime`. */
function zoneOfFile(written: string): string | undefined {
  const path = written.replace(/^:/, '');
  if (!path.startsWith('/')) return undefined;
  try {
    const name = /\/zoneinfo\/(?:posix\/|right\/)?(.+)$/.exec(realpathSync(path))?.[1];
    return name !== undefined && isTimeZone(name) ? name : undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
