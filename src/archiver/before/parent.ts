import type { ByteString } from '../../base/byte-path.ts';
import { isNarrowed } from '../../base/job-tag.ts';
import { isFull } from '../../base/stored-by.ts';
import { refuseReading } from '../../codec/keys.ts';
import type { SnapshotRecord } from '../../format/records.ts';
import type { DirectoryEntry, Entry, FileEntry } from '../../format/tree.ts';
import { packOfError } from '../../repository/check/damaged-packs.ts';
import type { ChunkIndex, IndexSource } from '../../repository/chunk-index.ts';
import { treeBudget } from '../../repository/contents/tree-bounds.ts';
import { TreeReader } from '../../repository/contents/tree-reader.ts';
import { damageTo } from '../../repository/objects/lost-object.ts';
import type { Repository } from '../../repository/repository.ts';
import { resolveSnapshot } from '../../repository/resolve-snapshot.ts';
import type { Snapshot, SnapshotList } from '../../repository/snapshots.ts';
import type { Tally } from '../report/tally.ts';
import { mayHaveMoreXattrs } from '../source/xattrs.ts';
import { type CtimeTrust, type IsSettled, settledBefore } from './ctime-trust.ts';

/** The snapshot that a run compares the source with. */
export interface Parent {
  readonly snapshot: Snapshot;
  readonly reader: TreeReader;
  readonly index: ChunkIndex;
  /** Entries that had not settled when the parent run began are looked at and read again. */
  readonly isSettled: IsSettled;
  /** Entries on a file system without a ctime are looked at and read again, too. */
  readonly ctimes: Pick<CtimeTrust, 'tells' | 'vouchesFor'>;
  /** The parent was made by another user, who may have seen fewer extended attributes, or more. */
  readonly isAnothers: boolean;
  /** Called with the pack in which one of its trees is damaged; throws if that is to be repaired. */
  readonly onDamage?: (pack: string) => void;
  /** Its entries may lack extended attributes that can be read now, even if nothing about them has changed. */
  readonly mayLackXattrs: boolean;
}

/** @param user the user of this run, as snapshots name users */
function parentOf(
  snapshot: Snapshot,
  { reader, index, ctimes }: Pick<Parent, 'reader' | 'index' | 'ctimes'>,
  user: string,
): Parent {
  const { startedMs, omitted } = snapshot.record;
  const isAnothers = snapshot.record.user !== user;
  const mayLackXattrs = isAnothers || mayHaveMoreXattrs(omitted);
  const isSettled = settledBefore(startedMs);
  return { snapshot, reader, index, isSettled, ctimes, isAnothers, mayLackXattrs };
}

/**
 * The newest snapshot of the same host and paths in the same namespace; a lesser one only if there is no other. Never
 * one stored with a write-only key, since entries are taken over from the parent unread.
 */
export function chooseParent(
  live: readonly Snapshot[],
  wanted: {
    readonly host: string;
    readonly paths: readonly ByteString[];
    readonly plain: boolean;
    readonly kind: 'files' | 'stream';
  },
): Snapshot | undefined {
  const setOf = (paths: readonly ByteString[]): string => [...new Set(paths)].toSorted().join('\0');
  const paths = setOf(wanted.paths);
  const fits = ({ record, storedBy }: Snapshot): boolean =>
    isFull(storedBy) &&
    record.host === wanted.host &&
    record.kind === wanted.kind &&
    record.plain === wanted.plain &&
    record.salt === undefined &&
    setOf(record.paths) === paths;
  return live.findLast((one) => fits(one) && !isLesser(one)) ?? live.findLast(fits);
}

/** The parent's version of a directory. */
export interface ParentDirectory {
  readonly id: Buffer;
  /** Without files whose content the repository has lost: these are read and stored again. */
  readonly entries: readonly Entry[];
  /**
   * The repository has all of the directory's own chunks and of its files' content. Otherwise it is stored again, even
   * if it is the same.
   */
  readonly whole: boolean;
}

/** Undefined when there is none or it cannot be read; then everything below is simply read again. */
export async function parentDirectory(
  parent: Parent | undefined,
  directory: DirectoryEntry | undefined,
  rootId: Buffer | undefined,
  signal: AbortSignal,
): Promise<ParentDirectory | undefined> {
  const id = directory?.id ?? rootId;
  if (parent === undefined || id === undefined) return undefined;
  try {
    // A chunk that the cache still has may have gone from the repository.
    let stored = true;
    const all = await parent.reader.directory(id, signal, (chunk) => {
      if (!hasAll(parent.index, chunk)) stored = false;
    });
    const lost = new Set<Entry>();
    for (const entry of all)
      if (entry.type === 'file' && !(await hasContent(parent, entry, signal))) lost.add(entry);
    if (lost.size === 0) return { id, entries: all, whole: stored };
    return { id, entries: all.filter((entry) => !lost.has(entry)), whole: false };
  } catch (error) {
    requireUnreadable(parent, error);
    return undefined;
  }
}

