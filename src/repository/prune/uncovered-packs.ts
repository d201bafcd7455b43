import type { IndexedPack } from '../../format/index-object.ts';
import type { ChunkIndex } from '../chunk-index.ts';
import { packKey } from '../objects/listing.ts';
import type { Repository } from '../repository.ts';

/**
 * The packs that no index object names yet, for a caller that is about to name them; most are left by a run that died.
 * They are made durable first, since that run may not have done so, and readers take packs named by an index object for
 * durable.
 *
 * @param without packs that are left out: those with a tombstone, or about to be deleted
 * @throws {DestinationError}
 */
export async function durableUncovered(
  { destination }: Repository,
  { uncovered }: Pick<ChunkIndex, 'uncovered'>,
  without: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<readonly IndexedPack[]> {
  const packs = uncovered.filter(({ name }) => !without.has(name));
  if (packs.length > 0) {
    const keys = packs.map(({ name }) => packKey(name));
    await destination.makeDurable?.(keys, signal);
  }
  return packs;
}
