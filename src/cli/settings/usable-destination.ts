/** A place is tried out before backups are sent to it: one that is not there would be noticed when files are needed. */
import { DestinationError } from '../../base/errors.ts';
import type { DestinationSettings } from '../../config/settings.ts';
import type { Finding } from '../../daemon/doctor/finding.ts';
import { shownPlace, parseLocation } from '../../destination/location.ts';
import type { Context } from '../command/context.ts';
import { tryOut } from '../places/destination-look.ts';

export interface Insisting {
  /** What was wanted: `nas was not added`. */
  readonly refused: string;
  /** The command that does it all the same. */
  readonly command: string;
  /** What else may be missing. */
  readonly more?: string;
}

/**
 * Stores, reads and removes something there; what the first backup would make is made. Gives what is not as it should be.
 * @throws {DestinationError} when backups could not be kept there
 */
export async function requireUsable(
  settings: DestinationSettings,
  { refused, command, more = '' }: Insisting,
  context: Context,
): Promise<readonly Finding[]> {
  const findings = await tryOut(settings, { configured: true, isNew: true }, context);
  const wrong = findings.filter(({ status }) => status === 'error');
  const [first] = wrong;
  if (first === undefined) return findings.filter(({ status }) => status === 'warning');
  const said = wrong.map(({ message }) => message).join('; ');
  throw new DestinationError('unreachable', `${refused}: ${said}`, {
    op: 'test',
    hint: `${joined(first.hint)}o do it all the same${mayBeElsewhere(first) ? ', as for a disk that is elsewhere today' : ''}: ${command}${more}`,
    details: { destination: settings.name, place: shownPlace(parseLocation(settings.url)) },
  });
}

/** What was there and did not do is not elsewhere. */
function mayBeElsewhere({ check }: Finding): boolean {
  return check === 'open' || check === 'mounted';
}

/** With the beginning of what follows. A hint that ends with a command has no full stop, which would be copied with it. */
function joined(hint: string): string {
  if (hint === '') return 'T';
  return /[.!?]$/.test(hint) ? `${hint} T` : `${hint}; or, t`;
}
