/**
 * Removes key generations from the keyring once nothing is sealed under them and nobody can seal anything more under
 * them.
 */
import { corrupt } from '../../base/errors.ts';
import { CIPHER_PLAIN } from '../../format/header.ts';
import { encodeKeyring, hasRetired } from '../../format/keyring.ts';
import { readNewestHeads } from '../chain.ts';
import { usableConfig } from '../configuration.ts';
import { generationOfObject, isUnused, surveyGenerations, type GenerationUse } from '../keys/generations.ts';
import { outdatedSinceMs, readRing } from '../generation-age.ts';
import { oldGenerations } from '../keys/keys.ts';
import { liveSessions } from '../live-sessions.ts';
import type { Lease } from '../lease.ts';
import { listNumbered } from '../objects/listing.ts';
import { mapParallel } from '../objects/parallel.ts';
import type { PruneStock } from '../prune/prune-stock.ts';
import type { Repository } from '../repository.ts';
import { replaceRing } from '../keys/replace-ring.ts';
import { deleteTwice } from '../objects/second-copies.ts';
import { listSnapshots } from '../snapshots.ts';
import { putTombstone } from '../put-tombstone.ts';

/**
 * `retired`: the generation is gone from the keyring. Otherwise why it stays. `in use`: something is sealed under it;
 * `backup at work`: a backup may still seal something; `grace period`: a backup that fell asleep before the rotation
 * may.
 */
export interface Retirement {
  readonly generation: number;
  readonly outcome: 'retired' | 'in use' | 'backup at work' | 'grace period';
}

/**
 * How many rings must have the keyring in force before older ones are deleted: a single damaged ring must not lock
 * everybody out.
 */
const RINGS_KEPT = 2;

/**
 * Retires every old generation that nothing uses any more. A backup that began with older keys learns of the new ones
 * from the tombstones that it reads before it commits, and begins again when its own generation is gone. So there must
 * be a tombstone under the current generation.
 *
 * @param stock taken in this run
 * @throws {RepositoryError} REPOSITORY_LOCKED
 * @throws {DestinationError}
 */
export async function retireGenerations(
  repository: Repository,
  stock: PruneStock,
  lease: Lease,
  signal: AbortSignal,
): Promise<readonly Retirement[]> {
  const old = oldGenerations(repository);
  if (!repository.destination.properties.canDelete) return [];
  if (old.length > 0) await removeOldHeads(repository, new Set(old), lease, signal);
  const uses = old.length === 0 ? [] : await surveyGenerations(repository, signal);
  const stocked = generationsIn(stock);
  const fates: Retirement[] = [];
  for (const use of uses) {
    if (use.state !== 'old') continue;
    const { generation } = use;
    const outcome = stocked.has(generation) ? 'in use' : await fateOf(repository, use, lease, signal);
    fates.push({ generation, outcome });
  }
  const retired = new Set(fates.filter(({ outcome }) => outcome === 'retired').map((one) => one.generation));
  if (retired.size > 0) {
    await removeOldConfigs(repository, retired, lease, signal);
    await announce(repository, uses, lease, signal);
    const generations = repository.keyring.generations.filter(({ g }) => !retired.has(g));
    await lease.assertHeld(signal);
    await replaceRing(repository, { ...repository.keyring, generations }, signal, lease);
  }
  await removeOldRings(repository, lease, signal);
  return fates;
}

/**
 * Generations of everything in the stock, in addition to the survey's own lists: a list that lacks an object must not
 * cost its key. The run that took the stock deletes none of it.
 */
function generationsIn({ index, snapshots }: PruneStock): ReadonlySet<number> {
  const packs = index.packs.filter(({ cipher }) => cipher !== CIPHER_PLAIN);
  return new Set([...packs, ...snapshots.live].map(({ generation }) => generation));
}

async function fateOf(
  repository: Repository,
  use: GenerationUse,
  lease: Lease,
  signal: AbortSignal,
): Promise<Retirement['outcome']> {
  // Older configurations are deleted together with their generation; the one in force is not.
  const { generation: inForce } = await usableConfig(repository, signal);
  // Only leases of living sessions keep a generation.
  if (inForce === use.generation || !isUnused({ ...use, configurations: 0, leases: 0 })) return 'in use';
  const nowMs = await lease.renew(signal);
  if ((await liveSessions(repository, nowMs, signal)).length > 0) return 'backup at work';
  const sinceMs = await outdatedSinceMs(repository, use.generation, signal);
  if (sinceMs === undefined)
    throw corrupt('keys/', `no keyring says since when generation ${use.generation} is an old one`);
  return sinceMs + repository.config.graceSeconds * 1_000 <= nowMs ? 'retired' : 'grace period';
}

