import { isRetired } from '../../format/keyring.ts';
import { headPlace } from '../chain.ts';
import type { CheckedIndex } from './check-index.ts';
import type { Repository } from '../repository.ts';
import { readObjectName } from '../objects/object-name.ts';
import type { SnapshotList } from '../snapshots.ts';
import { chainView } from '../chain-view.ts';
import { highestNumbers } from '../chains/verify-chains.ts';

/**
 * Distinguishes objects under retired generations that the storage has brought back (returned-objects.ts) from damaged
 * ones: everything that a returned object could say is known otherwise.
 */
export function needlessUnderRetired(
  repository: Repository,
  snapshots: SnapshotList,
  { claims }: Pick<CheckedIndex, 'claims'>,
): (object: string, generation: number) => boolean {
  const { tombstones } = snapshots;
  const highest = highestNumbers(chainView(repository, snapshots, [], []));
  const isNeedless = (object: string): boolean => {
    const head = headPlace(object);
    if (head !== undefined) return head.seq <= (highest.get(head.writer) ?? 0);
    const config = /^config\/(\d+)$/.exec(object)?.[1];
    // The configuration in force is never under a retired generation.
    if (config !== undefined) return true;
    if (object.startsWith('leases/')) return true;
    const { kind, name = '' } = readObjectName(object) ?? {};
    if (kind === 'tombstone' || kind === 'snapshot') return tombstones.snapshots.has(name);
    return kind === 'index object' || (kind === 'pack' && !claims.has(name));
  };
  return (object, generation) => isRetired(repository.keyring, generation) && isNeedless(object);
}
