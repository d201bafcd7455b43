/** The index for the two things that it is wanted for; outside of this folder nothing asks for it otherwise. */
import { loadIndex, type ChunkIndex } from './chunk-index.ts';
import type { Repository } from './repository.ts';

/**
 * For whoever reads. What is marked for deletion is there until the grace period is over, and may be all that holds a
 * chunk; but it may be a damaged pack that was replaced, so it is read only where there is nothing else.
 * @param marked packs with a tombstone
 */
export async function loadForReading(
  repository: Repository,
  marked: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ChunkIndex> {
  return await loadIndex(repository, { without: new Set(), last: marked }, signal);
}

/**
 * For whoever stores: what counts as being there need not be stored again.
 * @param marked packs with a tombstone, and whatever else cannot be relied on
 */
export async function loadForWriting(
  repository: Repository,
  marked: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ChunkIndex> {
  return await loadIndex(repository, { without: marked }, signal);
}