/**
 * Removes heads under old generations that prove nothing beyond what newer heads or tombstones do: all but the newest
 * of each writer, and that one too when nothing else of the writer is left and a tombstone names its record.
 */
async function removeOldHeads(
  repository: Repository,
  old: ReadonlySet<number>,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const { destination } = repository;
  const newest = new Map(
    (await readNewestHeads(repository, signal)).map((head) => [
      `heads/${head.chain.writer}/${String(head.chain.seq).padStart(16, '0')}`,
      head,
    ]),
  );
  const { live, forgotten, damaged, tombstones } = await listSnapshots(repository, signal);
  const accounted = tombstones.snapshots;
  const writers = new Set([...live, ...tombstones.all].map(({ chain }) => chain.writer));
  const unknown = forgotten.length + damaged.length + tombstones.ignored.length > 0;
  const keys: string[] = [];
  for await (const page of destination.list('heads/', signal)) keys.push(...page.map(({ key }) => key));
  const removable = keys.filter((key) => {
    if (!/^heads\/[0-9a-f]{32}\/\d{16}$/.test(key)) return false;
    const head = newest.get(key);
    // A head that was stored after the newest ones were read stays.
    if (head === undefined)
      return [...newest.keys()].some((other) => other.startsWith(key.slice(0, -16)) && other > key);
    const isGone = !writers.has(head.chain.writer) && head.record !== undefined && accounted.has(head.record);
    return !unknown && isGone;
  });
  await mapParallel(removable, destination.properties.maxParallel, async (key) => {
    const generation = await generationOfObject(repository, key, signal);
    if (generation === undefined || !old.has(generation)) return;
    await lease.assertHeld(signal);
    await destination.delete(key, signal);
  });
}

/**
 * Removes configurations under retired generations. The one in force is under none of these, and higher numbers were
 * planted.
 */
async function removeOldConfigs(
  repository: Repository,
  retired: ReadonlySet<number>,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const { number: inForce } = await usableConfig(repository, signal);
  for (const n of await listNumbered(repository.destination, 'config/', signal)) {
    if (n === inForce) continue;
    const generation = await generationOfObject(repository, `config/${n}`, signal);
    if (generation === undefined || !retired.has(generation)) continue;
    await lease.assertHeld(signal);
    await deleteTwice(repository.destination, `config/${n}`, signal);
  }
}

/** Makes sure that there is a tombstone under the current generation. */
async function announce(
  repository: Repository,
  uses: readonly GenerationUse[],
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const current = uses.find(({ state }) => state === 'current');
  if (current !== undefined && current.tombstones > 0) return;
  const { live } = await listSnapshots(repository, signal);
  const own = live.filter(({ chain }) => chain.writer === repository.writer.memory.writer).length;
  const record = {
    kind: 'snapshots' as const,
    names: [],
    reason: 'newer keys',
    atMs: repository.clock.now(),
  };
  await putTombstone(repository, { ...record, fence: lease.epoch }, { live: own }, signal);
}

/** Deletes the rings that still have the key of a retired generation, including those that a run which died has left. */
async function removeOldRings(repository: Repository, lease: Lease, signal: AbortSignal): Promise<void> {
  if (!hasRetired(repository.keyring)) return;
  const { destination } = repository;
  const content = encodeKeyring(repository.keyring);
  let alike = 0;
  const others: number[] = [];
  for (const n of await listNumbered(destination, 'keys/ring-', signal)) {
    const keyring = await readRing(repository, n, signal);
    if (n > repository.ringNumber) continue;
    if (keyring !== undefined && encodeKeyring(keyring).equals(content)) alike += 1;
    // Rings that were sealed before this slot existed cannot be read, so they may have any key.
    else if (keyring?.generations.every(({ g }) => repository.keys.knows(g)) !== true) others.push(n);
  }
  if (others.length === 0) return;
  for (let stored = alike; stored < RINGS_KEPT; stored += 1) {
    await lease.assertHeld(signal);
    await replaceRing(repository, repository.keyring, signal, lease);
    const keyring = await readRing(repository, repository.ringNumber, signal);
    if (keyring === undefined || !encodeKeyring(keyring).equals(content))
      throw corrupt(`keys/ring-${repository.ringNumber}`, 'it does not read back as it was written');
  }
  for (const n of others) {
    await lease.assertHeld(signal);
    await deleteTwice(destination, `keys/ring-${n}`, signal);
  }
}
