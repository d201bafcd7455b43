/** What opens the repository of a destination, as the settings say it. */
import type { DestinationItem } from '../../../api/schemas/page/protect.ts';
import { t } from '../../language/language.ts';

export interface Opener {
  readonly words: string;
  /** Name of the file, the variable, the command, …; it is not the secret. */
  readonly place?: string;
}

export function openedBy({ name, is_embedded: isEmbedded }: DestinationItem, settings: unknown): Opener {
  if (isEmbedded) return { words: t.encryption.byMachineKey };
  const passphrase = field(field(field(settings, 'destinations'), name), 'passphrase');
  for (const kind of ['file', 'env', 'command', 'credential'] as const) {
    const place = field(passphrase, kind);
    if (typeof place === 'string') return { words: t.encryption.by[kind], place };
  }
  return { words: t.encryption.byKit };
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
