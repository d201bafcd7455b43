/** The snapshots of a source, the newest first, and the one that is shown. */
import { useEffect, useRef } from 'preact/hooks';
import type { Overview, OverviewDestination } from '../../../api/schemas/page/overview.ts';
import type { Snapshot } from '../../../api/schemas/snapshot.ts';
import { ask, type AskError, withQuery } from '../../agent/ask.ts';
import { useEvents } from '../../agent/events.ts';
import { useOverview } from '../../agent/overview.ts';
import { asAskError, type Asked, useAsked } from '../../agent/use-asked.ts';
import { type FetchedPage, type Pages, usePages } from '../../agent/use-pages.ts';
import { goTo, readRoute } from '../../parts/route.ts';
import { hrefOfPlace, type Place, readPlace } from './place.ts';

/** The most snapshots that a page of the list may have. */
const PAGE = 100;

export interface Timeline {
  readonly pages: Pages<Snapshot>;
  /** All sources that have backups. */
  readonly sources: readonly string[];
  /** All places that have backups, or may have. */
  readonly places: readonly KnownPlace[];
  /** The snapshot that is shown; undefined while it is unknown, or when there is none. */
  readonly snapshot: Snapshot | undefined;
  /** The id of the snapshot that was made last. */
  readonly newest: string | undefined;
  readonly problem: AskError | undefined;
}

/** The snapshot of a list that was made last. */
interface LatestOf {
  readonly key: string;
  readonly snapshot: Snapshot | undefined;
}

export function useTimeline(place: Place): Timeline {
  const overview = useOverview();
  // The list of one source names no other: those of other machines, and of sources that were removed.
  const newestOfAll = useAsked(
    (signal) => ask<FetchedPage<Snapshot>>('GET', withQuery('/snapshots', { limit: PAGE }), { signal }),
    [],
  );
  const isOpen = place.source === undefined && place.snapshot === undefined;
  const first = isOpen ? firstSource(overview, newestOfAll.data?.items ?? []) : undefined;
  const isUndecided = isOpen && newestOfAll.data === undefined && newestOfAll.problem === undefined;
  const source = place.source ?? first;
  const key = `snapshots ${JSON.stringify([source, place.destination])}`;
  const pages = usePages(
    key,
    async ({ cursor, limit, signal }) =>
      await ask<FetchedPage<Snapshot>>(
        'GET',
        withQuery('/snapshots', { source, destination: place.destination, limit, cursor }),
        { signal },
      ),
    PAGE,
    PAGE,
  );
  const { items } = pages;
  // The slider leads to all of them, page after page.
  useEffect(() => {
    if (pages.key === key) pages.want(Infinity);
  }, [pages.key, key]);
  // The snapshot made last is known only for all destinations together. For a single one, the first of the list has to do.
  const latest = useLatest(key, source, pages.key === key && items.length > 0);
  useEvents(({ kind, job }) => {
    if (kind !== 'job.finished' || job?.type !== 'backup') return;
    pages.again();
    latest.again();
  });
  const listed = items.find(({ id }) => id === place.snapshot);
  // The snapshot may be older than those listed, or of another source.
  const asksForIt = place.snapshot !== undefined && listed === undefined && pages.key !== undefined;
  const asked = useAsked(
    async (signal) =>
      asksForIt
        ? await ask<Snapshot>('GET', `/snapshots/${encodeURIComponent(place.snapshot ?? '')}`, { signal })
        : undefined,
    [asksForIt ? place.snapshot : ''],
  );
  // The answer for another source stays until that for this one has arrived.
  const told = pages.key === key && latest.data?.key === key ? latest.data : undefined;
  const last = place.destination === undefined ? told?.snapshot : undefined;
  const newest = told === undefined ? undefined : (last ?? firstOf(items));
  const begun = isUndecided ? undefined : newest;
  const snapshot = place.snapshot === undefined ? begun : (listed ?? asked.data);
  const seen = useRef<readonly string[]>([]);
  const sources = knownSources(seen.current, overview, [...(newestOfAll.data?.items ?? []), ...items], place);
  seen.current = sources;
  useEffect(() => {
    if (snapshot === undefined) return;
    if (place.snapshot === snapshot.id && place.source !== undefined) return;
    // Keeps the shown snapshot when a newer backup comes. The address may be ahead of what is rendered, for example by
    // a search.
    const now = readPlace(readRoute(location.hash));
    if (now.snapshot !== place.snapshot || now.source !== place.source) return;
    goTo(hrefOfPlace({ ...now, snapshot: snapshot.id, source: now.source ?? snapshot.source }), 'replace');
  }, [snapshot?.id, place.snapshot, place.source]);
  const places = knownPlaces(overview.destinations, items, place.destination);
  const problem = pages.problem ?? asked.problem ?? latest.problem;
  return { pages, sources, places, snapshot, newest: newest?.id, problem };
}

