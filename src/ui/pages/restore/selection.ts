/** What the user has chosen to restore: entries of one snapshot, from any of its directories. */
import { byteText, keyOf, type PathRef } from './path-ref.ts';

/** The most entries that one request may name. */
export const MOST_CHOSEN = 1_000;

export interface Chosen extends PathRef {
  readonly isDirectory: boolean;
  /** For a directory, the size of everything below it. */
  readonly size_bytes: number;
}

export interface Selection {
  /** The snapshot of the entries; undefined while nothing is chosen. */
  readonly snapshot: string | undefined;
  readonly entries: ReadonlyMap<string, Chosen>;
}

export const NOTHING: Selection = { snapshot: undefined, entries: new Map() };

export function isChosen({ snapshot, entries }: Selection, of: string, ref: PathRef): boolean {
  return snapshot === of && entries.has(keyOf(ref));
}

/**
 * Adds the entry, or removes it if it was chosen. An entry of another snapshot starts a new selection; beyond the limit
 * nothing changes.
 */
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

/** The entries, except those in a chosen directory, which come with it. */
export function topmost({ entries }: Selection): readonly Chosen[] {
  // Compared as bytes, since two names that are not UTF-8 may look alike.
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
