/** The snapshots that the catalog knows, and which of them a question is about. */
import { asByteString, isUtf8, textOfBytes, type ByteString } from '../../base/byte-path.ts';
import { RequestError } from '../../base/errors.ts';
import { isDoubtfulStart, isStoredByAny, storeKey, type StoredBy } from '../../base/stored-by.ts';
import { pathNames, pathOf } from '../../base/path-names.ts';
import { pathIn, type SourceName } from '../../base/source-names.ts';
import type { AskedPaths, NewestRequest, SnapshotSummary } from '../../jobs/agent.ts';

/** What a catalog has in all. */
export interface Holdings {
  readonly snapshots: number;
  /** Of the files of the snapshots, each counted by itself. */
  readonly bytes: number;
  /** Snapshots of which something could not be read. */
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
  /** How those of them were called that were asked for by another path. */
  readonly named: readonly SourceName[];
  /** Names of what it holds are shared with other snapshots of the same `plain`, unless it is salted. */
  readonly plain: boolean;
  readonly salted: boolean;
  /** When it counts as made: its start, or when the storage got it from a write-only key. Milliseconds since 1970. */
  readonly started: number;
  readonly storedBy: StoredBy;
  /** The start that it gives itself, where a write-only key stored it. */
  readonly saidMs: number | undefined;
  /** When the storage got it, where a write-only key stored it. */
  readonly storedMs: number | undefined;
  /** Rises with each one of the repository that was made later, whatever its clock said. */
  readonly rank: number;
  readonly tags: readonly string[];
  readonly jobId: string | null;
  readonly pinned: boolean;
  readonly partial: boolean;
  /** What the backup could not read: the first path, and how many; null when nobody knows. */
  readonly unread: SnapshotSummary['unread'];
  /** Made by a request with exclude rules of its own. */
  readonly isNarrowed: boolean;
  readonly files: number;
  readonly bytes: number;
}

/** A snapshot as the catalog tells of it. Where the repository lies it does not know. */
export interface CatalogSnapshot extends Omit<SnapshotSummary, 'destination' | 'last_drill'> {
  /** False until all of it is in: then it can be listed and searched. */
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

/** The start that a write-only key gave, where it cannot be; null where nothing speaks against it. */
function saidAt({ storedBy, saidMs, storedMs }: KnownSnapshot): number | null {
  return saidMs !== undefined && isDoubtfulStart(storedBy, { startedMs: saidMs, storedMs }) ? saidMs : null;
}

/** Lossy where it is not UTF-8. */
export function sourceText({ paths }: KnownSnapshot): string {
  return paths.map(textOfBytes).join(', ');
}

/** @param source as text or as bytes; by where it lay, or by the name that it was asked for */
export function hasSource(
  { paths, named }: KnownSnapshot,
  source: string | undefined,
  leadsTo?: AskedPaths['leadsTo'],
): boolean {
  if (source === undefined) return true;
  const asked = [source, ...(leadsTo?.source ?? [])];
  return [...paths, ...named.map(({ name }) => name)].some(
    (path) => asked.includes(path) || asked.includes(textOfBytes(path)),
  );
}

/** The names on the way to where a snapshot has what somebody asks for. */
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
  throw new RequestError('SNAPSHOT_NOT_FOUND', `There is no snapshot ${id}`, {
    hint: 'List what there is: it may have been removed by retention.',
    details: { snapshot: id },
  });
}

/** @throws {RequestError} SERVICE_UNAVAILABLE while it is still being taken in */
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

/** The snapshot that a job made, under whatever id it is now. @throws {RequestError} BACKUP_NOT_FOUND */
export function requireMadeBy(snapshots: readonly KnownSnapshot[], backupId: string): KnownSnapshot {
  const made = snapshots.findLast(({ jobId }) => jobId === backupId);
  if (made !== undefined) return made;
  throw new RequestError('BACKUP_NOT_FOUND', `No snapshot was made by backup ${backupId}`, {
    hint: 'It may have been removed by retention.',
    details: { backup: backupId },
  });
}

export interface SnapshotChoice extends AskedPaths {
  /** `latest`, an id, or what `momentOf` gives. */
  readonly snapshot: string;
  readonly backupId?: string | undefined;
  readonly source?: string | undefined;
  /** As `isStoredByAny` takes them. */
  readonly storedBy?: readonly string[] | undefined;
}

/**
 * The snapshots that a choice means. `latest` means one of each source on each host by each who stored it, the one that was made last; a time
 * means the newest of those that bear no later one. Together they are what was backed up. None when nothing has been backed up.
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
 * Of each who stored some the one that was made last, whatever its clock said; of those until a time the one with the
 * latest.
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

/** The snapshot of the same host and sources that was made before. */
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

/** The same for snapshots of the same paths of the same host that the same keys stored, and for no others. */
export function originOf(one: Pick<SnapshotSummary, 'host' | 'paths' | 'stored_by'>): string {
  return JSON.stringify([storeKey(one.stored_by), one.host, ...[...one.paths].sort()]);
}

function originIn({ host, paths, storedBy }: KnownSnapshot): string {
  return originOf({ host, paths, stored_by: storedBy });
}

/** Text for people, and the bytes when the text does not tell them. */
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
