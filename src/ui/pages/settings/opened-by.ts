/** What opens the repository of a destination, according to the settings. */
import type { DestinationItem } from '../../../api/schemas/page/protect.ts';
import { t } from '../../language/language.ts';

export interface Opener {
  readonly words: string;
  /** The file, variable, command, …: where the secret is, not the secret itself. */
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
