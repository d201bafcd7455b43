/**
 * The destinations that the recovery kit of this computer does not open: their repositories have a passphrase of their
 * own, most often because another computer made them. Whoever threw the kit of that computer away would be locked out.
 */
import type { Settings } from '../../config/settings.ts';

type Places = Pick<Settings, 'destinations' | 'embedded'>;

export function notOpenedByKit({ destinations, embedded }: Places): readonly string[] {
  return destinations
    .filter(({ passphrase, url }) => passphrase !== null && url !== embedded.url)
    .map(({ name }) => name);
}

/** Says what else is to be kept, for the command line and the kit; empty where there are no such destinations. */
export function otherKeysText(names: readonly string[]): string {
  if (names.length === 0) return '';
  const last = names.at(-1) ?? '';
  const them = names.length === 1 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
  return `It does not open ${them}. Keep what does as well: the recovery kit of the computer that made the backups there, or the passphrase you chose for them.`;
}
