/**
 * Handles objects under a retired key generation that the storage has brought back, because their deletion was undone
 * or they arrived late. Nobody can read them, and nothing needs them.
 */
import { hasRetired, isRetired } from '../../format/keyring.ts';
import { headPlace, readNewestHeads } from '../chain.ts';
import { generationOfObject } from '../keys/generations.ts';
import { usableConfig } from '../configuration.ts';
import type { Lease } from '../lease.ts';
import { listNumbered, packKey } from '../objects/listing.ts';
import { mapParallel } from '../objects/parallel.ts';
import type { Repository } from '../repository.ts';
import { listSnapshots } from '../snapshots.ts';
import { BEYOND_BELIEF, chainView } from '../chain-view.ts';
import { highestNumbers } from '../chains/verify-chains.ts';

/**
 * Deletes returned heads, configurations and tombstones; prune takes care of everything else. A head is deleted when
 * its number is known without it, a tombstone when another one names it.
 */
export async function removeReturned(
  repository: Repository,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  if (!hasRetired(repository.keyring)) return;
  const { destination } = repository;
  const keys = [
    ...(await needlessHeads(repository, signal)),
    ...(await otherConfigs(repository, signal)),
    ...(await namedTombstones(repository, signal)),
  ];
  for (const key of await underRetired(repository, keys, signal)) {
    await lease.assertHeld(signal);
    await destination.delete(key, signal);
  }
}

/** The packs among `names` that are sealed under a retired generation. */
export async function returnedPacks(
  repository: Repository,
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (!hasRetired(repository.keyring)) return new Set();
  const returned = new Set(await underRetired(repository, names.map(packKey), signal));
  return new Set(names.filter((name) => returned.has(packKey(name))));
}

async function underRetired(
  repository: Repository,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const generations = await mapParallel(
    keys,
    repository.destination.properties.maxParallel,
    async (key) => await generationOfObject(repository, key, signal),
  );
  return keys.filter((_, n) => {
    const generation = generations[n];
    return generation !== undefined && isRetired(repository.keyring, generation);
  });
}

/**
 * Keys of the heads whose number is known without them, or that cannot be believed. The newest readable head of each
 * writer is left out.
 */
export async function needlessHeads(repository: Repository, signal: AbortSignal): Promise<readonly string[]> {
  const heads = await readNewestHeads(repository, signal);
  const readable = heads.filter(({ record }) => record !== undefined);
  const highest = highestNumbers(
    chainView(repository, await listSnapshots(repository, signal), [], readable),
  );
  const newest = new Map(readable.map(({ chain }) => [chain.writer, chain.seq]));
  const keys: string[] = [];
  for await (const page of repository.destination.list('heads/', signal))
    for (const { key } of page) {
      const place = headPlace(key);
      if (place === undefined || newest.get(place.writer) === place.seq) continue;
      const known = highest.get(place.writer) ?? 0;
      const isStrange = known === 0 && repository.writer.memory.heads[place.writer] === undefined;
      if (isStrange || place.seq <= known || place.seq > known + BEYOND_BELIEF) keys.push(key);
    }
  return keys;
}

async function otherConfigs(repository: Repository, signal: AbortSignal): Promise<readonly string[]> {
  const { number: inForce } = await usableConfig(repository, signal);
  const numbers = await listNumbered(repository.destination, 'config/', signal);
  return numbers.filter((n) => n !== inForce).map((n) => `config/${n}`);
}

async function namedTombstones(repository: Repository, signal: AbortSignal): Promise<readonly string[]> {
  const { tombstones } = await listSnapshots(repository, signal);
  const named = tombstones.ignored.filter(({ name }) => tombstones.snapshots.has(name));
  return named.map(({ name }) => `trash/${name}`);
}
