/** The snapshots that the catalog knows, and which of them a question is about. */
import { asByteString, isUtf8, textOfBytes, type ByteString } from '../base/byte-path.ts';
import { RequestError, StateError } from '../base/errors.ts';
import { isJobTag, isNarrowed, jobTag } from '../base/job-tag.ts';
import { pathNames, pathOf } from '../base/path-names.ts';
import { pathIn, type SourceName } from '../base/source-names.ts';
import type { AskedPaths, NewestRequest, SnapshotSummary } from '../jobs/agent.ts';
import type { CatalogDatabase } from './catalog-database.ts';
import { SNAPSHOT_STATE } from './schema.ts';

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
  /** Milliseconds since 1970. */
  readonly started: number;
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

interface SnapshotRow {
  readonly ordinal: number;
  readonly id: string;
  readonly lineage: number;
  readonly root: number;
  readonly state: number;
  readonly unreadable: number;
  readonly host: string;
  readonly paths: string;
  /** Names and paths by turns. */
  readonly named: string;
  readonly plain: number;
  readonly salted: number;
  readonly started: number;
  readonly rank: number;
  readonly tags: string;
  readonly pinned: number;
  readonly partial: number;
  readonly files: number;
  readonly bytes: number;
}

/** Oldest first, and those of one time by their ids. @throws {StateError} CATALOG_DAMAGED */
export function readSnapshots(database: CatalogDatabase): readonly KnownSnapshot[] {
  const unread = unreadOf(database);
  return database
    .prepare<[], SnapshotRow>(
      `SELECT s.*, l.root FROM snapshot s JOIN lineage l ON l.id = s.lineage
       WHERE s.replaces IS NULL ORDER BY s.started, s.id`,
    )
    .all()
    .map((row) => {
      const tags = textsIn(row.tags);
      return {
        ordinal: row.ordinal,
        id: row.id,
        lineage: row.lineage,
        root: row.root,
        complete: row.state === SNAPSHOT_STATE.complete,
        unreadable: row.unreadable,
        host: row.host,
        paths: textsIn(row.paths).map(asByteString),
        named: sourceNamesIn(row.named),
        plain: row.plain === 1,
        salted: row.salted === 1,
        started: row.started,
        rank: row.rank,
        tags: tags.filter((tag) => !isJobTag(tag)),
        jobId: jobIdOf(tags),
        pinned: row.pinned === 1,
        partial: row.partial === 1,
        unread: unread.get(row.ordinal) ?? { paths: [], count: 0 },
        isNarrowed: isNarrowed(tags),
        files: row.files,
        bytes: row.bytes,
      };
    });
}

/** Of each snapshot that lacks something: that is few of them. */
function unreadOf(database: CatalogDatabase): ReadonlyMap<number, SnapshotSummary['unread']> {
  const rows = database
    .prepare<
      [],
      { readonly ordinal: number; readonly count: number; readonly last: Buffer; readonly first: Buffer }
    >(
      `SELECT ordinal, count(*) AS count, min(path) AS first, max(path) AS last FROM gap
       WHERE damaged = 0 AND tree IS NULL GROUP BY ordinal`,
    )
    .all();
  return new Map(
    rows.map(({ ordinal, count, first, last }) => {
      // The root stands for others, and nobody knows which.
      const [isMore, named] = first.toString('latin1') === '/' ? [true, last] : [false, first];
      const path = textOfBytes(asByteString(named.toString('latin1')));
      return [ordinal, { paths: path === '/' ? [] : [path], count: isMore ? null : count }];
    }),
  );
}

/** The engine leaves the job that made a snapshot in its tags. */
function jobIdOf(tags: readonly string[]): string | null {
  const tag = tags.find((one) => isJobTag(one) && !isNarrowed([one]));
  return tag?.slice(jobTag('').length) ?? null;
}

/** @throws {StateError} CATALOG_DAMAGED: SQLite does not look into values, which a bad disk changes as well as pages */
function textsIn(list: string): readonly string[] {
  const damaged = (cause?: unknown): StateError =>
    new StateError('CATALOG_DAMAGED', 'The catalog is damaged: a list in a snapshot is none', { cause });
  let value: unknown;
  try {
    value = JSON.parse(list);
  } catch (cause) {
    throw damaged(cause);
  }
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) throw damaged();
  return value;
}

function sourceNamesIn(list: string): readonly SourceName[] {
  const texts = textsIn(list).map(asByteString);
  return texts.flatMap((name, i) => {
    const path = texts[i + 1];
    return i % 2 === 1 || path === undefined ? [] : [{ name, path }];
  });
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
    files: snapshot.files,
    size_bytes: snapshot.bytes,
    rank: snapshot.rank,
    backup_id: snapshot.jobId,
    complete: snapshot.complete,
    unreadable: snapshot.unreadable,
  };
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
}

/**
 * The snapshots that a choice means. `latest` means one of each source on each host, the one that was made last; a time
 * means the newest of those that bear no later one. Together they are what was backed up. None when nothing has been backed up.
 * @throws {RequestError} SNAPSHOT_NOT_FOUND, BACKUP_NOT_FOUND, SERVICE_UNAVAILABLE
 */
export function chooseSnapshots(
  snapshots: readonly KnownSnapshot[],
  { snapshot, backupId, source, leadsTo }: SnapshotChoice,
): readonly KnownSnapshot[] {
  if (backupId !== undefined || !isMoment(snapshot)) {
    const only =
      backupId === undefined ? requireSnapshot(snapshots, snapshot) : requireMadeBy(snapshots, backupId);
    return [requireComplete(only)].filter((one) => hasSource(one, source, leadsTo));
  }
  const isLatest = snapshot === 'latest';
  const until = isLatest ? Number.POSITIVE_INFINITY : Number(snapshot.slice(1));
  const newest = new Map<string, KnownSnapshot>();
  for (const one of snapshots) {
    if (!one.complete || one.started > until || !hasSource(one, source, leadsTo)) continue;
    const origin = originOf(one);
    if (!isLatest || one.rank >= (newest.get(origin)?.rank ?? 0)) newest.set(origin, one);
  }
  return [...newest.values()];
}

/**
 * The one that was made last, whatever its clock said; of those until a time the one with the latest. Undefined when there
 * is none.
 */
export function newestSnapshot(
  snapshots: readonly KnownSnapshot[],
  { source, host, until, leadsTo }: NewestRequest,
): KnownSnapshot | undefined {
  const meant = snapshots.filter(
    (one) =>
      hasSource(one, source, leadsTo) &&
      (host === undefined || one.host === host) &&
      (until === undefined || one.started <= until),
  );
  return until === undefined ? lastMade(meant) : meant.at(-1);
}

/** The snapshot of the same host and sources that was made before. */
export function snapshotBefore(
  snapshots: readonly KnownSnapshot[],
  behind: KnownSnapshot,
): KnownSnapshot | undefined {
  const origin = originOf(behind);
  return lastMade(
    snapshots.filter((one) => one.complete && one.rank < behind.rank && originOf(one) === origin),
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

/** The same for snapshots of the same paths of the same host, and for no others. */
export function originOf({ host, paths }: Pick<SnapshotSummary, 'host' | 'paths'>): string {
  return JSON.stringify([host, ...[...paths].sort()]);
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
