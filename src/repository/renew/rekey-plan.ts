/** Decides what has to be sealed anew because it is sealed under an old key generation. */
import { isFull, storeKey } from '../../base/stored-by.ts';
import { CIPHER_PLAIN } from '../../format/header.ts';
import { oldGenerations, writeOnlyInUse } from '../keys/keys.ts';
import type { LiveSession } from '../live-sessions.ts';
import type { PackFate } from '../prune/prune-plan.ts';
import type { PruneStock } from '../prune/prune-stock.ts';
import type { Repository } from '../repository.ts';
import type { Snapshot } from '../snapshots.ts';
import { isOfUnsound, type Tombstone } from '../tombstones.ts';

/** Plain data that can be shown to the user. */
export interface RekeyPlan {
  /** The generation under which everything is sealed afterwards. */
  readonly generation: number;
  /**
   * Packs with chunks that a snapshot needs and that no newer pack holds: they are copied, then the packs get a
   * tombstone.
   */
  readonly packs: readonly PackFate[];
  /** Packs that nothing needs, or whose content is in newer packs already: they only get a tombstone. */
  readonly dead: readonly PackFate[];
  /** Packs that may belong to a backup at work; left to a later run. */
  readonly young: readonly PackFate[];
  /**
   * Packs of write-only keys in use: those machines can find their chunks nowhere else, and would store them again.
   * Such packs stay as they are until the key is removed or nothing needs them any more.
   */
  readonly writeOnly: readonly PackFate[];
  /** Packs whose content is unknown; they are left alone. */
  readonly unreadable: readonly string[];
  /** Snapshots that are stored again under a new id. */
  readonly snapshots: readonly Snapshot[];
  /** Snapshots on which a backup at work may build; left to a later run. */
  readonly postponed: readonly Snapshot[];
  /** Tombstones whose named objects are all gone: their statements are repeated in a new tombstone. */
  readonly tombstones: readonly Tombstone[];
  readonly sessions: readonly LiveSession[];
}

/** @param stock taken with the current generation preferred, so that packs whose chunks were copied earlier count as dead */
export function decideRekey(repository: Repository, stock: PruneStock): RekeyPlan {
  const { sessions, snapshots, doubtful, nowMs } = stock;
  const old = new Set(oldGenerations(repository));
  // A session that began after the leases were read has stored its packs since then.
  const youngMs = Math.min(nowMs, ...sessions.map(({ startedMs }) => startedMs));
  const generationOf = new Map(
    stock.index.packs.map(({ name, cipher, generation }) => [
      name,
      cipher === CIPHER_PLAIN ? undefined : generation,
    ]),
  );
  const inUse = writeOnlyInUse(repository.keyring);
  const fates = {
    packs: new Array<PackFate>(),
    dead: new Array<PackFate>(),
    young: new Array<PackFate>(),
    writeOnly: new Array<PackFate>(),
  };
  for (const pack of stock.packs.values()) {
    const { name, bytes, liveBytes, locatedBytes, rawBytes, storedMs, readable, sealedBy } = pack;
    const generation = generationOf.get(name);
    if (!readable || generation === undefined || !old.has(generation)) continue;
    const fate = { name, bytes, liveBytes, rawBytes };
    const marked = snapshots.tombstones.packs.has(name);
    // The chunks are read from another damaged pack; this one stays until that one has been copied.
    if (liveBytes > 0 && locatedBytes === 0) continue;
    if (liveBytes > 0 && inUse.has(sealedBy)) fates.writeOnly.push(fate);
    else if (liveBytes > 0) (storedMs >= youngMs ? fates.young : fates.packs).push(fate);
    else if (!marked) (storedMs >= youngMs || doubtful.has(sealedBy) ? fates.young : fates.dead).push(fate);
  }
  // A snapshot with missing chunks is not stored again, since the host that does so would vouch for it.
  const outdated = snapshots.live.filter(
    ({ generation, storedBy }) => old.has(generation) && (isFull(storedBy) || !doubtful.has(storedBy.number)),
  );
  const parents = sessions.length === 0 ? new Set<string>() : newestIds(snapshots.live);
  return {
    generation: repository.keys.generation,
    ...fates,
    unreadable: [...stock.packs.values()].filter(({ readable }) => !readable).map(({ name }) => name),
    snapshots: outdated.filter(({ id }) => !parents.has(id)),
    postponed: outdated.filter(({ id }) => parents.has(id)),
    tombstones: finishedUnder(old, stock),
    sessions,
  };
}

/** Ids of the newest snapshot for each host, set of paths and storing key: the one with which a backup compares. */
function newestIds(live: readonly Snapshot[]): ReadonlySet<string> {
  const newest = new Map<string, string>();
  for (const { id, record, storedBy } of live) {
    newest.set(JSON.stringify([storeKey(storedBy), record.host, [...record.paths].sort()]), id);
  }
  return new Set(newest.values());
}

/**
 * Tombstones to replace: those whose named objects are all gone, and marks of damage, which are repeated. Others are
 * needed until a prune has deleted what they name.
 */
function finishedUnder(old: ReadonlySet<number>, { snapshots, packs }: PruneStock): Tombstone[] {
  const stored = new Set([...snapshots.live.map(({ id }) => id), ...snapshots.forgotten, ...packs.keys()]);
  return snapshots.tombstones.all.filter(
    ({ generation, record }) =>
      old.has(generation) && (isOfUnsound(record) || !record.names.some((name) => stored.has(name))),
  );
}
