/** What somebody has chosen to restore: entries of one snapshot, from any of its directories. */
import { byteText, keyOf, type PathRef } from './path-ref.ts';

/** As many as one request may name. */
export const MOST_CHOSEN = 1_000;

export interface Chosen extends PathRef {
  readonly isDirectory: boolean;
  /** Of a directory, what lies below it. */
  readonly size_bytes: number;
}

export interface Selection {
  /** Of which snapshot; undefined while nothing is chosen. */
  readonly snapshot: string | undefined;
  readonly entries: ReadonlyMap<string, Chosen>;
}

export const NOTHING: Selection = { snapshot: undefined, entries: new Map() };

export function isChosen({ snapshot, entries }: Selection, of: string, ref: PathRef): boolean {
  return snapshot === of && entries.has(keyOf(ref));
}

/** With the entry, or without it if it was chosen. One of another snapshot begins anew; one too many changes nothing. */
export function toggled(selection: Selection, snapshot: string, entry: Chosen): Selection {
  const entries = new Map(selection.snapshot === snapshot ? selection.entries : []);
  const key = keyOf(entry);
  if (!entries.delete(key)) {
    if (entries.size >= MOST_CHOSEN) return selection;
    entries.set(key, entry);
  }
  return entries.size === 0 ? NOTHING : { snapshot, entries };
}

export function isFull({ entries }: Selection): boolean {
  return entries.size >= MOST_CHOSEN;
}

/** Entries without those that lie in a chosen directory: they come with it. */
export function topmost({ entries }: Selection): readonly Chosen[] {
  // Bytes, for two names that are no UTF-8 may be shown alike.
  const all = [...entries.values()].map((entry) => ({ entry, bytes: byteText(entry) }));
  const directories = all
    .filter(({ entry }) => entry.isDirectory)
    .map(({ bytes }) => (bytes.endsWith('/') ? bytes : `${bytes}/`));
  return all
    .filter(
      ({ bytes }) => !directories.some((directory) => bytes !== directory && bytes.startsWith(directory)),
    )
    .map(({ entry }) => entry);
}
