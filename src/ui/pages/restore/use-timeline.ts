/** The snapshots of a source, the newest first, and which of them is looked at. */
import { useEffect } from 'preact/hooks';
import type { Snapshot } from '../../../api/schemas/snapshot.ts';
import { ask, type AskError, withQuery } from '../../agent/ask.ts';
import { useEvents } from '../../agent/events.ts';
import { useOverview } from '../../agent/overview.ts';
import { asAskError, useAsked } from '../../agent/use-asked.ts';
import { type FetchedPage, type Pages, usePages } from '../../agent/use-pages.ts';
import { goTo, readRoute } from '../../route.ts';
import { hrefOfPlace, type Place, readPlace } from './place.ts';

/** As many as a page of them may have. */
const PAGE = 100;

export interface Timeline {
  readonly pages: Pages<Snapshot>;
  /** All that there are backups of. */
  readonly sources: readonly string[];
  /** The one that is looked at; undefined while it is not known, or when there is none. */
  readonly snapshot: Snapshot | undefined;
  readonly problem: AskError | undefined;
}

/** An answer, and to which question. */
interface AskedSnapshot {
  readonly key: string | undefined;
  readonly found?: Snapshot;
}

export function useTimeline(place: Place): Timeline {
  const overview = useOverview();
  const key = `snapshots ${place.source ?? ''}`;
  const pages = usePages(
    key,
    async ({ cursor, limit, signal }) =>
      await ask<FetchedPage<Snapshot>>(
        'GET',
        withQuery('/snapshots', { source: place.source, limit, cursor }),
        { signal },
      ),
    PAGE,
    PAGE,
  );
  useEvents(({ kind, job }) => {
    if (kind === 'job.finished' && job?.type === 'backup') pages.again();
  });
  const { items } = pages;
  const listed = items.find(({ id }) => id === place.snapshot);
  // One that is older than those listed, or of another source.
  const asksForIt = place.snapshot !== undefined && listed === undefined && pages.key !== undefined;
  const wanted = asksForIt ? place.snapshot : place.snapshot === undefined ? 'latest' : undefined;
  const asked = useAsked(
    async (signal): Promise<AskedSnapshot> => {
      if (wanted === undefined) return { key: undefined };
      const source = wanted === 'latest' ? place.source : undefined;
      const address = withQuery(`/snapshots/${encodeURIComponent(wanted)}`, { source });
      try {
        return { key: `${key} ${wanted}`, found: await ask<Snapshot>('GET', address, { signal }) };
      } catch (error) {
        // Another machine may have it, and then the list does: nobody has to hear of that.
        if (wanted !== 'latest' || asAskError(error).code !== 'SNAPSHOT_NOT_FOUND') throw error;
        return { key: `${key} ${wanted}` };
      }
    },
    [key, wanted],
  );
  // What was asked for another source stays until that of this one is there.
  const told = wanted !== undefined && asked.data?.key === `${key} ${wanted}` ? asked.data : undefined;
  // The list is in order of times: where a clock was wrong, its first is not the one that was made last.
  const first = told !== undefined && pages.key === key ? items[0] : undefined;
  const snapshot = place.snapshot === undefined ? (told?.found ?? first) : (listed ?? told?.found);
  const sources = [
    ...new Set([
      ...overview.sources.map(({ path }) => path),
      ...items.map(({ source }) => source),
      ...(place.source === undefined ? [] : [place.source]),
    ]),
  ].sort();
  useEffect(() => {
    if (snapshot === undefined) return;
    if (place.snapshot === snapshot.id && place.source !== undefined) return;
    // What is looked at stays when a newer backup comes; and the address may be ahead of what is drawn: a search, say.
    const now = readPlace(readRoute(location.hash));
    if (now.snapshot !== place.snapshot || now.source !== place.source) return;
    goTo(hrefOfPlace({ ...now, snapshot: snapshot.id, source: now.source ?? snapshot.source }), 'replace');
  }, [snapshot?.id, place.snapshot, place.source]);
  return { pages, sources, snapshot, problem: pages.problem ?? asked.problem };
}
