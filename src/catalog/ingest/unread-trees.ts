/**
 * Takes in again snapshots that could not be read completely, once they can be: the storage may have failed for a
 * moment, and a repair or a backup may have repaired damage.
 *
 * Before that, a bounded number of the unreadable trees is tried, so that permanent damage costs little. They are tried
 * when the index of the repository has changed, and otherwise at most once an hour. If a snapshot was taken in again
 * and is still not complete, the next attempt is delayed longer and longer.
 */
import { createHash } from 'node:crypto';
import { isDamage, type SnapshotTrees } from '../../browse/snapshot-trees.ts';
import { listNamed } from '../../repository/objects/listing.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import { nextOrdinal } from './register.ts';
import { SNAPSHOT_STATE } from '../tables/schema.ts';

const HOUR_MS = 3_600_000;
const LONGEST_WAIT_MS = 30 * 24 * HOUR_MS;
/** Trees that are tried in vain in one run. The next run tries those that follow. */
const TRIED = 200;
/** The key in `meta` for when trees were tried last, with which index, and how far that got. */
const LOOKED = 'looked';

interface Lacking {
  readonly ordinal: number;
  readonly id: string;
  readonly lineage: number;
  /** How often the snapshot was taken in again. */
  readonly again: number;
  /** When that last happened, in milliseconds since 1970. */
  readonly begun: number;
}

interface Looked {
  readonly atMs: number;
  readonly index: string;
  /** The last tree that was tried, in hexadecimal digits; empty when all were tried. */
  readonly last: string;
}

/**
 * Lists snapshots again of which something has become readable, so that `pendingOf` includes them. They stay visible as
 * they were until they are taken in.
 * @throws {DestinationError} {RepositoryError} when the storage fails in a way that says nothing about what is stored
 */
export async function listUnreadAgain(
  database: CatalogDatabase,
  repository: Repository,
  trees: Pick<SnapshotTrees, 'reader'>,
  live: readonly Snapshot[],
  signal: AbortSignal,
): Promise<void> {
  const nowMs = repository.clock.now();
  const due = lackingIn(database).filter((one) => isDue(one, nowMs));
  if (due.length === 0) return;
  const looked = readLooked(database);
  const index = await indexName(repository, signal);
  const isRecent = nowMs >= looked.atMs && nowMs - looked.atMs < HOUR_MS;
  if (isRecent && index === looked.index) return;
  const { readable, last } = await lookAgain(database, trees, { due, live, behind: looked.last }, signal);
  database.transaction(() => {
    for (const one of due) if (readable.has(one.ordinal)) listOnceMore(database, one, nowMs);
    const now: Looked = { atMs: nowMs, index, last };
    database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(LOOKED, JSON.stringify(now));
  })();
}

/** The number of snapshots in the catalog that could not be read completely. */
export function countLacking(database: CatalogDatabase): number {
  const count = database.prepare<[], number>(
    'SELECT count(*) FROM snapshot WHERE unreadable > 0 AND replaces IS NULL',
  );
  return Number(count.pluck().get());
}

/** The incomplete snapshots in order of their ordinals, except those that are being taken in again. */
function lackingIn(database: CatalogDatabase): readonly Lacking[] {
  return database
    .prepare<[], Lacking>(
      `SELECT s.ordinal, s.id, s.lineage, s.again, s.begun FROM snapshot s
       WHERE s.unreadable > 0 AND s.replaces IS NULL AND s.state = ${SNAPSHOT_STATE.complete}
         AND NOT EXISTS (SELECT 1 FROM snapshot a WHERE a.replaces = s.ordinal)
       ORDER BY s.ordinal`,
    )
    .all();
}

/** Whether a snapshot may be tried again. A time in the future was noted under a wrong clock, and is ignored. */
function isDue({ again, begun }: Lacking, nowMs: number): boolean {
  if (again === 0 || begun > nowMs) return true;
  return nowMs - begun >= Math.min(LONGEST_WAIT_MS, HOUR_MS * 2 ** (again - 1));
}

