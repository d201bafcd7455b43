/** The time zone that the system is in, by name. */
import { realpathSync } from 'node:fs';
import { errnoOf } from './errors.ts';

/** UTC where the system says nothing that there is. */
export function systemZone(): string {
  // Undefined, or no zone at all, for what it does not understand.
  const told: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return told !== undefined && isTimeZone(told) ? told : 'UTC';
}

/** Puts the name in the place of what `TZ` says and is no name, so that everything that tells the time tells the same. */
export function nameTimeZone(environment: NodeJS.ProcessEnv): void {
  const written = environment['TZ'];
  if (written === undefined || (written !== '' && isTimeZone(written))) return;
  const zone = zoneOfFile(written) ?? systemZone();
  if (zone !== written) environment['TZ'] = zone;
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
