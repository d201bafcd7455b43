/**
 * Registers which snapshots there are: new ones are listed, and forgotten ones become invisible at once, with all that
 * only they had.
 */
import { pathNames, pathOf } from '../../base/byte-path.ts';
import { countedMs, isFull, storeKey } from '../../base/stored-by.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import { SNAPSHOT_STATE, SPAN, lastOrdinal } from '../tables/schema.ts';

/** A snapshot that has not been taken in yet. */
export interface PendingSnapshot {
  readonly snapshot: Snapshot;
  readonly ordinal: number;
  readonly lineage: number;
  /** The node of the lineage's root. */
  readonly root: number;
}

export interface Registration {
  /** Snapshots of one lineage are in the order of their ordinals. */
  readonly pending: readonly PendingSnapshot[];
  readonly forgotten: number;
}

interface KnownSnapshot {
  readonly ordinal: number;
  readonly id: string;
  readonly lineage: number;
  readonly state: number;
  readonly tree: Buffer;
  readonly started: number;
  readonly store: string;
  readonly rank: number;
  readonly replaces: number | null;
}

interface Lineage {
  readonly id: number;
  readonly root: number;
  readonly last: number;
}

/** @param live all snapshots of the repository in the order in which they were made, oldest first */
export function registerSnapshots(database: CatalogDatabase, live: readonly Snapshot[]): Registration {
  return database.transaction(() => {
    const liveIds = new Set(live.map(({ id }) => id));
    const known = database
      .prepare<[], KnownSnapshot>(
        'SELECT ordinal, id, lineage, state, tree, started, store, rank, replaces FROM snapshot',
      )
      .all();
    const gone = known.filter(({ id }) => !liveIds.has(id));
    const ordinals = new Map(known.map(({ id, ordinal }) => [id, ordinal]));
    let forgotten = gone.filter(({ replaces }) => replaces === null).length;
    for (const snapshot of live) {
      if (ordinals.has(snapshot.id)) continue;
      const lineage = lineageOf(database, snapshot);
      const at = gone.findIndex((one) => isRewritten(one, lineage, snapshot));
      const [old] = at === -1 ? [] : gone.splice(at, 1);
      if (old === undefined) {
        list(database, snapshot, lineage.id, nextOrdinal(database, lineage));
      } else {
        takeOver(database, old.ordinal, snapshot);
        forgotten -= 1;
      }
    }
    for (const one of gone) forget(database, one);
    rank(database, live, new Map(known.map((one) => [one.id, one])));
    note(database, 'forgotten', countOf(database, 'forgotten') + forgotten);
    return { pending: pendingOf(database, live), forgotten };
  })();
}

function rank(
  database: CatalogDatabase,
  live: readonly Snapshot[],
  known: ReadonlyMap<string, KnownSnapshot>,
): void {
  const update = database.prepare<[number, string, string]>(
    'UPDATE snapshot SET rank = ?, store = ? WHERE id = ?',
  );
  for (const [i, { id, storedBy }] of live.entries()) {
    // Who stored a snapshot may change, too: a removed key loses its label.
    const store = JSON.stringify(storedBy);
    const before = known.get(id);
    if (before?.rank !== i || before.store !== store) update.run(i, store, id);
  }
}

/** Whether a snapshot is another one with other tags or another pin, which make a new object with the same content. */
function isRewritten(old: KnownSnapshot, lineage: Lineage, snapshot: Snapshot): boolean {
  const { record } = snapshot;
  return (
    old.lineage === lineage.id &&
    old.state === SNAPSHOT_STATE.complete &&
    record.salt === undefined &&
    old.tree.equals(record.root) &&
    old.started === startOf(snapshot)
  );
}

function takeOver(database: CatalogDatabase, ordinal: number, { id, record }: Snapshot): void {
  database
    .prepare<[string, string, number, number]>(
      'UPDATE snapshot SET id = ?, tags = ?, pinned = ? WHERE ordinal = ?',
    )
    .run(id, JSON.stringify(record.tags), record.pinned ? 1 : 0, ordinal);
}

function forget(database: CatalogDatabase, { ordinal, lineage, state }: KnownSnapshot): void {
  if (state === SNAPSHOT_STATE.begun) {
    // The next snapshot could not be compared with half a snapshot.
    database.prepare('DELETE FROM version WHERE since = ?').run(ordinal);
    database.prepare('UPDATE version SET until = ? WHERE until = ?').run(lastOrdinal(lineage), ordinal - 1);
  }
  database.prepare('DELETE FROM snapshot WHERE ordinal = ?').run(ordinal);
  database.prepare('DELETE FROM gap WHERE ordinal = ?').run(ordinal);
}

