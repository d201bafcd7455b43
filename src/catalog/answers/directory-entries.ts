/**
 * Lists the entries of a directory of one snapshot from any place of their order on, so that scrolling far down need
 * not fetch all that comes before. The order of the last directory is remembered, at four bytes for each entry.
 *
 * Each entry is compared with the newest snapshot of the same lineage. There it has the same node, so that takes one
 * more query for a page.
 */
import { type ByteString, joinBytes, pathOf } from '../../base/byte-path.ts';
import type { FileItem } from '../../jobs/agent.ts';
import { RequestError } from '../../base/errors.ts';
import { fileItem, type Hit } from './hits.ts';
import { notThere } from './file-list.ts';
import { type KnownSnapshot, namesIn, requireComplete, requireSnapshot } from './known-snapshots.ts';
import type { ListSource } from './list-search.ts';
import type { DatabaseSort } from './orders.ts';
import { comparedWithNewest, type Since } from './since-then.ts';
import { NODE_TYPE } from '../tables/schema.ts';
import { nameOf } from './tree-walk.ts';

export interface EntriesRequest {
  readonly snapshot: string;
  /** Bytes as Latin-1. */
  readonly path: string;
  readonly sort: DatabaseSort;
  /** How many entries to skip. */
  readonly offset: number;
  readonly limit: number;
}

export interface ListedEntry {
  readonly item: FileItem;
  readonly since: Since;
}

export interface EntriesPage {
  readonly items: readonly ListedEntry[];
  /** How many entries the directory has. */
  readonly total: number;
}

interface DirectoryAt {
  readonly ordinal: number;
  readonly node: number;
  readonly sort: DatabaseSort;
}

export class DirectoryOrder {
  #key = '';
  #nodes = new Uint32Array();

  /** Called when something was written to the database. */
  outdate(): void {
    this.#key = '';
    this.#nodes = new Uint32Array();
  }

  nodesOf({ orders }: ListSource, { ordinal, node, sort }: DirectoryAt): Uint32Array {
    const key = `${ordinal} ${node} ${sort}`;
    if (key === this.#key) return this.#nodes;
    this.#nodes = Uint32Array.from(orders[sort].nodesInside.all(ordinal, ordinal, node));
    this.#key = key;
    return this.#nodes;
  }
}

/**
 * @throws {RequestError} SNAPSHOT_NOT_FOUND, PATH_NOT_IN_SNAPSHOT, SERVICE_UNAVAILABLE
 * @throws {RepositoryError} CORRUPT_DATA when the directory, or one above it, could not be read
 */
export function directoryEntries(
  source: ListSource,
  order: DirectoryOrder,
  { snapshot: id, path, sort, offset, limit }: EntriesRequest,
): EntriesPage {
  const { places, queries, snapshots } = source;
  const snapshot = requireComplete(requireSnapshot(snapshots, id));
  const { ordinal, root } = snapshot;
  const names = namesIn(snapshot, path);
  const directory = pathOf(names);
  const node = places.find(root, names);
  const hit = node === undefined ? undefined : queries.one.get(ordinal, ordinal, node);
  source.unread.requireRead(snapshot, directory, hit !== undefined);
  if (node === undefined || hit === undefined) throw notThereThen(source, snapshot, directory, node);
  // Anything but a directory is listed as itself.
  if (hit.type !== NODE_TYPE.directory)
    return {
      items: offset === 0 ? [{ item: fileItem(directory, hit, snapshot), since: null }] : [],
      total: 1,
    };
  const listed = (hits: readonly Hit[]): readonly ListedEntry[] => {
    const becameOf = comparedWithNewest(source, snapshot, directory, hits);
    return hits.map((one) => ({
      item: fileItem(joinBytes(directory, nameOf(one)), one, snapshot),
      since: becameOf(one),
    }));
  };
  if (offset === 0 && sort === 'name' && hit.children !== null) {
    // The first page in order of the names is fetched without sorting all entries.
    const first = { ordinal, directory: node, after: Buffer.alloc(0), limit };
    return { items: listed(queries.children.all(first, undefined)), total: hit.children };
  }
  const nodes = order.nodesOf(source, { ordinal, node, sort });
  const hits = queries.nodes(ordinal, [...nodes.subarray(offset, offset + limit)]);
  return { items: listed(hits), total: nodes.length };
}

/** The error for a path that a snapshot does not have: `existed` says whether others of its lineage do. */
function notThereThen(
  { queries, snapshots }: ListSource,
  snapshot: KnownSnapshot,
  directory: ByteString,
  node: number | undefined,
): RequestError {
  const error = notThere(directory);
  if (node === undefined) return error;
  const spans = queries.spans.all(node);
  const having = snapshots.filter(
    ({ complete, lineage, ordinal }) =>
      complete &&
      lineage === snapshot.lineage &&
      spans.some(({ since, until }) => since <= ordinal && ordinal <= until),
  );
  const isEarlier = having.some(({ rank }) => rank < snapshot.rank);
  const isLater = having.some(({ rank }) => rank > snapshot.rank);
  if (!isEarlier && !isLater) return error;
  const existed = isEarlier && isLater ? 'before_and_after' : isEarlier ? 'before' : 'after';
  return new RequestError(error.code, error.message, {
    hint: error.hint,
    details: { ...error.details, existed },
  });
}
