/** Queries for the list orders that the database makes. Lists in order of the paths come from walking the tree. */
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import type { HitQueries, MarkedQuery } from './hits.ts';
import { NODE_TYPE } from '../tables/schema.ts';

/** Where a descending order begins: above every size and time. */
export const TOP = Number.MAX_SAFE_INTEGER;

export type DatabaseSort = 'name' | 'size' | 'modified';

/** Asks for entries after `key` and `node`. */
export interface OrderRequest {
  readonly ordinal: number;
  /** A number of `NODE_TYPE`; 0 for every type. */
  readonly type: number;
  /** The name, size or time. */
  readonly key: Buffer | number;
  readonly node: number;
  readonly limit: number;
  /** The node of the directory. */
  readonly top: number;
  /** A JSON list of nodes. */
  readonly nodes: string;
}

export type Ordered = readonly [node: number, key: Buffer | number];

const AT = 'v.since <= :ordinal AND v.until >= :ordinal AND (:type = 0 OR v.type = :type)';

const DIRECTORIES = `WITH RECURSIVE d (id) AS (
    SELECT :top UNION ALL
    SELECT n.id FROM d CROSS JOIN node n ON n.directory = d.id CROSS JOIN version v
      ON v.node = n.id AND v.since <= :ordinal AND v.until >= :ordinal AND v.type = ${NODE_TYPE.directory}
  )`;

/** For each order, its key, the condition for entries after the cursor, and the sort terms. Ties are broken by the node. */
const ORDER = {
  name: { key: 'n.name', behind: '(n.name, n.id) > (:key, :node)', order: 'n.name, n.id' },
  size: { key: 'v.own', behind: '(v.own, v.node) < (:key, :node)', order: 'v.own DESC, v.node DESC' },
  modified: {
    key: 'v.modified',
    behind: '(v.modified, v.node) < (:key, :node)',
    order: 'v.modified DESC, v.node DESC',
  },
} as const;

function prepareOrder(database: CatalogDatabase, marked: HitQueries['marked'], sort: DatabaseSort) {
  const { key, behind, order } = ORDER[sort];
  const select = `SELECT v.node, ${key}`;
  const node = sort === 'name' ? 'CROSS JOIN node n ON n.id = j.value' : '';
  const end = `AND ${behind} ORDER BY ${order} LIMIT :limit`;
  const prepared = (source: string): MarkedQuery<OrderRequest, Ordered> =>
    marked(database.prepare<[OrderRequest], Ordered>(source).raw());
  return {
    /** All marked entries, or all, by way of an index: the fewer entries it has to pass over, the faster. */
    all: prepared(allOf(sort)),
    /** Looks at each node of a list. */
    listed: prepared(
      `${select} FROM json_each(:nodes) j ${node} CROSS JOIN version v ON v.node = j.value AND ${AT} WHERE true ${end}`,
    ),
    /** Looks at everything below a directory. */
    below: prepared(
      `${DIRECTORIES} ${select} FROM d CROSS JOIN node n ON n.directory = d.id
       CROSS JOIN version v ON v.node = n.id AND ${AT} WHERE true ${end}`,
    ),
    /** Looks at everything directly in a directory. */
    inside: prepared(
      `${select} FROM node n CROSS JOIN version v ON v.node = n.id AND ${AT} WHERE n.directory = :top ${end}`,
    ),
    /** All nodes directly in a directory, in order from the beginning: (ordinal twice, directory) */
    nodesInside: database
      .prepare<[number, number, number], number>(
        `SELECT v.node FROM node n CROSS JOIN version v ON v.node = n.id AND v.since <= ? AND v.until >= ?
         WHERE n.directory = ? ORDER BY ${order}`,
      )
      .pluck(),
  };
}

function allOf(sort: DatabaseSort): string {
  if (sort === 'name') {
    return `SELECT n.id, n.name FROM node n INDEXED BY node_name CROSS JOIN version v ON v.node = n.id AND ${AT}
      WHERE n.name >= :key AND (n.name, n.id) > (:key, :node) AND marked(n.id) ORDER BY n.name, n.id LIMIT :limit`;
  }
  const column = sort === 'size' ? 'own' : 'modified';
  // `i` is read from the index alone, so entries that are not marked cost no access to the table.
  return `SELECT i.node, i.${column} FROM version i INDEXED BY version_${sort}
      CROSS JOIN version v ON v.node = i.node AND v.since = i.since AND ${AT}
    WHERE (i.${column}, i.node) < (:key, :node) AND i.since <= :ordinal AND marked(i.node)
    ORDER BY i.${column} DESC, i.node DESC LIMIT :limit`;
}

export function prepareOrders(database: CatalogDatabase, { marked }: HitQueries) {
  const named = database
    .prepare<[Pick<OrderRequest, 'nodes' | 'key' | 'node'>], number>(
      `SELECT n.id FROM json_each(:nodes) j CROSS JOIN node n ON n.id = j.value
       WHERE (n.name, n.id) > (:key, :node) ORDER BY n.name, n.id`,
    )
    .pluck();
  return {
    /** The nodes of a list in order of their names, after a given one, whether or not a snapshot has them. */
    named: (nodes: readonly number[], [node, key]: Ordered): number[] =>
      named.all({ nodes: JSON.stringify(nodes), key, node }),
    name: prepareOrder(database, marked, 'name'),
    size: prepareOrder(database, marked, 'size'),
    modified: prepareOrder(database, marked, 'modified'),
  };
}

export type Orders = ReturnType<typeof prepareOrders>;
