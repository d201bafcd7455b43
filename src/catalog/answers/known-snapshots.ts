/** The snapshots that the catalog knows, and the choice of those that a question is about. */
import {
  asByteString,
  type ByteString,
  isUtf8,
  pathNames,
  pathOf,
  textOfBytes,
} from '../../base/byte-path.ts';
import { pathText } from '../../base/tree-path.ts';
import { RequestError } from '../../base/errors.ts';
import { isDoubtfulStart, isStoredByAny, type StoredBy, storeKey } from '../../base/stored-by.ts';
import { pathIn, type SourceName } from '../../base/source-names.ts';
import { tooShortText } from '../../repository/resolve-snapshot.ts';
import type { AskedPaths, NewestRequest, SnapshotSummary } from '../../jobs/agent.ts';

/** Totals of a catalog. */
export interface Holdings {
  readonly snapshots: number;
  /** Bytes of the files of all snapshots, each snapshot counted separately. */
  readonly bytes: number;
  /** Snapshots that could not be read completely. */
  readonly incomplete: number;
}

export interface KnownSnapshot {
  readonly ordinal: number;
  readonly id: string;
  readonly lineage: number;
  /** The node of the lineage's root. */
  readonly root: number;
  readonly complete: boolean;
  /** Directories that could not be read. */
  readonly unreadable: number;
  readonly host: string;
  readonly paths: readonly ByteString[];
  /** The names by which sources were given that lie at another path. */
  readonly named: readonly SourceName[];
  /** Chunk ids are comparable with those of other snapshots of the same `plain`, unless one of them is salted. */
  readonly plain: boolean;
  readonly salted: boolean;
  /**
   * When the snapshot is taken to have been made: its start, or for a write-only key the time when the storage got it.
   * Milliseconds since 1970.
   */
  readonly started: number;
  readonly storedBy: StoredBy;
  /** The start that the snapshot itself claims, if a write-only key stored it. */
  readonly saidMs: number | undefined;
  /** When the storage got it, if a write-only key stored it. */
  readonly storedMs: number | undefined;
  /** Its place in the order in which the snapshots of the repository were made, whatever their clocks said. */
  readonly rank: number;
  readonly tags: readonly string[];
  readonly jobId: string | null;
  readonly pinned: boolean;
  readonly partial: boolean;
  /** What the backup could not read: the first path, and how many; the number is null when it is unknown. */
  readonly unread: SnapshotSummary['unread'];
  /** Whether it was made by a request with exclude rules of its own. */
  readonly isNarrowed: boolean;
  readonly files: number;
  readonly bytes: number;
}

/** A snapshot as the catalog describes it. The catalog does not know where the repository is. */
export interface CatalogSnapshot extends Omit<SnapshotSummary, 'destination' | 'last_drill'> {
  /** False until all of it has been taken in: only then can it be listed and searched. */
  readonly complete: boolean;
}

export function summaryOf(snapshot: KnownSnapshot): CatalogSnapshot {
  return {
    id: snapshot.id,
    source: sourceText(snapshot),
    paths: snapshot.paths,
    named: snapshot.named,
    host: snapshot.host,
    tags: snapshot.tags,
    pinned: snapshot.pinned,
    partial: snapshot.partial,
    unread: snapshot.unread,
    created_at: snapshot.started,
    stored_by: snapshot.storedBy,
    said_at: saidAt(snapshot),
    files: snapshot.files,
    size_bytes: snapshot.bytes,
    rank: snapshot.rank,
    backup_id: snapshot.jobId,
    complete: snapshot.complete,
    unreadable: snapshot.unreadable,
  };
}

/** The start that a write-only key claims, if it cannot be true; null if nothing speaks against it. */
function saidAt({ storedBy, saidMs, storedMs }: KnownSnapshot): number | null {
  return saidMs !== undefined && isDoubtfulStart(storedBy, { startedMs: saidMs, storedMs }) ? saidMs : null;
}

/** The sources as text; lossy where a path is not UTF-8. */
export function sourceText({ paths }: KnownSnapshot): string {
  return paths.map(pathText).join(', ');
}

/** @param source as text or as bytes: the path where it was, or the name by which it was given */
export function hasSource(
  { paths, named }: KnownSnapshot,
  source: string | undefined,
  leadsTo?: AskedPaths['leadsTo'],
): boolean {
  if (source === undefined) return true;
  const asked = [source, ...(leadsTo?.source ?? [])];
  return [...paths, ...named.map(({ name }) => name)].some(
    (path) => asked.includes(path) || asked.includes(pathText(path)),
  );
}

/** The names on the path at which a snapshot has what was asked for. */
export function namesIn(
  snapshot: KnownSnapshot,
  asked: string,
  leadsTo?: AskedPaths['leadsTo'],
): readonly ByteString[] {
  const others = (leadsTo?.path ?? []).map(asByteString);
  return pathNames(pathIn(snapshot, pathOf(pathNames(asByteString(asked))), others));
}

/** @throws {RequestError} SNAPSHOT_NOT_FOUND */
export function requireSnapshot(snapshots: readonly KnownSnapshot[], id: string): KnownSnapshot {
  const found = snapshots.filter((one) => one.id.startsWith(id));
  const [only] = found;
  if (/^[0-9a-f]{8,64}$/.test(id) && only !== undefined && found.length === 1) return only;
  throw new RequestError('SNAPSHOT_NOT_FOUND', tooShortText(id, 8) ?? `There is no snapshot ${id}`, {
    hint: 'Retention may have removed it. GET /snapshots lists the snapshots.',
    details: { snapshot: id },
  });
}

