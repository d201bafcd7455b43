/**
 * Finds planted objects: what the administrator signed for another place and the holder of a write-only key sealed
 * again, leases by such a holder, and objects that anyone with permission to add some can put in the way. None has an
 * effect, and `recover` removes them.
 */
import { RepositoryError } from '../../base/errors.ts';
import { unknownGeneration } from '../../codec/keys.ts';
import { openConfig, usableConfig } from '../configuration.ts';
import { generationOfObject } from '../keys/generations.ts';
import { isUnusable } from '../slots/key-files.ts';
import { openRing } from '../slots/key-slots.ts';
import { knownSlots, oldGenerations } from '../keys/keys.ts';
import { leaseKey, listLeases } from '../lease-objects.ts';
import { listNumbered } from '../objects/listing.ts';
import { mapParallel } from '../objects/parallel.ts';
import type { Repository } from '../repository.ts';
import { copyKey, listCopied } from '../objects/second-copies.ts';
import { decodeSlot } from '../slots/slot-file.ts';

/**
 * Keys of objects in the place of configurations, rings and slots that are none, and of session leases under old keys.
 * A backup that is at work stores its next lease within a minute.
 */
export async function plantedKeys(repository: Repository, signal: AbortSignal): Promise<readonly string[]> {
  await repository.followRing(signal);
  return [
    ...(await plantedConfigs(repository, signal)),
    ...(await plantedRings(repository, signal)),
    ...(await plantedSlots(repository, signal)),
    ...(await outdatedSessions(repository, signal)),
  ];
}

async function plantedConfigs(repository: Repository, signal: AbortSignal): Promise<readonly string[]> {
  const { destination, keyring, keys } = repository;
  const { number: inForce, bound } = await usableConfig(repository, signal);
  // Without any bound configuration, genuine ones cannot be told from planted ones.
  if (!bound) return [];
  let firstBound = inForce;
  const copied = await listCopied(destination, 'config/', signal);
  const listed = (await listNumbered(destination, 'config/', signal)).map((n) => `config/${n}`);
  const unbound = new Set<number>();
  const isConfig = (bytes: Buffer, n: number): boolean => {
    const isBound = openConfig(keyring, keys, bytes, n).bound;
    if (isBound) firstBound = Math.min(firstBound, n);
    else unbound.add(n);
    return true;
  };
  const all = [...listed, ...copied.map(copyKey)].filter((key) => numberIn(key) !== inForce);
  const none = new Set(await thatAreNone(repository, all, isConfig, signal));
  return all.filter((key) => none.has(key) || (unbound.has(numberIn(key)) && numberIn(key) > firstBound));
}

async function plantedRings(repository: Repository, signal: AbortSignal): Promise<readonly string[]> {
  const { destination, slot, ringNumber } = repository;
  const copied = await listCopied(destination, 'keys/ring-', signal);
  const listed = (await listNumbered(destination, 'keys/ring-', signal)).map((n) => `keys/ring-${n}`);
  const all = [...listed, ...copied.map(copyKey)].filter((key) => numberIn(key) !== ringNumber);
  const isRing = (bytes: Buffer, n: number): boolean => openRing(bytes, n, slot).generations.length > 0;
  return await thatAreNone(repository, all, isRing, signal);
}

/** A valid slot of this repository is left alone, since another host may just be adding that key. */
async function plantedSlots(repository: Repository, signal: AbortSignal): Promise<readonly string[]> {
  const { destination, keyring } = repository;
  const known = new Set(knownSlots(keyring).map(({ slot }) => `keys/${slot}`));
  const listed: string[] = [];
  for await (const page of destination.list('keys/', signal)) listed.push(...page.map(({ key }) => key));
  const copied = await listCopied(destination, 'keys/', signal);
  const strange = [...listed, ...copied.map(copyKey)].filter(
    (key) => /^(copies\/)?keys\/[0-9a-f]{32}$/.test(key) && !known.has(key.replace('copies/', '')),
  );
  const isSlot = (bytes: Buffer): boolean =>
    decodeSlot(bytes, 'a key slot').repository.equals(keyring.repository);
  return await thatAreNone(repository, strange, isSlot, signal);
}

function numberIn(key: string): number {
  return Number(/\d+$/.exec(key)?.[0] ?? 0);
}

async function thatAreNone(
  { destination, keys }: Repository,
  candidates: readonly string[],
  isOne: (bytes: Buffer, n: number) => boolean,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const none = await mapParallel(candidates, destination.properties.maxParallel, async (key) => {
    try {
      return !isOne(await destination.get(key, undefined, signal), numberIn(key));
    } catch (error) {
      // Objects by a newer program, for another slot, or under keys made a moment ago are left alone.
      const isOfNewerKeys = (unknownGeneration(error) ?? 0) > keys.generation;
      if (error instanceof RepositoryError && (isOfNewerKeys || !isUnusable(error))) return false;
      if (isUnusable(error)) return error instanceof RepositoryError;
      throw error;
    }
  });
  return candidates.filter((_, at) => none[at]);
}

async function outdatedSessions(repository: Repository, signal: AbortSignal): Promise<readonly string[]> {
  const old = oldGenerations(repository);
  const leases = await listLeases(repository, 'leases/session.', signal);
  const keys = leases.map(({ purpose, epoch }) => leaseKey(purpose, epoch));
  const { maxParallel } = repository.destination.properties;
  const generations = await mapParallel(
    keys,
    maxParallel,
    async (key) => await generationOfObject(repository, key, signal),
  );
  return keys.filter((_, at) => old.includes(generations[at] ?? 0));
}
