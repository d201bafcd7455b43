import { createHash } from 'node:crypto';
import type { ProtectionMemory } from './protection.ts';
import type { Repository } from './repository.ts';

/**
 * Local copies of what a far repository says about itself: snapshots, tombstones, index objects and tree chunks. They
 * save requests and prove nothing: what exists is asked of the destination, and what is read is checked against its name.
 */
export interface MetadataCache {
  /** What is kept under this name, if anything. Never throws: a cache that cannot be read is an empty one. */
  read(name: string): Buffer | undefined;
  /** Keeps a copy, some time soon and perhaps not for long. Never throws. */
  keep(name: string, bytes: Uint8Array): void;
  /** Has what is kept be there for other processes from now on. Never throws. */
  write?(): void;
  /** Until when objects are protected, where somebody remembers. */
  readonly protection?: ProtectionMemory;
}

export const NO_CACHE: MetadataCache = { read: () => undefined, keep: () => {} };

/**
 * An object whose name ends in its SHA-256, from the cache or else from the destination.
 * @param folder with its slash: `snapshots/`
 * @throws {DestinationError}
 */
export async function getNamed(
  { destination, cache }: Repository,
  folder: string,
  name: string,
  signal: AbortSignal,
): Promise<Buffer> {
  const key = `${folder}${name}`;
  const kept = cache.read(key);
  if (kept !== undefined && isNamed(kept, name)) return kept;
  const bytes = await destination.get(key, undefined, signal);
  if (cache !== NO_CACHE && isNamed(bytes, name)) cache.keep(key, bytes);
  return bytes;
}

function isNamed(bytes: Buffer, name: string): boolean {
  return createHash('sha256').update(bytes).digest('hex') === name;
}
