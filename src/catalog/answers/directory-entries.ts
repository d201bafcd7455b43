/**
 * Lists the entries of a directory of one snapshot from any place of their order on, so that scrolling far down need
 * not fetch all that comes before. The order of the last directory is remembered, at four bytes for each entry.
 */
import { joinBytes, pathOf } from '../../base/byte-path.ts';
import type { FileItem } from '../../jobs/agent.ts';
import { fileItem, type Hit } from './hits.ts';
import { notThere } from './file-list.ts';
import { namesIn, requireComplete, requireSnapshot } from './known-snapshots.ts';
import type { ListSource } from './list-search.ts';
import type { DatabaseSort } from './orders.ts';
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

export interface EntriesPage {
  readonly items: readonly FileItem[];
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
  if (node === undefined || hit === undefined) throw notThere(directory);
  // Anything but a directory is listed as itself.
  if (hit.type !== NODE_TYPE.directory)
    return { items: offset === 0 ? [fileItem(directory, hit, snapshot)] : [], total: 1 };
  const itemOf = (one: Hit): FileItem => fileItem(joinBytes(directory, nameOf(one)), one, snapshot);
  if (offset === 0 && sort === 'name' && hit.children !== null) {
    // The first page in order of the names is fetched without sorting all entries.
    const first = { ordinal, directory: node, after: Buffer.alloc(0), limit };
    return { items: queries.children.all(first, undefined).map(itemOf), total: hit.children };
  }
  const nodes = order.nodesOf(source, { ordinal, node, sort });
  const hits = queries.nodes(ordinal, [...nodes.subarray(offset, offset + limit)]);
  return { items: hits.map(itemOf), total: nodes.length };
}
