/** Finds out what one path was in every snapshot. */
import { type ByteString, pathNames, pathOf } from '../../base/byte-path.ts';
import { RequestError } from '../../base/errors.ts';
import { type StoredBy, storeKey } from '../../base/stored-by.ts';
import {
  type AskedPaths,
  type FileItem,
  type FileVersion,
  newestFirst,
  type SnapshotPosition,
} from '../../jobs/agent.ts';
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import { type EntryRow, sameContent } from '../tables/entry-row.ts';
import { fileItem } from './hits.ts';
import { notAnywhere } from './file-list.ts';
import { covers, hasSource, type KnownSnapshot, namesIn, sourceText } from './known-snapshots.ts';
import type { ListSource } from './list-search.ts';
import { NODE_TYPE } from '../tables/schema.ts';
import { unread } from './unread-directories.ts';

type VersionRow = EntryRow & { readonly node: number; readonly since: number; readonly until: number };

/** What one snapshot says about a path. */
export type PathState =
  | {
      readonly kind: 'present';
      /** The host of the snapshot, and who stored it. */
      readonly origin: string;
      readonly item: FileItem;
      readonly entry: ComparedEntry;
    }
  | { readonly kind: 'absent'; readonly origin: string; readonly told: ToldBy }
  /** The catalog could not read a directory above it. */
  | { readonly kind: 'unread'; readonly origin: string; readonly told: ToldBy };

/** The snapshot that says it. */
type ToldBy = Pick<FileItem, 'snapshot_id' | 'backup_id' | 'source' | 'stored_by' | 'backed_up_at'>;

/** The fields that decide whether two states are the same version. */
interface ComparedEntry
  extends
    Pick<EntryRow, 'kind' | 'type' | 'mode' | 'modified' | 'finer' | 'size' | 'content'>,
    Pick<KnownSnapshot, 'id' | 'plain' | 'salted'>,
    Pick<VersionRow, 'node' | 'since'> {
  /** The epoch of the catalog: numbers of nodes and contents are comparable within one catalog only. */
  readonly epoch: string;
}

export interface StatesRequest extends AskedPaths {
  /** Bytes as Latin-1. */
  readonly path: string;
  readonly source: string | undefined;
}

/**
 * What every snapshot says about a path, the oldest first. Snapshots that do not cover the path, or whose backup could
 * not read it, say nothing.
 * @throws {RequestError} INVALID_REQUEST for the root
 */
export function pathStates(
  database: CatalogDatabase,
  { epoch, places, snapshots }: Pick<ListSource, 'epoch' | 'places' | 'snapshots'>,
  { path, source, leadsTo }: StatesRequest,
): readonly PathState[] {
  const asked = pathNames(path as ByteString);
  if (asked.length === 0) {
    throw new RequestError('INVALID_REQUEST', 'The root directory has no versions of its own', {
      hint: 'Name a file or directory below it.',
    });
  }
  const rows = new Map<string, readonly VersionRow[]>();
  const unknownAt = new Map<ByteString, ReturnType<typeof unknownIn>>();
  const states: PathState[] = [];
  for (const snapshot of snapshots) {
    if (!snapshot.complete || !hasSource(snapshot, source, leadsTo)) continue;
    // The path may lead through a symbolic link, and then differ from snapshot to snapshot.
    const names = namesIn(snapshot, path, leadsTo);
    const wanted = pathOf(names);
    const key = `${snapshot.lineage} ${wanted}`;
    if (!rows.has(key)) rows.set(key, rowsOf(database, places.find(snapshot.root, names)));
    const unknown = unknownAt.get(wanted) ?? unknownIn(database, names);
    unknownAt.set(wanted, unknown);
    const row = rows
      .get(key)
      ?.find(({ since, until }) => since <= snapshot.ordinal && until >= snapshot.ordinal);
    const origin = JSON.stringify([storeKey(snapshot.storedBy), snapshot.host]);
    if (row !== undefined) {
      const item = fileItem(wanted, row, snapshot);
      states.push({ kind: 'present', origin, item, entry: comparedEntry(row, snapshot, epoch) });
    } else if (covers(snapshot, wanted)) {
      const told = toldBy(snapshot);
      const state = unknown.get(snapshot.ordinal);
      if (state === 'damaged') states.push({ kind: 'unread', origin, told });
      else if (state === undefined) states.push({ kind: 'absent', origin, told });
    }
  }
  return states;
}

/**
 * One item for every snapshot that has the path, and one for each time it was removed; the newest first. Each is
 * compared with the previous snapshot of the same host that the same keys stored.
 * @param states of all catalogs, each the oldest first
 * @param path bytes as Latin-1
 * @param meant chooses, of the states with the path, those of the keys that are meant
 * @throws {RequestError} PATH_NOT_IN_SNAPSHOT when no snapshot has it
 * @throws {RepositoryError} CORRUPT_DATA when no readable snapshot has it, and others could not be read there
 */
