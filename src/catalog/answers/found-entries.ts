/** Yields the entries that may be in a list, in its order. */
import { type ByteString, joinBytes, pathNames } from '../../base/byte-path.ts';
import type { FileQuery } from '../../jobs/agent.ts';
import { batches, type Hit } from './hits.ts';
import type { InOrder } from './list-order.ts';
import { type ListSource, type Scope, type Search, type Selection, selectNodes } from './list-search.ts';
import { type DatabaseSort, type Ordered, type OrderRequest, TOP } from './orders.ts';
import type { Places } from './places.ts';
import { NODE_TYPE } from '../tables/schema.ts';
import { nameOf, type PathHit, type WalkGuide, walkOrder, walkTree } from './tree-walk.ts';

/**
 * How many nodes are passed over for each match before looking in order is given up. By then it has cost half as much
 * as sorting the matches.
 */
const PASSED_OVER = 10;

export function walk(
  source: ListSource,
  search: Search,
  scope: Scope,
): Generator<PathHit, undefined, undefined> {
  const { sort, view } = search.query;
  const { top, snapshot } = scope;
  const start = search.after === undefined ? [] : pathNames(String(search.after.key) as ByteString);
  const below = sort === 'path' ? start.slice(pathNames(top.path).length) : start;
  const { marks } = selectNodes(source, search, scope);
  const guide: WalkGuide | undefined =
    marks === undefined ? undefined : { marks, ways: source.names.waysTo(marks) };
  return walkTree(source.queries, snapshot.ordinal, top, view === 'flat', below, guide);
}

export function inOrderOfWalk(path: ByteString, hit: Hit, sort: FileQuery['sort'], number: number): InOrder {
  if (sort === 'name') return { key: nameOf(hit), tie: hit.node, order: nameOf(hit) };
  return { key: path, tie: number, order: walkOrder(path) };
}

/** Yields what may be in the list after the cursor. */
export function* inOrderOf(
  source: ListSource,
  search: Search,
  scope: Scope,
  sort: DatabaseSort,
): Generator<Hit, undefined, undefined> {
  const { queries } = source;
  const { ordinal } = scope.snapshot;
  for (const nodes of nodeBatches(source, search, scope, sort)) {
    for (const hit of queries.nodes(ordinal, nodes)) {
      // The root is in no directory, and so in no list.
      if (hit.directory !== 0) yield hit;
    }
  }
  return undefined;
}

function* nodeBatches(
  source: ListSource,
  search: Search,
  scope: Scope,
  sort: DatabaseSort,
): Generator<readonly number[], undefined, undefined> {
  const { view, type, limit: wanted } = search.query;
  const selection = selectNodes(source, search, scope);
  const first = startOf(search, sort);
  if (sort === 'name' && selection.nodes !== undefined) {
    // Asking for the names alone is half the work: many of these nodes may not be in this snapshot.
    const nodes = source.orders.named(selection.nodes, first);
    for (let at = 0, count = wanted + 1; at < nodes.length; at += count, count *= 2) {
      yield nodes.slice(at, at + count);
    }
    return undefined;
  }
  const fetch = prepareFetch(source, sort, selection, view);
  const { ordinal } = scope.snapshot;
  const request = { ordinal, type: type === undefined ? 0 : NODE_TYPE[type], top: scope.top.node };
  const next = (last: Ordered | undefined, limit: number): Ordered[] => {
    const [node, key] = last ?? first;
    return fetch({ ...request, nodes: '', key, node, limit });
  };
  for (const rows of batches(next, wanted + 1)) yield rows.map(([node]) => node);
  return undefined;
}

/** Prepares the cheapest way to fetch what is selected. */
function prepareFetch(
  { orders, limits }: ListSource,
  sort: DatabaseSort,
  { marks, nodes, isSmall }: Selection,
  view: FileQuery['view'],
): (request: OrderRequest) => Ordered[] {
  const { all, listed, below, inside } = orders[sort];
  if (isSmall) return (request) => (view === 'flat' ? below : inside).all(request, undefined);
  if (marks === undefined || nodes === undefined) return (request) => all.all(request, marks);
  const list = JSON.stringify(nodes);
  let isInOrder = nodes.length >= limits.soon;
  return (request) => {
    const rows = isInOrder ? all.upTo(nodes.length * PASSED_OVER, request, marks) : undefined;
    // All matches may be at the end of the order, so looking in order may have to be given up.
    isInOrder = rows !== undefined;
    return rows ?? listed.all({ ...request, nodes: list }, marks);
  };
}

/** Where the page begins. */
function startOf({ after, query: { type } }: Search, sort: DatabaseSort): Ordered {
  if (sort === 'name') return [after?.tie ?? 0, Buffer.from(String(after?.key ?? ''), 'latin1')];
  if (after !== undefined) return [after.tie, Number(after.key)];
  // Only files have a size of their own.
  return [TOP, sort === 'size' && type !== undefined && type !== 'file' ? 0 : TOP];
}

export function placeOfHit(hit: Hit, sort: DatabaseSort): InOrder {
  const key = sort === 'size' ? hit.own : sort === 'modified' ? hit.modified : nameOf(hit);
  return { key, tie: hit.node, order: key };
}

export function pathOfHit(places: Places, hit: Hit): ByteString {
  return joinBytes(places.pathOf(hit.directory), nameOf(hit));
}
