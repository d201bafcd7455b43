/** Shows who stored a snapshot if that is a write-only key: whoever has that key chose all that the snapshot says. */
import type { JSX } from 'preact';
import type { StoredBy } from '../../api/schemas/values.ts';
import { visible } from '../components/own-text.tsx';
import { Tag } from '../components/tag.tsx';
import { t } from '../language/language.ts';

/** The key as text; empty for full keys, which store most snapshots. */
export function storedByText({ write_only_key: number, label }: StoredBy): string {
  return number === null ? '' : t.parts.writeOnlyKey(number, label === null ? '' : visible(label));
}

export function StoredByTag({ by }: { readonly by: StoredBy }): JSX.Element | null {
  const text = storedByText(by);
  return text === '' ? null : <Tag look="warning">{text}</Tag>;
}
