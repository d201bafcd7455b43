/** What has become of entries in the snapshot that was made last. */
import { type ByteString, joinBytes, pathNames, pathOf } from '../../base/byte-path.ts';
import { sameContent } from '../tables/entry-row.ts';
import { NODE_TYPE } from '../tables/schema.ts';
import { type Hit, inBatches } from './hits.ts';
import type { KnownSnapshot } from './known-snapshots.ts';
import type { ListSource } from './list-search.ts';
import { idsComparable } from './path-versions.ts';
import { nameOf } from './tree-walk.ts';

/** Null: nothing, or it is not known. Times and permissions do not count. */
export type Since = 'deleted' | 'changed' | null;

/** Entries below directories that are looked at for one page. A directory with more that may differ counts as changed. */
const LOOKED_AT = 5_000;

/** Compares entries of one directory with the snapshot of the lineage that was made last. */
export function comparedWithNewest(
  source: Pick<ListSource, 'queries' | 'snapshots' | 'unread'>,
  snapshot: KnownSnapshot,
  directory: ByteString,
  hits: readonly Hit[],
): (hit: Hit) => Since {
  const { queries, snapshots, unread } = source;
  const newest = snapshots
    .filter(({ complete, lineage }) => complete && lineage === snapshot.lineage)
    .reduce((last, one) => (one.rank >= last.rank ? one : last), snapshot);
  if (newest === snapshot) return () => null;
  const names = pathNames(directory);
  const above = [directory, ...names.map((_, depth) => pathOf(names.slice(0, depth)))];
  // What could not be read there would be taken for deleted.
  if (above.some((path) => unread.isUnknown(newest, path))) return () => null;
  const present = queries.nodes(
    newest.ordinal,
    hits.map(({ node }) => node),
  );
  const now = new Map(present.map((hit) => [hit.node, hit]));
  const comparison = new Comparison(source, snapshot, newest);
  return (hit) => {
    const path = joinBytes(directory, nameOf(hit));
    const other = now.get(hit.node);
    if (other === undefined) return unread.isUnknown(newest, path) ? null : 'deleted';
    return comparison.isSame(path, hit, other) ? null : 'changed';
  };
}

class Comparison {
  readonly #queries: ListSource['queries'];
  readonly #unread: ListSource['unread'];
  readonly #before: KnownSnapshot;
  readonly #after: KnownSnapshot;
  readonly #comparable: boolean;
  #left = LOOKED_AT;

  constructor(
    { queries, unread }: Pick<ListSource, 'queries' | 'unread'>,
    before: KnownSnapshot,
    after: KnownSnapshot,
  ) {
    this.#queries = queries;
    this.#unread = unread;
    this.#before = before;
    this.#after = after;
    this.#comparable = idsComparable(before, after);
  }

  isSame(path: ByteString, before: Hit, after: Hit): boolean {
    if (before.since === after.since) return true;
    if (before.type !== NODE_TYPE.directory || after.type !== NODE_TYPE.directory)
      return sameContent(before, after, this.#comparable) || isCutElsewhere(before, after);
    if (this.#comparable && before.content !== null && before.content === after.content) return true;
    if (before.size !== after.size || before.entries !== after.entries) return false;
    // A part of one of them is not known, so there is nothing to compare.
    if (this.#unread.isUnknown(this.#before, path) || this.#unread.isUnknown(this.#after, path)) return true;
    // The digest of a tree stands for times and owners, too: what is below decides.
    return this.#isSameBelow(path, before.node);
  }

  #isSameBelow(path: ByteString, directory: number): boolean {
    const now = new Map<number, Hit>();
    for (const hit of this.#changed(this.#after, this.#before, directory)) {
      if (!this.#maySpend()) return false;
      now.set(hit.node, hit);
    }
    for (const hit of this.#changed(this.#before, this.#after, directory)) {
      const other = now.get(hit.node);
      if (other === undefined || !this.#maySpend()) return false;
      if (!this.isSame(joinBytes(path, nameOf(hit)), hit, other)) return false;
      now.delete(hit.node);
    }
    return now.size === 0;
  }

  /** What a snapshot has in a directory, except versions that the other one has, too. */
  #changed(of: KnownSnapshot, other: KnownSnapshot, directory: number): Generator<Hit, undefined, undefined> {
    return inBatches((last, limit) =>
      this.#queries.changedChildren.all(
        of.ordinal,
        of.ordinal,
        other.ordinal,
        other.ordinal,
        directory,
        last?.name ?? Buffer.alloc(0),
        limit,
      ),
    );
  }

  #maySpend(): boolean {
    this.#left -= 1;
    return this.#left >= 0;
  }
}

/** The smallest chunk of the repositories that this program makes: a file up to this size is cut nowhere. */
const ONE_CHUNK = 131_072;

/**
 * A backup to several destinations cuts files into chunks as the first of them does, a backup to one as that one does.
 * So the chunks of a large file may differ though no byte does: then its exact time decides.
 */
function isCutElsewhere(before: Hit, after: Hit): boolean {
  return before.size > ONE_CHUNK && sameContent(before, after, false);
}
