/** Loads the index for each purpose; code outside of this folder loads it only through these functions. */
import { CIPHER_PLAIN } from '../../format/header.ts';
import type { IndexedPack } from '../../format/index-object.ts';
import { loadIndex, loadPacks, type ChunkIndex } from '../chunk-index.ts';
import type { Repository } from '../repository.ts';
import type { LastPacks } from '../tombstones.ts';
import { believed } from './false-claims.ts';

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
  const loaded = await loadPacks(repository, { without: new Set(), last }, signal);
  return await believed(repository, loaded, signal);
}

export interface WritingOptions {
  /** Packs with a tombstone, and others on which a snapshot must not rely. */
  readonly marked: ReadonlySet<string>;
  /** Whether some of what is written goes into the plain namespace, whose packs are not encrypted. */
  readonly plain: boolean;
}

/**
 * The index for writing: chunks in it are not stored again. So it lacks packs that anybody may have made: those of
 * write-only keys, whose chunks no other key's snapshot names, and plain ones unless the plain namespace is written to.
 * Such a pack may claim a chunk whose true pack is marked for deletion, and would be all that is left of it.
 */
export async function loadForWriting(
  repository: Repository,
  { marked, plain }: WritingOptions,
  signal: AbortSignal,
): Promise<ChunkIndex> {
  const relied = ({ cipher, sealedBy }: IndexedPack): boolean =>
    sealedBy === 0 && (plain || cipher !== CIPHER_PLAIN);
  return await loadIndex(repository, { without: marked, relied }, signal);
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
