/** The snapshot that a run is to compare the sources with. */
import { refuseReading } from '../../codec/keys.ts';
import type { IndexSource } from '../../repository/chunk-index.ts';
import { TreeReader } from '../../repository/contents/tree-reader.ts';
import { resolveSnapshot } from '../../repository/resolve-snapshot.ts';
import type { SnapshotList } from '../../repository/snapshots.ts';
import type { ArchiveRequest } from '../archive-request.ts';
import { chooseParent, parentOf, type Parent } from './parent.ts';

export interface Comparable extends Pick<Parent, 'index' | 'ctimes'> {
  /** Where its trees are looked for: also where nothing is to be relied on. */
  readonly readable?: IndexSource;
}

export function findParent(
  request: ArchiveRequest,
  snapshots: SnapshotList,
  { index, readable = index, ctimes }: Comparable,
): Parent | undefined {
  const { repository, parent, plain, isolated, host, sources, user } = request;
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
