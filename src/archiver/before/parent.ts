import type { ByteString } from '../../base/byte-path.ts';
import { isFull } from '../../base/stored-by.ts';
import type { DirectoryEntry, Entry, FileEntry } from '../../format/tree.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import { packOfError } from '../../repository/check/damaged-packs.ts';
import { damageTo } from '../../repository/objects/lost-object.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import { treeBudget } from '../../repository/contents/tree-bounds.ts';
import type { TreeReader } from '../../repository/contents/tree-reader.ts';
import type { CtimeTrust } from './ctime-trust.ts';
import { isLesser } from './lesser-snapshot.ts';
import { settledBefore, type IsSettled } from './settled.ts';
import { mayHaveMoreXattrs } from '../source/xattrs.ts';
import type { Tally } from '../report/tally.ts';

/** The snapshot that a run compares the source with. */
export interface Parent {
  readonly snapshot: Snapshot;
  readonly reader: TreeReader;
  readonly index: ChunkIndex;
  /** Entries that have not settled when the parent run began are looked at and read again. */
  readonly isSettled: IsSettled;
  /** Where no ctime is kept, entries are looked at and read again, too. */
  readonly ctimes: Pick<CtimeTrust, 'tells' | 'vouchesFor'>;
  /** Another user made it, who may have seen fewer extended attributes, or more. */
  readonly isAnothers: boolean;
  /** Told of the pack in which something of its trees is damaged; throws where that is to be healed. */
  readonly onDamage?: (pack: string) => void;
  /** Its entries may lack extended attributes that can be read now, though nothing about them has changed. */
  readonly mayLackXattrs: boolean;
}

/** @param user who compares with it, as snapshots name users */
export function parentOf(
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
 * The newest snapshot of the same host and paths in the same namespace; one that shows less only where there is no other.
 * Never what a write-only key stored: entries are taken over from it unread.
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
  /** Without the files of which the repository has lost content: these are read, and so stored, again. */
  readonly entries: readonly Entry[];
  /** The repository has all that it consists of: else it is stored again, whether or not it is the same. */
  readonly whole: boolean;
}

/** Undefined when there is none or it cannot be read, in which case everything below is simply read again. */
export async function parentDirectory(
  parent: Parent | undefined,
  directory: DirectoryEntry | undefined,
  rootId: Buffer | undefined,
  signal: AbortSignal,
): Promise<ParentDirectory | undefined> {
  const id = directory?.id ?? rootId;
  if (parent === undefined || id === undefined) return undefined;
  try {
    // What a cache still has may be gone from the repository.
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
  // A pack that went together with the index objects that named it is missed by nothing but the lists.
  try {
    for await (const ids of reader.lists(file, signal)) if (!hasAll(index, ids)) return false;
    return true;
  } catch (error) {
    requireUnreadable(parent, error);
    return false;
  }
}

/**
 * Returns when something of the parent's trees cannot be read.
 * @throws what is no damage, and what `onDamage` throws
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
