import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { expand } from '../codec/kdf.ts';
import type { Destination } from '../destination/destination.ts';
import { FirstLook, type LookExtent } from '../repository/first-look.ts';
import type { Repository } from '../repository/repository.ts';
import { LedgerDatabase } from './ledger-database.ts';
import { openKeyCopies } from './key-copies.ts';
import { DEFAULT_CACHE_BYTES, MetadataDatabase } from './metadata-database.ts';

/** A repository whose metadata is read through this machine's cache, where that saves anything. */
export interface CachedRepository {
  readonly repository: Repository;
  /** Writes pending cache entries; the repository stays open. */
  close(): void;
}

/**
 * Opens the cache of a repository. A repository on this machine is its own cache. With a write-only key there is no
 * metadata to read, near or far; instead a ledger notes what this machine has stored.
 */
export function openCached(repository: Repository, stateDirectory: string, clock: Clock): CachedRepository {
  const { grantedTo } = repository.keyring;
  if (grantedTo !== undefined) {
    const path = join(stateDirectory, 'cache', `${repository.id}.write-only-${grantedTo}.db`);
    const ledger = new LedgerDatabase(path, clock);
    return { repository: repository.notedIn(ledger), close: () => ledger.close() };
  }
  if (!repository.destination.properties.remote) return { repository, close: () => {} };
  const cache = new MetadataDatabase({
    path: join(stateDirectory, 'cache', `${repository.id}.db`),
    key: expand(repository.keyring.idTree, 'hf1/cache', 32),
    limitBytes: DEFAULT_CACHE_BYTES,
    clock,
  });
  return { repository: repository.cachedBy(cache), close: () => cache.close() };
}

/**
 * The first look of a starting run at a far destination, with this machine's copies of its key files; undefined for a
 * destination on this machine.
 * @param location as it was given
 * @param extent undefined: no look, only the copies
 */
export function openLook(
  destination: Destination,
  location: string,
  extent: LookExtent | undefined,
  stateDirectory: string,
): FirstLook | undefined {
  if (!destination.properties.remote) return undefined;
  return new FirstLook(destination, extent, openKeyCopies(stateDirectory, location));
}