export function versionsOf(
  states: readonly (readonly PathState[])[],
  path: string,
  meant: (present: readonly PathState[]) => readonly PathState[] = (present) => present,
): readonly FileVersion[] {
  const present = new Set(
    meant(states.flat().filter(({ kind }) => kind === 'present')).map((one) => storeKey(storedByOf(one))),
  );
  const before = new Map<string, PathState & { readonly kind: 'present' }>();
  const versions: FileVersion[] = [];
  const those = states.flat().filter((one) => present.has(storeKey(storedByOf(one))));
  for (const state of those.sort((a, b) => newestFirst(positionOf(b), positionOf(a)))) {
    const last = before.get(state.origin);
    if (state.kind === 'present') {
      const change =
        last === undefined ? 'added' : isSame(last.entry, state.entry) ? 'unchanged' : 'modified';
      versions.push({ ...state.item, change });
      before.set(state.origin, state);
    } else if (state.kind === 'absent' && last !== undefined) {
      versions.push({ ...last.item, ...state.told, change: 'removed' });
      before.delete(state.origin);
    }
  }
  if (versions.length === 0) {
    const wanted = pathOf(pathNames(path as ByteString));
    const unknown = states.flat().find(({ kind }) => kind === 'unread');
    throw unknown === undefined ? notAnywhere(wanted) : unread(wanted, positionOf(unknown).id);
  }
  return versions.toReversed();
}

export function storedByOf(state: PathState): StoredBy {
  return state.kind === 'present' ? state.item.stored_by : state.told.stored_by;
}

function positionOf(state: PathState): SnapshotPosition {
  const { snapshot_id: id, backed_up_at: createdAt } = state.kind === 'present' ? state.item : state.told;
  return { id, created_at: createdAt };
}

function toldBy(snapshot: KnownSnapshot): ToldBy {
  return {
    snapshot_id: snapshot.id,
    backup_id: snapshot.jobId,
    source: sourceText(snapshot),
    stored_by: snapshot.storedBy,
    backed_up_at: snapshot.started,
  };
}

function comparedEntry(row: VersionRow, { id, plain, salted }: KnownSnapshot, epoch: string): ComparedEntry {
  const { node, since, kind, type, mode, modified, finer, size, content } = row;
  return { epoch, id, plain, salted, node, since, kind, type, mode, modified, finer, size, content };
}

function rowsOf(database: CatalogDatabase, node: number | undefined): readonly VersionRow[] {
  if (node === undefined) return [];
  return database.prepare<[number], VersionRow>('SELECT * FROM version WHERE node = ?').all(node);
}

/**
 * The snapshots, by ordinal, in which the path or a directory above it could not be read: by the backup (`unsaved`) or
 * by the catalog (`damaged`).
 */
function unknownIn(
  database: CatalogDatabase,
  names: readonly ByteString[],
): ReadonlyMap<number, 'unsaved' | 'damaged'> {
  const at = database.prepare<[Buffer], { readonly ordinal: number; readonly damaged: number }>(
    'SELECT ordinal, damaged FROM gap WHERE path = ?',
  );
  const above = Array.from({ length: names.length + 1 }, (_, depth) => pathOf(names.slice(0, depth)));
  const unknown = new Map<number, 'unsaved' | 'damaged'>();
  for (const { ordinal, damaged } of above.flatMap((path) => at.all(Buffer.from(path, 'latin1')))) {
    if (damaged === 1 || !unknown.has(ordinal)) unknown.set(ordinal, damaged === 1 ? 'damaged' : 'unsaved');
  }
  return unknown;
}

/** Whether two states are the same version. Owners and attributes do not matter. */
function isSame(a: ComparedEntry, b: ComparedEntry): boolean {
  const isOneCatalog = a.epoch === b.epoch;
  if (isOneCatalog && a.node === b.node && a.since === b.since) return true;
  const comparable = isOneCatalog && idsComparable(a, b);
  const same = (field: 'mode' | 'modified' | 'finer' | 'kind'): boolean => a[field] === b[field];
  if (!same('kind') || !same('mode') || !same('modified') || !same('finer')) return false;
  if (a.type !== NODE_TYPE.directory) return sameContent(a, b, comparable);
  return !comparable || a.content === b.content;
}

type Naming = Pick<KnownSnapshot, 'id' | 'plain' | 'salted'>;

/** Whether equal content has equal chunk ids in both snapshots. */
export function idsComparable(a: Naming, b: Naming): boolean {
  return a.id === b.id || (a.plain === b.plain && !a.salted && !b.salted);
}
