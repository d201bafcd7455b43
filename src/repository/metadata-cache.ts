import { createHash } from 'node:crypto';
import type { Destination } from '../destination/destination.ts';

/**
 * Local copies of a remote repository's metadata: snapshots, tombstones, index objects and tree chunks. They save
 * requests and prove nothing: the destination decides what exists, and every copy is checked against its name.
 */
export interface MetadataCache {
  /** The copy with this name, if there is one. Never throws: a cache that cannot be read counts as empty. */
  read(name: string): Buffer | undefined;
  /** Keeps a copy. It may be written later, and may be dropped at any time. Never throws. */
  keep(name: string, bytes: Uint8Array): void;
  /** Writes pending copies, so that other processes see them. Never throws. */
  write?(): void;
  /** Remembered times until which objects are protected, where such a memory exists. */
  readonly protection?: ProtectionMemory;
}

/** This machine's memory of when the protection of objects ends, in milliseconds of the storage's clock. */
export interface ProtectionMemory {
  /** The earliest time at which the object's protection may end; undefined when nothing is known. Never throws. */
  untilMs(key: string): number | undefined;
  /** Never throws: an entry that is lost is determined anew. */
  note(untilMs: ReadonlyMap<string, number>): void;
}

export const NO_CACHE: MetadataCache = { read: () => undefined, keep: () => {} };

/**
 * An object whose name ends in its SHA-256, from the cache or else from the destination.
 * @param folder with its slash: `snapshots/`
 * @throws {DestinationError}
 */
export async function getNamed(
  { destination, cache }: { readonly destination: Destination; readonly cache: MetadataCache },
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
