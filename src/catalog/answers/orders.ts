/** The orders of lists that the database makes. Those in order of the paths come from walking the tree. */
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import type { HitQueries, MarkedQuery } from './hits.ts';
import { NODE_TYPE } from '../tables/schema.ts';

/** Where a descending order begins: above every size and time. */
export const TOP = Number.MAX_SAFE_INTEGER;

export type DatabaseSort = 'name' | 'size' | 'modified';

/** From behind `key` and `node` on. */
export interface OrderRequest {
  readonly ordinal: number;
  /** A number of `NODE_TYPE`; 0 for every type. */
  readonly type: number;
  /** The name, size or time. */
  readonly key: Buffer | number;
  readonly node: number;
  readonly limit: number;
  /** The directory. */
  readonly top: number;
  /** JSON. */
  readonly nodes: string;
}

export type Ordered = readonly [node: number, key: Buffer | number];

const AT = 'v.since <= :ordinal AND v.until >= :ordinal AND (:type = 0 OR v.type = :type)';

const DIRECTORIES = `WITH RECURSIVE d (id) AS (
    SELECT :top UNION ALL
    SELECT n.id FROM d CROSS JOIN node n ON n.directory = d.id CROSS JOIN version v
      ON v.node = n.id AND v.since <= :ordinal AND v.until >= :ordinal AND v.type = ${NODE_TYPE.directory}
  )`;

/** What is in order: its key and how one is behind the cursor. Of a tie the node decides. */
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
    /** All that is marked, or all, through an index: the less of it is passed over, the faster. */
    all: prepared(allOf(sort)),
    /** A list of nodes, all of which are looked at. */
    listed: prepared(
      `${select} FROM json_each(:nodes) j ${node} CROSS JOIN version v ON v.node = j.value AND ${AT} WHERE true ${end}`,
    ),
    /** All below a directory, which is looked at. */
    below: prepared(
      `${DIRECTORIES} ${select} FROM d CROSS JOIN node n ON n.directory = d.id
       CROSS JOIN version v ON v.node = n.id AND ${AT} WHERE true ${end}`,
    ),
    /** All in a directory, which is looked at. */
    inside: prepared(
      `${select} FROM node n CROSS JOIN version v ON v.node = n.id AND ${AT} WHERE n.directory = :top ${end}`,
    ),
    /** The nodes of all in a directory, in order from its beginning: (ordinal twice, directory) */
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
  // The first of the two is in the index alone: what is not marked costs no look at the table.
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
    /** A list of nodes, in order of the names from behind one on, whether or not they are there at any moment. */
    named: (nodes: readonly number[], [node, key]: Ordered): number[] =>
      named.all({ nodes: JSON.stringify(nodes), key, node }),
    name: prepareOrder(database, marked, 'name'),
    size: prepareOrder(database, marked, 'size'),
    modified: prepareOrder(database, marked, 'modified'),
  };
}

export type Orders = ReturnType<typeof prepareOrders>;