/** Takes everything below a directory that is gone out of a tally that began with the parent's counts. */
export async function uncountBelow(
  parent: Parent,
  gone: DirectoryEntry,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  await treeBudget(parent.reader, gone.id, gone.totals, signal);
  await uncount(parent, gone, tally, signal);
}

async function uncount(
  parent: Parent,
  gone: DirectoryEntry,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  const entries = await parent.reader.directory(gone.id, signal).catch((error: unknown) => {
    requireUnreadable(parent, error);
    throw error;
  });
  tally.uncount(entries);
  for (const entry of entries) if (entry.type === 'directory') await uncount(parent, entry, tally, signal);
}

/** Whether every chunk of a file lies in a pack that this session's listing shows. */
async function hasContent(parent: Parent, file: FileEntry, signal: AbortSignal): Promise<boolean> {
  const { index, reader } = parent;
  if (!hasAll(index, file.content)) return false;
  if (!file.indirect) return true;
  // If a pack went together with the index objects that named it, only the lists show that its chunks are missing.
  try {
    for await (const ids of reader.lists(file, signal)) if (!hasAll(index, ids)) return false;
    return true;
  } catch (error) {
    requireUnreadable(parent, error);
    return false;
  }
}

/**
 * Returns if the error means that part of the parent's trees cannot be read.
 * @throws the error if it is not damage, and whatever `onDamage` throws
 */
function requireUnreadable({ index, onDamage }: Parent, error: unknown): void {
  if (damageTo(error)?.code !== 'CORRUPT_DATA') throw error;
  const pack = packOfError(error, index);
  if (pack !== undefined) onDamage?.(pack);
}

function hasAll({ table }: ChunkIndex, ids: Buffer): boolean {
  for (let at = 0; at < ids.length; at += 24) if (table.slotOf(ids, at) < 0) return false;
  return true;
}

/**
 * Recognises snapshots that hold less than their sources did, so that they do not tell what the sources were like. True
 * for a snapshot made with exclude rules of the request's own, or one without files because they could not be read.
 */
export function isLesser({
  record: { tags, status, counts },
}: {
  readonly record: Pick<SnapshotRecord, 'tags' | 'status' | 'counts'>;
}): boolean {
  return isNarrowed(tags) || (status === 'partial' && counts.files === 0);
}

/** Compare with this snapshot; `auto` is the newest one of the same host and paths, `none` reads everything. */
export type ParentChoice = 'auto' | 'none' | { readonly snapshot: string };

/** What a parent snapshot has to match. */
export interface ParentWish {
  readonly repository: Repository;
  readonly parent: ParentChoice;
  readonly sources: readonly ByteString[];
  readonly host: string;
  readonly user: string;
  readonly plain: boolean;
  readonly isolated: boolean;
}

export interface Comparable extends Pick<Parent, 'index' | 'ctimes'> {
  /** Where its trees are read from. May include packs that nothing new is to rely on. */
  readonly readable?: IndexSource;
}

/**
 * Finds the snapshot that a run compares the sources with. Undefined when there is no snapshot that entries may be
 * taken over from.
 * @throws {RepositoryError} when a snapshot is named that does not exist, or that may not be read with this key
 */
export function findParent(
  wish: ParentWish,
  snapshots: SnapshotList,
  { index, readable = index, ctimes }: Comparable,
): Parent | undefined {
  const { repository, parent, plain, isolated, host, sources, user } = wish;
  if (repository.isWriteOnly && typeof parent === 'object') throw refuseReading();
  if (parent === 'none' || isolated || repository.isWriteOnly) return undefined;
  const snapshot =
    parent === 'auto'
      ? chooseParent(snapshots.live, { host, paths: sources, plain, kind: 'files' })
      : resolveSnapshot(snapshots.live, parent.snapshot);
  if (snapshot === undefined || snapshot.record.plain !== plain || snapshot.record.salt !== undefined)
    return undefined;
  const reader = new TreeReader(repository, readable, { plain });
  return parentOf(snapshot, { reader, index, ctimes }, user);
}
