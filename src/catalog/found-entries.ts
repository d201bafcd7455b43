/** The entries that may be in a list, found in the way that is cheapest for it. */
import { joinBytes, type ByteString } from '../base/byte-path.ts';
import { pathNames } from '../browse/locate.ts';
import type { FileQuery } from '../jobs/agent.ts';
import { TOP, inBatches, type Candidate, type Hit, type NamedCandidate } from './hits.ts';
import type { InOrder } from './list-order.ts';
import type { ListSource, Scope, Search } from './list-search.ts';
import type { Places } from './places.ts';
import { nameOf, walkOrder, walkTree, type PathHit } from './tree-walk.ts';

/** Whether a list comes in its order by walking the tree. */
export function isWalk({ sort, view }: FileQuery): boolean {
  return sort === 'path' || (sort === 'name' && view === 'tree');
}

export function walk(
  { queries }: ListSource,
  { after, query: { sort, view }, wanted }: Search,
  { snapshot: { ordinal }, top }: Scope,
): Generator<PathHit, undefined, undefined> {
  const start = after === undefined ? [] : pathNames(String(after.key) as ByteString);
  const below = sort === 'path' ? start.slice(pathNames(top.path).length) : start;
  return walkTree(queries, ordinal, top, view === 'flat', below, wanted);
}

export function inOrderOfWalk(path: ByteString, hit: Hit, sort: FileQuery['sort'], number: number): InOrder {
  if (sort === 'name') return { key: nameOf(hit), tie: hit.node, order: nameOf(hit) };
  return { key: path, tie: number, order: walkOrder(path) };
}

/** An entry that may be in the list, and its place there. */
export interface Found extends InOrder {
  readonly node: number;
}

/** All that may match, when it is not much; undefined when it is, or comes in the right order anyhow. */
export function gather(
  source: ListSource,
  { query, nodes, wanted }: Search,
  scope: Scope,
  number: number,
): Found[] | undefined {
  const { queries, places, gathered } = source;
  const { sort, view } = query;
  const { ordinal } = scope.snapshot;
  if (scope.entries <= gathered.below) {
    if (isWalk(query)) return undefined;
    const asked = { ...wanted, ordinal, top: scope.top.node };
    if (sort === 'name') {
      return queries.belowNamed
        .all(asked)
        .map(([node, , size, modified, name]) => foundAs(node, size, modified, nameOf({ name }), sort));
    }
    const all = view === 'flat' ? queries.below : queries.inside;
    return all.all(asked).map(([node, , size, modified]) => foundAs(node, size, modified, NO_NAME, sort));
  }
  if (nodes === undefined) return undefined;
  const found: Found[] = [];
  for (const [node, directory, size, modified, name] of queries.nodes.all({
    ...wanted,
    ordinal,
    nodes: JSON.stringify(nodes),
  })) {
    if (!isInScope(places, directory, scope.top, view)) continue;
    const text = nameOf({ name });
    if (sort === 'path') found.push({ node, key: '', tie: number, order: places.orderOf(directory, text) });
    else found.push(foundAs(node, size, modified, text, sort));
  }
  return found;
}

const NO_NAME = '' as ByteString;

function foundAs(
  node: number,
  size: number,
  modified: number,
  name: ByteString,
  sort: FileQuery['sort'],
): Found {
  const key = sort === 'size' ? size : sort === 'modified' ? modified : name;
  return { node, key, tie: node, order: key };
}

function isInScope(places: Places, directory: number, top: Scope['top'], view: FileQuery['view']): boolean {
  // The root itself lies in no directory.
  if (directory === 0) return false;
  if (view === 'tree') return directory === top.node;
  // A version that the snapshot has lies below the root of its lineage.
  return top.path === '/' || places.isWithin(directory, top.node);
}

export function pathOfHit(places: Places, hit: Hit): ByteString {
  return joinBytes(places.pathOf(hit.directory), nameOf(hit));
}

/** What may match in the scope, from behind the cursor on. */
export function* inIndexOrder(
  { queries, places }: ListSource,
  { after, query, wanted }: Search,
  { snapshot: { ordinal }, top }: Scope,
): Generator<Found, undefined, undefined> {
  const { sort, view, limit: wantedItems } = query;
  const moment = { ...wanted, ordinal };
  if (sort === 'name') {
    const first = Buffer.from(String(after?.key ?? ''), 'latin1');
    const named = inBatches<NamedCandidate>((last, limit) => {
      const from = { name: last?.[4] ?? first, node: last?.[0] ?? after?.tie ?? 0 };
      return queries.byName.all({ ...moment, ...from, limit });
    }, wantedItems + 1);
    for (const [node, directory, size, modified, name] of named) {
      if (isInScope(places, directory, top, view))
        yield foundAs(node, size, modified, nameOf({ name }), sort);
    }
    return undefined;
  }
  const [key, tie] = after === undefined ? [TOP, TOP] : [Number(after.key), after.tie];
  const sized = inBatches<Candidate>((last, limit) => {
    const node = last?.[0] ?? tie;
    return sort === 'size'
      ? queries.bySize.all({ ...moment, key: last?.[2] ?? key, node, limit })
      : queries.byModified.all({ ...moment, key: last?.[3] ?? key, node, limit });
  }, wantedItems + 1);
  for (const [node, directory, size, modified] of sized) {
    if (isInScope(places, directory, top, view)) yield foundAs(node, size, modified, NO_NAME, sort);
  }
  return undefined;
}
