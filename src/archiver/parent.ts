import type { ByteString } from '../base/byte-path.ts';
import { RepositoryError } from '../base/errors.ts';
import type { DirectoryEntry, Entry } from '../format/tree.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import type { TreeReader } from '../repository/tree-reader.ts';

/** Files touched this shortly before the parent run began may have changed within one tick of the file system's clock. */
const TICK_NS = 20_000_000n;

/** The snapshot that a run compares the source with. */
export interface Parent {
  readonly snapshot: Snapshot;
  readonly reader: TreeReader;
  /** Entries whose ctime is not before this are read again. */
  readonly trustedBeforeNs: bigint;
}

export function parentOf(snapshot: Snapshot, reader: TreeReader): Parent {
  return { snapshot, reader, trustedBeforeNs: BigInt(snapshot.record.startedMs) * 1_000_000n - TICK_NS };
}

/** The newest snapshot of the same host and paths in the same namespace. */
export function chooseParent(
  live: readonly Snapshot[],
  wanted: {
    readonly host: string;
    readonly paths: readonly ByteString[];
    readonly plain: boolean;
    readonly kind: 'files' | 'stream';
  },
): Snapshot | undefined {
  const paths = wanted.paths.toSorted().join('\0');
  return live.findLast(
    ({ record }) =>
      record.host === wanted.host &&
      record.kind === wanted.kind &&
      record.plain === wanted.plain &&
      record.salt === undefined &&
      [...record.paths].sort().join('\0') === paths,
  );
}

/**
 * The entries of the parent's version of a directory; undefined when there is none or it cannot be read, in which case
 * everything below is simply read again.
 */
export async function parentEntries(
  parent: Parent | undefined,
  directory: DirectoryEntry | undefined,
  rootId: Buffer | undefined,
  signal: AbortSignal,
): Promise<readonly Entry[] | undefined> {
  const id = directory?.id ?? rootId;
  if (parent === undefined || id === undefined) return undefined;
  try {
    return await parent.reader.directory(id, signal);
  } catch (error) {
    if (error instanceof RepositoryError && error.code === 'CORRUPT_DATA') return undefined;
    throw error;
  }
}
