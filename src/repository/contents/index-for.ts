/** Loads the index for each purpose; code outside of this folder loads it only through these functions. */
import type { IndexedPack } from '../../format/index-object.ts';
import { loadIndex, loadPacks, type ChunkIndex } from '../chunk-index.ts';
import type { Repository } from '../repository.ts';
import type { LastPacks } from '../tombstones.ts';

/**
 * The index for reading. Packs marked for deletion exist until the grace period is over and may be the only ones that
 * hold a chunk, but they may also be damaged packs that were replaced. So they are read only where no other pack has
 * the chunk.
 */
export async function loadForReading(
  repository: Repository,
  last: LastPacks,
  signal: AbortSignal,
): Promise<ChunkIndex> {
  return await loadIndex(repository, { without: new Set(), last }, signal);
}

/**
 * The index for writing: chunks in it are not stored again.
 * @param marked packs with a tombstone, and others on which a snapshot must not rely
 */
export async function loadForWriting(
  repository: Repository,
  marked: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ChunkIndex> {
  return await loadIndex(repository, { without: marked }, signal);
}

/**
 * For salvage: the directories of only those packs that cannot be relied on.
 * @param damaged packs that come after those that are only marked
 */
export async function loadForSalvage(
  repository: Repository,
  { marked, damaged }: { readonly marked: ReadonlySet<string>; readonly damaged: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<readonly IndexedPack[]> {
  const { packs } = await loadPacks(repository, { without: new Set(), last: [damaged] }, signal);
  return packs.filter(({ name }) => marked.has(name) || damaged.has(name));
}
