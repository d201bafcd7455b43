/** Tries a place out before backups are sent to it: otherwise a missing place would be noticed only when files are needed. */
import { DestinationError } from '../../base/errors.ts';
import type { DestinationSettings } from '../../config/settings.ts';
import type { Finding } from '../../daemon/doctor/finding.ts';
import { shownPlace, parseLocation } from '../../destination/location.ts';
import type { Context } from '../command/context.ts';
import { tryOut } from '../places/destination-look.ts';

export interface Insisting {
  /** The beginning of the error: `nas was not added`. */
  readonly refused: string;
  /** The command that does it nevertheless. */
  readonly command: string;
  /** Text that follows the command. */
  readonly more?: string;
}

/**
 * Tries a place out by storing, reading and removing something there. Makes what the first backup would make. Returns
 * the warnings.
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

/** Whether the place may just be elsewhere today: not if it could be opened and failed then. */
function mayBeElsewhere({ check }: Finding): boolean {
  return check === 'open' || check === 'mounted';
}

/**
 * A hint and the first letter of the text that follows it. A hint that ends with a command has no full stop, which
 * would be copied with the command.
 */
function joined(hint: string): string {
  if (hint === '') return 'T';
  return /[.!?]$/.test(hint) ? `${hint} T` : `${hint}; or, t`;
}
