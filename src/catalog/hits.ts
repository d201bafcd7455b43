/** Entries of a snapshot as the catalog has them, in the orders that lists have. */
import type { CatalogDatabase } from './catalog-database.ts';
import { NODE_TYPE } from './schema.ts';

/** An entry at a moment. */
export interface Hit {
  readonly node: number;
  readonly directory: number;
  readonly name: Buffer;
  /** Ordinal with which this version begins. */
  readonly since: number;
  /** A number of `NODE_TYPE`. */
  readonly type: number;
  readonly size: number;
  /** Of a file its size, otherwise 0: what lists are sorted by. */
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

const AT_MOMENT = 'v.node = n.id AND v.since <= :ordinal AND v.until >= :ordinal';

export interface Moment {
  readonly ordinal: number;
}

/** Conditions that the database can check by itself. */
export interface Wanted {
  /** A number of `NODE_TYPE`; 0 for every type. */
  readonly type: number;
  /**
   * In small letters: a name without it in small or capital letters does not match; null when that cannot be told so. Only
   * of ASCII, since the database knows no other capital letters.
   */
  readonly literal: string | null;
  /** A character beyond ASCII whose small letter may be in the literal. */
  readonly or: string | null;
}

const WANTED = `(:type = 0 OR v.type = :type)
  AND (:literal IS NULL OR instr(lower(n.name), :literal) > 0 OR instr(lower(n.name), :or) > 0)`;

/** What the order of a list needs to know of an entry: node, directory, own size, modified. */
export type Candidate = readonly [node: number, directory: number, size: number, modified: number];

export type NamedCandidate = readonly [...Candidate, name: Buffer];

const CANDIDATE = 'n.id, n.directory, v.own, v.modified';

const BELOW = `WITH RECURSIVE d (id) AS (
    SELECT :top UNION ALL
    SELECT n.id FROM d CROSS JOIN node n ON n.directory = d.id
      CROSS JOIN version v ON ${AT_MOMENT} AND v.type = ${NODE_TYPE.directory}
  )
  SELECT :columns FROM d CROSS JOIN node n ON n.directory = d.id CROSS JOIN version v ON ${AT_MOMENT}
  WHERE ${WANTED}`;

/** Where a descending order begins: above every size and time. */
export const TOP = Number.MAX_SAFE_INTEGER;

/** The questions to the database that lists are made of. */
export function prepareHits(database: CatalogDatabase) {
  return {
    /** (ordinal twice, node) */
    one: database.prepare<[number, number, number], Hit>(
      `SELECT ${HIT} FROM node n JOIN version v ON ${AT} WHERE n.id = ?`,
    ),
    /** The node of a name in a directory, whether or not any snapshot has it. */
    nodeAt: database
      .prepare<[number, Buffer], number>('SELECT id FROM node WHERE directory = ? AND name = ?')
      .pluck(),
    /**
     * In a directory, in order of the names, but for those whose version another ordinal has too: (ordinal twice, the
     * other twice, directory, after the name, limit)
     */
    changedChildren: database.prepare<[number, number, number, number, number, Buffer, number], Hit>(
      `SELECT ${HIT} FROM node n CROSS JOIN version v ON ${AT} AND NOT (v.since <= ? AND v.until >= ?)
       WHERE n.directory = ? AND n.name > ? ORDER BY n.name LIMIT ?`,
    ),
    /** In a directory, in order of the names, those that meet the conditions and all directories. */
    wantedChildren: database.prepare<
      [Moment & Wanted & { directory: number; after: Buffer; limit: number }],
      Hit
    >(
      `SELECT ${HIT} FROM node n CROSS JOIN version v ON ${AT_MOMENT}
       WHERE n.directory = :directory AND n.name > :after
         AND (v.type = ${NODE_TYPE.directory} OR (${WANTED})) ORDER BY n.name LIMIT :limit`,
    ),
    /** Of a list of nodes, as JSON, those that are there. */
    nodes: database
      .prepare<[Moment & Wanted & { nodes: string }], NamedCandidate>(
        `SELECT ${CANDIDATE}, n.name FROM json_each(:nodes) j CROSS JOIN node n ON n.id = j.value
           CROSS JOIN version v ON ${AT_MOMENT} WHERE ${WANTED}`,
      )
      .raw(),
    /** All that lies below a directory, in no order. */
    below: database
      .prepare<[Moment & Wanted & { top: number }], Candidate>(BELOW.replace(':columns', CANDIDATE))
      .raw(),
    belowNamed: database
      .prepare<[Moment & Wanted & { top: number }], NamedCandidate>(
        BELOW.replace(':columns', `${CANDIDATE}, n.name`),
      )
      .raw(),
    /** All that lies in a directory, in no order. */
    inside: database
      .prepare<[Moment & Wanted & { top: number }], Candidate>(
        `SELECT ${CANDIDATE} FROM node n CROSS JOIN version v ON ${AT_MOMENT}
         WHERE n.directory = :top AND ${WANTED}`,
      )
      .raw(),
    /** All, by name, from behind `name` and `node` on. */
    byName: database
      .prepare<[Moment & Wanted & { name: Buffer; node: number; limit: number }], NamedCandidate>(
        `SELECT ${CANDIDATE}, n.name FROM node n CROSS JOIN version v ON ${AT_MOMENT}
         WHERE n.name >= :name AND (n.name, n.id) > (:name, :node) AND ${WANTED}
         ORDER BY n.name, n.id LIMIT :limit`,
      )
      .raw(),
    /** All, the largest first, from behind `key` and `node` on. */
    bySize: database
      .prepare<[Moment & Wanted & { key: number; node: number; limit: number }], Candidate>(
        `SELECT ${CANDIDATE} FROM version v INDEXED BY version_size CROSS JOIN node n ON n.id = v.node
         WHERE (v.own, v.node) < (:key, :node) AND v.since <= :ordinal AND v.until >= :ordinal AND ${WANTED}
         ORDER BY v.own DESC, v.node DESC LIMIT :limit`,
      )
      .raw(),
    /** All, the newest first, from behind `key` and `node` on. */
    byModified: database
      .prepare<[Moment & Wanted & { key: number; node: number; limit: number }], Candidate>(
        `SELECT ${CANDIDATE} FROM version v INDEXED BY version_modified CROSS JOIN node n ON n.id = v.node
         WHERE (v.modified, v.node) < (:key, :node) AND v.since <= :ordinal AND v.until >= :ordinal AND ${WANTED}
         ORDER BY v.modified DESC, v.node DESC LIMIT :limit`,
      )
      .raw(),
  };
}

export type HitQueries = ReturnType<typeof prepareHits>;

/** Rows fetched at first, and at most: a page needs few, a scan many. */
const FIRST = 64;
const MOST = 1_024;

/** One query after the other, each from where the last one ended. */
export function* inBatches<Row>(
  fetch: (last: Row | undefined, limit: number) => Row[],
  first = FIRST,
): Generator<Row, undefined, undefined> {
  let last: Row | undefined;
  for (let limit = first; ; limit = Math.max(limit, Math.min(limit * 2, MOST))) {
    const rows = fetch(last, limit);
    yield* rows;
    last = rows.at(-1);
    if (rows.length < limit) return undefined;
  }
}
