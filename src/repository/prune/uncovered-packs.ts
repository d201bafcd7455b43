import type { IndexedPack } from '../../format/index-object.ts';
import type { ChunkIndex } from '../chunk-index.ts';
import { packKey } from '../objects/listing.ts';
import type { Repository } from '../repository.ts';

/**
 * The packs that no index object names yet, for whoever is about to name them: those of a run that died, mostly. They are
 * made durable first, as such a run may not have come to that, and what an index object names counts as durable.
 *
 * @param without packs that are left out: those with a tombstone, or about to go
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
