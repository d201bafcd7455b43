/** The time zone that the system is in, by name. */
import { realpathSync } from 'node:fs';
import { errnoOf } from './errors.ts';

/** UTC where the system says nothing that there is. */
export function systemZone(): string {
  // Undefined, or no zone at all, for what it does not understand.
  const told: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return told !== undefined && isTimeZone(told) ? told : 'UTC';
}

/**
 * Puts the name in the place of what `TZ` says and is no name, so that everything that tells the time tells the same.
 * @returns for people: that it is not understood, and what counts
 */
export function nameTimeZone(environment: NodeJS.ProcessEnv): string | undefined {
  const written = environment['TZ'];
  if (written === undefined || (written !== '' && isTimeZone(written))) return undefined;
  const known = zoneOfName(written) ?? zoneOfFile(written) ?? zoneOfOffset(written);
  const zone = known ?? systemZone();
  if (zone !== written) environment['TZ'] = zone;
  if (known !== undefined || written === '' || written === ':') return undefined;
  return `TZ says "${written}", which is not the name of a time zone that is known here: times count as ${zone}. Write a name such as Europe/Berlin.`;
}

/** Of `:Europe/Berlin`, as POSIX has names that the system gives. */
function zoneOfName(written: string): string | undefined {
  const name = written.replace(/^:/, '');
  return name !== '' && isTimeZone(name) ? name : undefined;
}

/** Of `MSK-3` or `<+03>-3`, as POSIX has zones of whole hours: these have names with the same sign. What has rules for the summer has none. */
function zoneOfOffset(written: string): string | undefined {
  const hours = /^:?(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)([+-]?)0?(\d{1,2})(?::?00){0,2}$/.exec(written);
  if (hours === null) return undefined;
  const count = Number(hours[2]);
  const zone = count === 0 ? 'UTC' : `Etc/GMT${hours[1] === '-' ? '-' : '+'}${count}`;
  return isTimeZone(zone) ? zone : undefined;
}

/** Of `:/etc/localtime`, or the file itself. */
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
