import { OBJECT_TYPES } from '../format/header.ts';
import {
  encodeChainContext,
  encodeSigned,
  tombstoneMap,
  type ChainPosition,
  type TombstoneRecord,
} from '../format/records.ts';
import { appendRecord, type Appended, type SealedRecord } from './chain.ts';
import { sealObject } from './objects/objects.ts';
import type { Repository } from './repository.ts';

/**
 * Writes a tombstone as the next record of this writer's chain.
 * @param live the number of this writer's live snapshots
 * @param look called immediately before the tombstone is stored; if it throws, nothing is stored
 */
export async function putTombstone(
  repository: Repository,
  record: TombstoneRecord,
  { live, look }: { readonly live: number; readonly look?: () => Promise<void> },
  signal: AbortSignal,
): Promise<Appended> {
  const seal = (position: ChainPosition): SealedRecord => {
    const context = encodeChainContext(position);
    const map = tombstoneMap(record, position);
    const plaintext = encodeSigned(map, (unsigned) => repository.sign('hf1/tomb', unsigned));
    const sealed = sealObject(repository.keys, OBJECT_TYPES.tombstone, context, plaintext);
    return { ...sealed, key: `trash/${sealed.name}` };
  };
  return await appendRecord(repository, seal, { live, look }, signal);
}