function lineageOf(database: CatalogDatabase, { record, storedBy }: Snapshot): Lineage {
  const key = JSON.stringify([storeKey(storedBy), record.host, record.plain, ...[...record.paths].sort()]);
  const found = database
    .prepare<[string], Lineage>('SELECT id, root, last FROM lineage WHERE key = ?')
    .get(key);
  if (found !== undefined) return found;
  const root = Number(
    database.prepare<[Buffer]>('INSERT INTO node (directory, name) VALUES (0, ?)').run(Buffer.from(key))
      .lastInsertRowid,
  );
  const id = Number(
    database
      .prepare<[string, number]>('INSERT INTO lineage (key, root, last) VALUES (?, ?, 0)')
      .run(key, root).lastInsertRowid,
  );
  return { id, root, last: 0 };
}

export function nextOrdinal(database: CatalogDatabase, { id }: Pick<Lineage, 'id'>): number {
  const [last] = database
    .prepare<[number], number>('UPDATE lineage SET last = last + 1 WHERE id = ? RETURNING last')
    .pluck()
    .all(id);
  return id * SPAN + Number(last);
}

function list(database: CatalogDatabase, snapshot: Snapshot, lineage: number, ordinal: number): void {
  const { id, record, storedBy, storedMs } = snapshot;
  database
    .prepare(
      'INSERT INTO snapshot VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, NULL, 0, 0)',
    )
    .run(
      ordinal,
      id,
      lineage,
      SNAPSHOT_STATE.listed,
      record.root,
      record.host,
      JSON.stringify(record.paths),
      JSON.stringify((record.named ?? []).flatMap(({ name, path }) => [name, path])),
      record.plain ? 1 : 0,
      record.salt === undefined ? 0 : 1,
      startOf(snapshot),
      JSON.stringify(storedBy),
      isFull(storedBy) ? null : record.startedMs,
      storedMs ?? null,
      JSON.stringify(record.tags),
      record.pinned ? 1 : 0,
      record.status === 'partial' ? 1 : 0,
      record.counts.files,
      record.counts.bytes,
    );
  noteGaps(database, ordinal, record);
}

/**
 * When a snapshot is taken to have been made. For a write-only key the clock of the storage decides, as the key may
 * claim any time.
 */
function startOf({ record: { startedMs }, storedBy, storedMs }: Snapshot): number {
  return countedMs(storedBy, { startedMs, storedMs });
}

/** Replaces the gaps of a snapshot by what the backup itself could not read. */
export function noteGaps(database: CatalogDatabase, ordinal: number, record: Snapshot['record']): void {
  database.prepare('DELETE FROM gap WHERE ordinal = ?').run(ordinal);
  const gap = database.prepare<[number, Buffer]>('INSERT OR IGNORE INTO gap VALUES (?, ?, 0, NULL)');
  for (const { path } of record.errors) gap.run(ordinal, Buffer.from(pathOf(pathNames(path)), 'latin1'));
  // Further paths could not be read and are unknown: the root stands for them.
  if (record.errorsMore > 0) gap.run(ordinal, Buffer.from('/'));
}

/** Snapshots that are listed but not completely taken in. */
export function pendingOf(database: CatalogDatabase, live: readonly Snapshot[]): readonly PendingSnapshot[] {
  const byId = new Map(live.map((snapshot) => [snapshot.id, snapshot]));
  return database
    .prepare<[], { id: string; ordinal: number; lineage: number; root: number }>(
      `SELECT s.id, s.ordinal, s.lineage, l.root FROM snapshot s JOIN lineage l ON l.id = s.lineage
       WHERE s.state <> ${SNAPSHOT_STATE.complete} ORDER BY s.ordinal`,
    )
    .all()
    .flatMap(({ id, ordinal, lineage, root }) => {
      const snapshot = byId.get(id);
      return snapshot === undefined ? [] : [{ snapshot, ordinal, lineage, root }];
    });
}

/** A count in `meta`; 0 when it is not there. */
export function countOf(database: CatalogDatabase, key: string): number {
  const value = database.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck().get(key);
  return Number(value ?? 0);
}

export function note(database: CatalogDatabase, key: string, value: number): void {
  database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(key, String(value));
}
