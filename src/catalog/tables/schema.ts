/**
 * The tables of the catalog.
 *
 * A `node` is a path that some snapshot of a lineage has, or had: the node of its directory, and its name. A `version`
 * is what the path was in a run of consecutive snapshots. A path that did not change is one row, however many snapshots
 * have it.
 *
 * Snapshots of the same host and the same sources that the same keys stored, either all plain or all encrypted, form a
 * lineage. The n-th one taken in has the ordinal `lineage * SPAN + n`, and a version that still applies ends at the
 * last ordinal of its lineage. So the ranges of different lineages never overlap, and `since <= ordinal AND until >=
 * ordinal` finds what a snapshot holds.
 *
 * A snapshot that could not be read completely is taken in again, as another one at the end of its lineage. The
 * `replaces` of that row has the ordinal of the snapshot that is seen until then. In `gap` are the directories that
 * could not be read: by the backup, or, with `damaged`, by the catalog, with the part of the tree at which it failed.
 *
 * `started` is when a snapshot is taken to have been made. For a write-only key that is `stored`, the time when the
 * storage got it, and `said` is the start that the snapshot itself claims; `store` is who stored it, as JSON.
 *
 * `version_ended` has the versions that apply no more, for listing what has disappeared. Its 1048576 is `SPAN`.
 *
 * A row of `names` holds the names of some thousand nodes, for searching: see `name-block.ts`.
 */

/** Incremented with every change of what is stored. A file of another version is deleted and built anew. */
export const CATALOG_VERSION = 7;

/** Snapshots that a lineage can have. */
export const SPAN = 1_048_576;

/** The ordinal at which versions end that still apply. */
export function lastOrdinal(lineage: number): number {
  return lineage * SPAN + SPAN - 1;
}

/** Values of `version.type`. Kinds that the agent does not distinguish share a number. */
export const NODE_TYPE = { file: 1, directory: 2, symlink: 3, other: 4 } as const;

/** Values of `snapshot.state`. Only complete snapshots are visible. */
export const SNAPSHOT_STATE = { listed: 0, begun: 1, complete: 2 } as const;

export const SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE lineage (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  root INTEGER NOT NULL,
  last INTEGER NOT NULL
);

CREATE TABLE snapshot (
  ordinal INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  lineage INTEGER NOT NULL,
  state INTEGER NOT NULL,
  unreadable INTEGER NOT NULL,
  tree BLOB NOT NULL,
  host TEXT NOT NULL,
  paths TEXT NOT NULL,
  named TEXT NOT NULL,
  plain INTEGER NOT NULL,
  salted INTEGER NOT NULL,
  started INTEGER NOT NULL,
  store TEXT NOT NULL,
  said INTEGER,
  stored INTEGER,
  rank INTEGER NOT NULL,
  tags TEXT NOT NULL,
  pinned INTEGER NOT NULL,
  partial INTEGER NOT NULL,
  files INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  replaces INTEGER,
  again INTEGER NOT NULL,
  begun INTEGER NOT NULL
);
CREATE UNIQUE INDEX snapshot_id ON snapshot (id) WHERE replaces IS NULL;
CREATE UNIQUE INDEX snapshot_replaces ON snapshot (replaces) WHERE replaces IS NOT NULL;

CREATE TABLE gap (
  ordinal INTEGER NOT NULL,
  path BLOB NOT NULL,
  damaged INTEGER NOT NULL,
  tree BLOB,
  PRIMARY KEY (ordinal, path)
) WITHOUT ROWID;
CREATE INDEX gap_path ON gap (path);
CREATE INDEX gap_tree ON gap (tree) WHERE tree IS NOT NULL;

CREATE TABLE node (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  directory INTEGER NOT NULL,
  name BLOB NOT NULL
);
CREATE UNIQUE INDEX node_place ON node (directory, name);
CREATE INDEX node_name ON node (name);

CREATE TABLE names (
  first INTEGER PRIMARY KEY,
  last INTEGER NOT NULL,
  count INTEGER NOT NULL,
  block BLOB NOT NULL
);

CREATE TABLE version (
  node INTEGER NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,
  type INTEGER NOT NULL,
  size INTEGER NOT NULL,
  own INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  finer INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  attributes INTEGER NOT NULL,
  content INTEGER,
  kind INTEGER NOT NULL,
  target BLOB,
  children INTEGER,
  entries INTEGER,
  PRIMARY KEY (node, since)
) WITHOUT ROWID;
CREATE INDEX version_size ON version (own, node);
CREATE INDEX version_modified ON version (modified, node);
CREATE INDEX version_ended ON version (until, node) WHERE (until + 1) % 1048576 <> 0;
CREATE INDEX version_type ON version (type, node) WHERE type > 1;
`;