/**
 * The source that is shown when none was named: the home directory, or else the largest one. The newest backup may be of
 * one that hardly anybody looks for, such as /etc. Undefined when no configured source is among the listed snapshots.
 */
export function firstSource(
  {
    sources,
  }: { readonly sources: readonly Pick<Overview['sources'][number], 'path' | 'name' | 'size_bytes'>[] },
  listed: readonly Pick<Snapshot, 'source' | 'size_bytes'>[],
): string | undefined {
  const size = (path: string): number =>
    Math.max(0, ...listed.filter((one) => one.source === path).map((one) => one.size_bytes));
  const known = sources.filter(({ path }) => listed.some((one) => one.source === path));
  const home = known.find(({ name }) => name === '~');
  return (home ?? known.toSorted((a, b) => size(b.path) - size(a.path))[0])?.path;
}

/** All sources that are known to have backups, or will: none that was known is forgotten. */
export function knownSources(
  seen: readonly string[],
  { sources }: { readonly sources: readonly Pick<Overview['sources'][number], 'path'>[] },
  listed: readonly Pick<Snapshot, 'source'>[],
  { source }: Pick<Place, 'source'>,
): readonly string[] {
  const paths = [...sources.map(({ path }) => path), ...listed.map((one) => one.source)];
  return [...new Set([...seen, ...paths, ...(source === undefined ? [] : [source])])].sort();
}

/** The snapshot shown first. Whoever has a write-only key could make a snapshot the newest, so those of full keys come first. */
function firstOf(items: readonly Snapshot[]): Snapshot | undefined {
  return items.find(({ stored_by: { write_only_key: key } }) => key === null) ?? items[0];
}

/**
 * Fetches the snapshot that was made last. The list is in order of times: if a clock was wrong, its first is another
 * one. Fetched once something is listed.
 */
function useLatest(key: string, source: string | undefined, isListed: boolean): Asked<LatestOf | undefined> {
  return useAsked(
    async (signal) => {
      if (!isListed) return undefined;
      try {
        const address = withQuery('/snapshots/latest', { source });
        return { key, snapshot: await ask<Snapshot>('GET', address, { signal }) };
      } catch (error) {
        // All listed snapshots are of other machines.
        if (asAskError(error).code !== 'SNAPSHOT_NOT_FOUND') throw error;
        return { key, snapshot: undefined };
      }
    },
    [isListed ? key : ''],
  );
}

export interface KnownPlace {
  /** The name that snapshots have for it: a destination, or the URL of one that has left the settings. */
  readonly name: string;
  /** Its backups are listed but cannot be read at the moment. */
  readonly isAway: boolean;
  /** It is the embedded repository, while backups go elsewhere. */
  readonly isEarlier: boolean;
}

/** The places of backups, and the reason when a list of them is empty: backups must not seem lost that are only elsewhere. */
export function knownPlaces(
  destinations: readonly Pick<OverviewDestination, 'name' | 'reachable' | 'is_embedded' | 'is_default'>[],
  listed: readonly Pick<Snapshot, 'destination'>[],
  chosen: string | undefined,
): readonly KnownPlace[] {
  const known = destinations.map(({ name, reachable, is_embedded: isEmbedded, is_default: isDefault }) => ({
    name,
    isAway: reachable === false,
    isEarlier: isEmbedded && !isDefault,
  }));
  const names = [...listed.map(({ destination }) => destination), ...(chosen === undefined ? [] : [chosen])];
  const others = [...new Set(names)].filter((name) => known.every((one) => one.name !== name));
  return [...known, ...others.map((name) => ({ name, isAway: false, isEarlier: false }))];
}

/**
 * `none_read`: there were backups, but no list of them can be read; `none_here`: none in the chosen place;
 * `none_of_source`: none of the chosen source. There are others.
 */
export type EmptyReason = 'none_yet' | 'none_read' | 'none_here' | 'none_of_source';

/** Why nothing is listed; undefined while that is unknown, or if something is. */
export function emptyReason(
  { source, destination }: Pick<Place, 'source' | 'destination'>,
  listed: { readonly isKnown: boolean; readonly count: number },
  { saved, sources }: Pick<Overview, 'saved' | 'sources'>,
): EmptyReason | undefined {
  if (!listed.isKnown || listed.count > 0) return undefined;
  if (destination !== undefined) return 'none_here';
  if (saved.snapshots === 0 && sources.some((one) => one.last_good_backup_at !== null)) return 'none_read';
  return source === undefined && saved.snapshots === 0 ? 'none_yet' : 'none_of_source';
}
