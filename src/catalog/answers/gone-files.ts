/**
 * Lists what earlier snapshots have and the newest of their source has not: the last to disappear first. What
 * disappeared together with its directory is in that directory, and is not listed by itself.
 */
import { type ByteString, joinBytes } from '../../base/byte-path.ts';
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import { SPAN, lastOrdinal } from '../tables/schema.ts';
import {
  cursorOfGone,
  type EndedPlace,
  type FoundFile,
  type FoundFiles,
  foundFile,
  newest,
  placeOfGone,
  type prepareVersions,
  type SearchRequest,
  type Searched,
  searchedIn,
} from './file-search.ts';
import type { KnownSnapshot } from './known-snapshots.ts';
import type { ListSource } from './list-search.ts';

/** Versions that are looked at for one page; a page may be short or empty, and then has a cursor. */
const LOOKED_AT = 50_000;
/** Versions that one query fetches. */
const FETCHED = 1_024;

/** Versions that apply no more and that no other follows. */
export function prepareEnded(database: CatalogDatabase) {
  return {
    /** The last time at which something ended, from a first ordinal on and before another: (from, before). */
    time: database
      .prepare<[number, number], number | null>(
        'SELECT max(until) FROM version WHERE (until + 1) % 1048576 <> 0 AND until >= ? AND until < ?',
      )
      .pluck(),
    /** What ended then: (until, behind this node, at most so many). */
    nodes: database
      .prepare<[number, number, number], number>(
        `SELECT v.node FROM version v WHERE (v.until + 1) % 1048576 <> 0 AND v.until = ? AND v.node > ?
         AND NOT EXISTS (SELECT 1 FROM version later WHERE later.node = v.node AND later.since > v.until)
         ORDER BY v.node LIMIT ?`,
      )
      .pluck(),
  };
}

type Ended = ReturnType<typeof prepareEnded>;

/** @throws {RequestError} INVALID_CURSOR */
export function goneFiles(
  source: ListSource,
  { versions, ended }: { readonly versions: ReturnType<typeof prepareVersions>; readonly ended: Ended },
  { source: wanted, limit, after }: SearchRequest,
): FoundFiles {
  const { epoch, places } = source;
  const { searched, lineages } = searchedIn(source, wanted);
  const unreadable = searched.reduce((sum, one) => sum + one.unreadable, 0);
  const lastOf = lookup(versions, lineages);
  const items: FoundFile[] = [];
  let looked = 0;
  for (const place of placesBehind(
    ended,
    lineages,
    after === undefined ? undefined : placeOfGone(epoch, after),
  )) {
    const { until, node } = place;
    const found = lastOf(node);
    if (found?.isGone === true && !leftWithDirectory(found, lastOf)) {
      const { directory, name } = found.hit;
      const path = joinBytes(places.pathOf(directory), name.toString('latin1') as ByteString);
      items.push({ ...foundFile(path, node, found), until });
    }
    looked += 1;
    if (items.length === limit || looked === LOOKED_AT)
      return { epoch, items, unreadable, next: cursorOfGone(epoch, place) };
  }
  return { epoch, items, unreadable, next: null };
}

type Last = NonNullable<ReturnType<typeof newest>>;
type Lookup = (node: number) => Last | undefined;

/** Nodes that are remembered: entries of one directory ask for the same one. */
const REMEMBERED = 10_000;

function lookup(versions: ReturnType<typeof prepareVersions>, lineages: Searched['lineages']): Lookup {
  const known = new Map<number, Last | undefined>();
  return (node) => {
    if (known.has(node)) return known.get(node);
    const found = newest(versions.iterate(node), lineages);
    if (known.size >= REMEMBERED) known.clear();
    known.set(node, found);
    return found;
  };
}

/** What was gone before its directory was is not in the last snapshot of that directory. */
function leftWithDirectory({ hit, snapshot }: Last, lastOf: Lookup): boolean {
  const above = lastOf(hit.directory);
  return above?.isGone === true && above.snapshot === snapshot;
}

/** Lineage by lineage, those of snapshots that were made last first, what ended last first. */
function* placesBehind(
  { time, nodes }: Ended,
  lineages: Searched['lineages'],
  behind: EndedPlace | undefined,
): Generator<EndedPlace, void, undefined> {
  const order = [...lineages]
    .sort(([, a], [, b]) => rankOf(b.snapshots) - rankOf(a.snapshots))
    .map(([id]) => id);
  const begin = behind === undefined ? 0 : order.indexOf(Math.floor(behind.until / SPAN));
  // The snapshots of that lineage have been forgotten meanwhile: what is listed behind it is not known.
  if (begin < 0) return;
  for (const [index, lineage] of order.slice(begin).entries()) {
    let node = 0;
    let until: number | null | undefined;
    if (index === 0 && behind !== undefined) ({ node, until } = behind);
    else until = time.get(lineage * SPAN, lastOrdinal(lineage));
    while (until !== null && until !== undefined) {
      const batch = nodes.all(until, node, FETCHED);
      for (const one of batch) yield { until, node: one };
      node = batch.at(-1) ?? 0;
      if (batch.length === FETCHED) continue;
      until = time.get(lineage * SPAN, until);
      node = 0;
    }
  }
}

function rankOf(snapshots: readonly KnownSnapshot[]): number {
  return snapshots.at(-1)?.rank ?? 0;
}
