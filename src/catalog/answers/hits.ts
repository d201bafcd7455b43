/** Entries of a snapshot as the catalog has them, and the database queries that lists are made with. */
import { type ByteString, textOfBytes } from '../../base/byte-path.ts';
import type { FileItem } from '../../jobs/agent.ts';
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import { isMarked, type Marks } from '../tables/marks.ts';
import { NODE_TYPE } from '../tables/schema.ts';
import { type KnownSnapshot, shownPath, sourceText } from './known-snapshots.ts';

/** An entry in one snapshot. */
export interface Hit {
  readonly node: number;
  readonly directory: number;
  readonly name: Buffer;
  /** The ordinal with which this version begins. */
  readonly since: number;
  /** A number of `NODE_TYPE`. */
  readonly type: number;
  readonly size: number;
  /** The size of a file, otherwise 0: lists are sorted by this. */
  readonly own: number;
  readonly modified: number;
  readonly finer: number;
  readonly mode: number;
  readonly attributes: number;
  readonly content: number | null;
  readonly kind: number;
  readonly target: Buffer | null;
  readonly children: number | null;
  readonly entries: number | null;
}

const HIT = `n.id AS node, n.directory, n.name, v.since, v.type, v.size, v.own, v.modified, v.finer, v.mode, v.attributes,
  v.content, v.kind, v.target, v.children, v.entries`;
const AT = 'v.node = n.id AND v.since <= ? AND v.until >= ?';

export interface ChildrenRequest {
  readonly ordinal: number;
  readonly directory: number;
  readonly after: Buffer;
  readonly limit: number;
}

/** A query that passes over nodes that are not marked. */
export interface MarkedQuery<Request, Row> {
  /** @param marks undefined: all nodes */
  all(request: Request, marks: Marks | undefined): Row[];
  /** Undefined when it has looked at `nodes` nodes without finishing. */
  upTo(nodes: number, request: Request, marks: Marks): Row[] | undefined;
}

/** The queries that every list needs; see `prepareOrders` for the others. */
export function prepareHits(database: CatalogDatabase) {
  const marked = prepareMarked(database);
  const nodes = database.prepare<[string, number, number], Hit>(
    `SELECT ${HIT} FROM json_each(?) j CROSS JOIN node n ON n.id = j.value CROSS JOIN version v ON ${AT}`,
  );
  const children = database.prepare<[ChildrenRequest], Hit>(
    `SELECT ${HIT} FROM node n CROSS JOIN version v ON v.node = n.id AND v.since <= :ordinal AND v.until >= :ordinal
     WHERE n.directory = :directory AND n.name > :after AND marked(n.id) ORDER BY n.name LIMIT :limit`,
  );
  return {
    /** The entry of one node: (ordinal twice, node) */
    one: database.prepare<[number, number, number], Hit>(
      `SELECT ${HIT} FROM node n CROSS JOIN version v ON ${AT} WHERE n.id = ?`,
    ),
    /** The node of a name in a directory, whether or not any snapshot has it. */
    nodeAt: database
      .prepare<[number, Buffer], number>('SELECT id FROM node WHERE directory = ? AND name = ?')
      .pluck(),
    /**
     * The entries of a directory in order of their names, except those whose version another ordinal has, too: (ordinal
     * twice, the other twice, directory, after this name, limit)
     */
    changedChildren: database.prepare<[number, number, number, number, number, Buffer, number], Hit>(
      `SELECT ${HIT} FROM node n CROSS JOIN version v ON ${AT} AND NOT (v.since <= ? AND v.until >= ?)
       WHERE n.directory = ? AND n.name > ? ORDER BY n.name LIMIT ?`,
    ),
    /**
     * Those of the given nodes that the snapshot has, in the given order. One query for many nodes is ten times as fast
     * as one for each.
     */
    nodes: (ordinal: number, ids: readonly number[]): Hit[] =>
      nodes.all(JSON.stringify(ids), ordinal, ordinal),
    /** The entries of a directory in order of their names. */
    children: marked(children),
    /** The first and the last ordinal of each version of a node. */
    spans: database.prepare<[number], Pick<Hit, 'since'> & { readonly until: number }>(
      'SELECT since, until FROM version WHERE node = ?',
    ),
    marked,
  };
}

export type HitQueries = ReturnType<typeof prepareHits>;

interface AllRows<Request, Row> {
  all(request: Request): Row[];
}

/** Defines the SQL function `marked`, and returns a function that makes queries of statements that use it. */
function prepareMarked(database: CatalogDatabase) {
  const enough = new Error('enough nodes looked at');
  let current: Marks | undefined;
  let left = 0;
  database.function('marked', { directOnly: true }, (node: unknown) => {
    left -= 1;
    if (left < 0) throw enough;
    return current === undefined || isMarked(current, Number(node)) ? 1 : 0;
  });
  const select = (marks: Marks | undefined, nodes: number): void => {
    current = marks;
    left = nodes;
  };
  return function marked<Request, Row>(statement: AllRows<Request, Row>): MarkedQuery<Request, Row> {
    return {
      all: (request, marks) => {
        select(marks, Number.POSITIVE_INFINITY);
        return statement.all(request);
      },
      upTo: (nodes, request, marks) => {
        select(marks, nodes);
        try {
          return statement.all(request);
        } catch (error) {
          if (error === enough) return undefined;
          throw error;
        }
      },
    };
  };
}

/** Rows fetched by the first query, and at most: a page needs few, a scan many. */
const FIRST = 64;
const MOST = 1_024;

/** Yields the rows of consecutive queries, each of which starts after the last row of the previous one. */
export function* inBatches<Row>(
  fetch: (last: Row | undefined, limit: number) => Row[],
  first = FIRST,
): Generator<Row, undefined, undefined> {
  for (const rows of batches(fetch, first)) yield* rows;
  return undefined;
}

/** The same, as one list for each query. */
export function* batches<Row>(
  fetch: (last: Row | undefined, limit: number) => Row[],
  first: number,
): Generator<readonly Row[], undefined, undefined> {
  let last: Row | undefined;
  for (let limit = first; ; limit = Math.max(limit, Math.min(limit * 2, MOST))) {
    const rows = fetch(last, limit);
    yield rows;
    last = rows.at(-1);
    if (rows.length < limit) return undefined;
  }
}

/** The size of a directory is that of all files below it. */
export function fileItem(
  path: ByteString,
  hit: Omit<Hit, 'directory' | 'name'>,
  snapshot: KnownSnapshot,
): FileItem {
  const isDirectory = hit.type === NODE_TYPE.directory;
  return {
    ...shownPath(path),
    name: textOfBytes(path.slice(path.lastIndexOf('/') + 1) as ByteString),
    type: typeName(hit.type),
    size_bytes: hit.size,
    modified_at: hit.modified,
    mode: hit.mode,
    link_target: hit.target === null ? null : hit.target.toString('utf8'),
    children_count: isDirectory ? hit.children : null,
    snapshot_id: snapshot.id,
    backup_id: snapshot.jobId,
    source: sourceText(snapshot),
    stored_by: snapshot.storedBy,
    backed_up_at: snapshot.started,
  };
}

function typeName(type: number): FileItem['type'] {
  if (type === NODE_TYPE.file) return 'file';
  if (type === NODE_TYPE.directory) return 'directory';
  return type === NODE_TYPE.symlink ? 'symlink' : 'other';
}
