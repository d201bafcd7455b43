/** Finds the snapshot that a run compares the sources with. */
import type { ByteString } from '../../base/byte-path.ts';
import { refuseReading } from '../../codec/keys.ts';
import type { IndexSource } from '../../repository/chunk-index.ts';
import { TreeReader } from '../../repository/contents/tree-reader.ts';
import type { Repository } from '../../repository/repository.ts';
import { resolveSnapshot } from '../../repository/resolve-snapshot.ts';
import type { SnapshotList } from '../../repository/snapshots.ts';
import { chooseParent, parentOf, type Parent } from './parent.ts';

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
 * Undefined when there is no snapshot that entries may be taken over from.
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
