/** The index for each thing that it is wanted for; outside of this folder nothing asks for it otherwise. */
import type { IndexedPack } from '../../format/index-object.ts';
import { loadIndex, loadPacks, type ChunkIndex } from '../chunk-index.ts';
import type { Repository } from '../repository.ts';
import type { LastPacks } from '../tombstones.ts';

/**
 * For whoever reads. What is marked for deletion is there until the grace period is over, and may be all that holds a
 * chunk; but it may be a damaged pack that was replaced, so it is read only where there is nothing else.
 */
export async function loadForReading(
  repository: Repository,
  last: LastPacks,
  signal: AbortSignal,
): Promise<ChunkIndex> {
  return await loadIndex(repository, { without: new Set(), last }, signal);
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

/**
 * For whoever looks for what can still be had in packs that cannot be relied on: the directories of these packs alone.
 * @param damaged come after those that are only marked
 */
export async function loadForSalvage(
  repository: Repository,
  { marked, damaged }: { readonly marked: ReadonlySet<string>; readonly damaged: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<readonly IndexedPack[]> {
  const { packs } = await loadPacks(repository, { without: new Set(), last: [damaged] }, signal);
  return packs.filter(({ name }) => marked.has(name) || damaged.has(name));
}
