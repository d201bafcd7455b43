/** Walks a snapshot in order of its paths, name by name, with each directory before what is in it. */
import { joinBytes, type ByteString } from '../../base/byte-path.ts';
import { inBatches, type Hit, type HitQueries } from './hits.ts';
import { inEither, isMarked, type Marks } from '../tables/marks.ts';
import { NODE_TYPE } from '../tables/schema.ts';

export interface PathHit {
  readonly path: ByteString;
  readonly hit: Hit;
}

/** Limits a walk to a part of the tree. */
export interface WalkGuide {
  /** Entries to return. */
  readonly marks: Marks;
  /** Directories to enter: those that lead to a marked entry. */
  readonly ways: Marks;
}

interface Level {
  readonly path: ByteString;
  readonly hits: Generator<Hit, undefined, undefined>;
}

/**
 * Yields what is in the directory `top` in the snapshot with the given ordinal.
 * @param recursive whether to go to all depths
 * @param guide undefined: everywhere
 * @param start nested names from `top` down. The walk begins with the entry that the last one names, or after its place
 * if it is not there
 */
export function* walkTree(
  queries: HitQueries,
  ordinal: number,
  top: { readonly node: number; readonly path: ByteString },
  recursive: boolean,
  start: readonly ByteString[],
  guide: WalkGuide | undefined,
): Generator<PathHit, undefined, undefined> {
  const open: Level[] = [];
  const marks = guide === undefined ? undefined : recursive ? inEither(guide.marks, guide.ways) : guide.marks;
  const enter = (node: number, path: ByteString, after: ByteString | undefined): void => {
    open.push({ path, hits: childrenOf(queries, ordinal, node, after, marks) });
  };
  if (start.length === 0) enter(top.node, top.path, undefined);
  else yield* resume(queries, ordinal, top, recursive, start, enter);
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const hit = level.hits.next().value;
    if (hit === undefined) {
      open.pop();
      continue;
    }
    const path = joinBytes(level.path, nameOf(hit));
    yield { path, hit };
    if (!recursive || hit.type !== NODE_TYPE.directory) continue;
    if (guide === undefined || isMarked(guide.ways, hit.node)) enter(hit.node, path, undefined);
  }
  return undefined;
}

/** Opens the directories on the way to where the walk continues, as far as they exist. */
function* resume(
  queries: HitQueries,
  ordinal: number,
  top: { readonly node: number; readonly path: ByteString },
  recursive: boolean,
  names: readonly ByteString[],
  enter: (node: number, path: ByteString, after: ByteString | undefined) => void,
): Generator<PathHit, undefined, undefined> {
  let { node, path } = top;
  for (const [depth, name] of names.entries()) {
    enter(node, path, name);
    if (!recursive && depth > 0) return undefined;
    const hit = childNamed(queries, ordinal, node, name);
    if (hit === undefined) return undefined;
    path = joinBytes(path, name);
    const isLast = depth === names.length - 1;
    if (isLast) yield { path, hit };
    if (hit.type !== NODE_TYPE.directory) return undefined;
    if (isLast && recursive) enter(hit.node, path, undefined);
    ({ node } = hit);
  }
  return undefined;
}

export function childNamed(
  queries: HitQueries,
  ordinal: number,
  directory: number,
  name: ByteString,
): Hit | undefined {
  const id = queries.nodeAt.get(directory, Buffer.from(name, 'latin1'));
  return id === undefined ? undefined : queries.one.get(ordinal, ordinal, id);
}

function childrenOf(
  queries: HitQueries,
  ordinal: number,
  directory: number,
  after: ByteString | undefined,
  marks: Marks | undefined,
): Generator<Hit, undefined, undefined> {
  const first = Buffer.from(after ?? '', 'latin1');
  return inBatches((last, limit) =>
    queries.children.all({ ordinal, directory, after: last?.name ?? first, limit }, marks),
  );
}

export function nameOf({ name }: Pick<Hit, 'name'>): ByteString {
  return name.toString('latin1') as ByteString;
}

/** Text that sorts in the order of a walk: `/a/b` before `/a.b`. */
export function walkOrder(path: ByteString): string {
  return path.replaceAll('/', '\0');
}