/** @throws {RequestError} SERVICE_UNAVAILABLE while the snapshot is still being taken in */
export function requireComplete(snapshot: KnownSnapshot): KnownSnapshot {
  if (snapshot.complete) return snapshot;
  throw new RequestError(
    'SERVICE_UNAVAILABLE',
    `The files of snapshot ${snapshot.id} are still being listed`,
    {
      hint: 'Try again in a minute.',
      retry: 'later',
    },
  );
}

/** The snapshot that a job made, whatever its id has become. @throws {RequestError} BACKUP_NOT_FOUND */
export function requireMadeBy(snapshots: readonly KnownSnapshot[], backupId: string): KnownSnapshot {
  const made = snapshots.findLast(({ jobId }) => jobId === backupId);
  if (made !== undefined) return made;
  throw new RequestError('BACKUP_NOT_FOUND', `No snapshot was made by backup ${backupId}`, {
    hint: 'Retention may have removed it.',
    details: { backup: backupId },
  });
}

export interface SnapshotChoice extends AskedPaths {
  /** `latest`, an id, or what `momentOf` gives. */
  readonly snapshot: string;
  readonly backupId?: string | undefined;
  readonly source?: string | undefined;
  /** Values for `isStoredByAny`. */
  readonly storedBy?: readonly string[] | undefined;
}

/**
 * The snapshots that a choice means. `latest` means, for each source of each host and each key that stored it, the
 * snapshot that was made last. A time means the newest of those snapshots that are not later. Together they are what
 * was backed up. Empty when nothing has been backed up.
 * @throws {RequestError} SNAPSHOT_NOT_FOUND, BACKUP_NOT_FOUND, SERVICE_UNAVAILABLE
 */
export function chooseSnapshots(
  snapshots: readonly KnownSnapshot[],
  { snapshot, backupId, source, storedBy = [], leadsTo }: SnapshotChoice,
): readonly KnownSnapshot[] {
  if (backupId !== undefined || !isMoment(snapshot)) {
    const only =
      backupId === undefined ? requireSnapshot(snapshots, snapshot) : requireMadeBy(snapshots, backupId);
    return [requireComplete(only)].filter(
      (one) => hasSource(one, source, leadsTo) && isStoredByAny(one.storedBy, storedBy),
    );
  }
  const isLatest = snapshot === 'latest';
  const until = isLatest ? Number.POSITIVE_INFINITY : Number(snapshot.slice(1));
  const newest = new Map<string, KnownSnapshot>();
  for (const one of snapshots) {
    if (!one.complete || one.started > until || !hasSource(one, source, leadsTo)) continue;
    if (!isStoredByAny(one.storedBy, storedBy)) continue;
    const origin = originIn(one);
    if (!isLatest || one.rank >= (newest.get(origin)?.rank ?? 0)) newest.set(origin, one);
  }
  return [...newest.values()];
}

/**
 * For each key that stored snapshots, the one that was made last, whatever its clock said; with `until`, the one with
 * the latest time up to then.
 */
export function newestSnapshots(
  snapshots: readonly KnownSnapshot[],
  { source, host, until, storedBy = [], leadsTo }: NewestRequest,
): readonly KnownSnapshot[] {
  const meant = snapshots.filter(
    (one) =>
      hasSource(one, source, leadsTo) &&
      (host === undefined || one.host === host) &&
      (until === undefined || one.started <= until) &&
      isStoredByAny(one.storedBy, storedBy),
  );
  const groups = [...Map.groupBy(meant, (one) => storeKey(one.storedBy)).values()];
  return groups.flatMap((group) => (until === undefined ? lastMade(group) : group.at(-1)) ?? []);
}

/** The previous complete snapshot of the same host and sources that the same keys stored. */
export function snapshotBefore(
  snapshots: readonly KnownSnapshot[],
  behind: KnownSnapshot,
): KnownSnapshot | undefined {
  const origin = originIn(behind);
  return lastMade(
    snapshots.filter((one) => one.complete && one.rank < behind.rank && originIn(one) === origin),
  );
}

function lastMade(snapshots: readonly KnownSnapshot[]): KnownSnapshot | undefined {
  return snapshots.reduce<KnownSnapshot | undefined>(
    (last, one) => (last === undefined || one.rank >= last.rank ? one : last),
    undefined,
  );
}

/** Whether a choice names a time, or `latest`, rather than one snapshot. */
export function isMoment(snapshot: string): boolean {
  return snapshot === 'latest' || /^@-?\d{1,16}$/.test(snapshot);
}

/** A key that is equal for snapshots of the same paths of the same host that the same keys stored, and for no others. */
export function originOf(one: Pick<SnapshotSummary, 'host' | 'paths' | 'stored_by'>): string {
  return JSON.stringify([storeKey(one.stored_by), one.host, ...[...one.paths].sort()]);
}

function originIn({ host, paths, storedBy }: KnownSnapshot): string {
  return originOf({ host, paths, stored_by: storedBy });
}

/** A path as text for people, and in base64 if the text does not stand for its exact bytes. */
export function shownPath(path: ByteString): { readonly path: string; readonly path_b64: string | null } {
  return {
    path: textOfBytes(path),
    path_b64: isUtf8(path) ? null : Buffer.from(path, 'latin1').toString('base64'),
  };
}

/** Whether a snapshot says something about a path: it is a source, lies below one, or leads to one. */
export function covers({ paths }: KnownSnapshot, path: ByteString): boolean {
  return paths.some((written) => {
    const source = pathOf(pathNames(written));
    return isAtOrBelow(path, source) || isAtOrBelow(source, path);
  });
}

function isAtOrBelow(path: ByteString, directory: ByteString): boolean {
  return directory === '/' || path === directory || path.startsWith(`${directory}/`);
}