/** The ordinals of snapshots of which something has become readable, and where the next look continues. */
async function lookAgain(
  database: CatalogDatabase,
  trees: Pick<SnapshotTrees, 'reader'>,
  {
    due,
    live,
    behind,
  }: { readonly due: readonly Lacking[]; readonly live: readonly Snapshot[]; readonly behind: string },
  signal: AbortSignal,
): Promise<{ readonly readable: ReadonlySet<number>; readonly last: string }> {
  const snapshots = new Map(live.map((snapshot) => [snapshot.id, snapshot]));
  const wanted = new Map(due.map(({ ordinal, id }) => [ordinal, snapshots.get(id)]));
  const of = database.prepare<[Buffer], number>('SELECT ordinal FROM gap WHERE tree = ?').pluck();
  const readable = new Set<number>();
  let inVain = 0;
  let last = '';
  for (const tree of unreadFrom(database, Buffer.from(behind, 'hex'))) {
    signal.throwIfAborted();
    const ordinals = of.all(tree).filter((ordinal) => wanted.has(ordinal) && !readable.has(ordinal));
    const snapshot = ordinals.map((ordinal) => wanted.get(ordinal)).find((one) => one !== undefined);
    if (snapshot === undefined) continue;
    if (await canRead(trees, snapshot, tree, signal)) for (const ordinal of ordinals) readable.add(ordinal);
    else inVain += 1;
    if (readable.size === due.length) break;
    if (inVain < TRIED) continue;
    last = tree.toString('hex');
    break;
  }
  return { readable, last };
}

/** Yields each unread tree once: those after the given one, and then those up to it. */
function* unreadFrom(database: CatalogDatabase, behind: Buffer): Generator<Buffer, undefined, undefined> {
  const next = database
    .prepare<[Buffer], Buffer>('SELECT tree FROM gap WHERE tree > ? ORDER BY tree LIMIT 1')
    .pluck();
  for (let tree = next.get(behind); tree !== undefined; tree = next.get(tree)) yield tree;
  if (behind.length === 0) return undefined;
  for (let tree = next.get(Buffer.alloc(0)); tree !== undefined; tree = next.get(tree)) {
    if (Buffer.compare(tree, behind) > 0) break;
    yield tree;
  }
  return undefined;
}

async function canRead(
  trees: Pick<SnapshotTrees, 'reader'>,
  snapshot: Snapshot,
  tree: Buffer,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await trees.reader(snapshot).chunk(tree, signal);
    return true;
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

/** Lists a snapshot again at the end of its lineage, where it is compared with the last one. */
function listOnceMore(database: CatalogDatabase, { ordinal, lineage, again }: Lacking, nowMs: number): void {
  const next = nextOrdinal(database, { id: lineage });
  database
    .prepare<[number, number, number, number]>(
      `INSERT INTO snapshot
       SELECT ?, id, lineage, ${SNAPSHOT_STATE.listed}, 0, tree, host, paths, named, plain, salted, started, store, said, stored,
         rank, tags, pinned, partial, files, bytes, ordinal, ?, ? FROM snapshot WHERE ordinal = ?`,
    )
    .run(next, again + 1, nowMs, ordinal);
}

function readLooked(database: CatalogDatabase): Looked {
  const text = database.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck().get(LOOKED);
  const never: Looked = { atMs: 0, index: '', last: '' };
  if (text === undefined) return never;
  try {
    const { atMs, index, last } = JSON.parse(text) as Partial<Looked>;
    return typeof atMs === 'number' && typeof index === 'string' && typeof last === 'string'
      ? { atMs, index, last }
      : never;
  } catch {
    return never;
  }
}

/** A digest of the index objects, which changes whenever a backup, a prune or a repair changes what is stored. */
async function indexName(repository: Repository, signal: AbortSignal): Promise<string> {
  const names = [...(await listNamed(repository.destination, 'index/', signal)).keys()].sort();
  return createHash('sha256').update(names.join('\n')).digest('hex');
}
