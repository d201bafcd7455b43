/** What is to be sealed anew because it is sealed under an old generation of keys. */
import { isFull, storeKey } from '../../base/stored-by.ts';
import { CIPHER_PLAIN } from '../../format/header.ts';
import { oldGenerations, writeOnlyInUse } from '../keys/keys.ts';
import type { LiveSession } from '../live-sessions.ts';
import type { PackFate } from '../prune/prune-plan.ts';
import type { PruneStock } from '../prune/prune-stock.ts';
import type { Repository } from '../repository.ts';
import type { Snapshot } from '../snapshots.ts';
import { isOfUnsound, type Tombstone } from '../tombstones.ts';

/** Plain data, for people to read. */
export interface RekeyPlan {
  /** The generation that everything is sealed under afterwards. */
  readonly generation: number;
  /** Hold something that a snapshot needs and that no newer pack holds: it is copied, then they get a tombstone. */
  readonly packs: readonly PackFate[];
  /** Nothing needs them, or what they hold is in newer packs already: they only get a tombstone. */
  readonly dead: readonly PackFate[];
  /** May belong to a backup at work; for a later run. */
  readonly young: readonly PackFate[];
  /**
   * Stored with write-only keys that are in use: those machines find their chunks nowhere else, and would store them
   * again. They are left as they are until the key is removed, or nothing needs them any more.
   */
  readonly writeOnly: readonly PackFate[];
  /** Packs whose content is unknown; they are left alone. */
  readonly unreadable: readonly string[];
  /** Are stored again under a new id. */
  readonly snapshots: readonly Snapshot[];
  /** A backup at work may build on them; for a later run. */
  readonly postponed: readonly Snapshot[];
  /** Of snapshots whose objects are gone: what they say is written into a new one. */
  readonly tombstones: readonly Tombstone[];
  readonly sessions: readonly LiveSession[];
}

/** @param stock taken with the current generation preferred, so that what was copied before counts as dead */
export function decideRekey(repository: Repository, stock: PruneStock): RekeyPlan {
  const { sessions, snapshots, doubtful, nowMs } = stock;
  const old = new Set(oldGenerations(repository));
  // A session that began after the leases were read can only have stored packs since then.
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
    // It stays until the other pack with damage, which what it holds is read from, could be copied.
    if (liveBytes > 0 && locatedBytes === 0) continue;
    if (liveBytes > 0 && inUse.has(sealedBy)) fates.writeOnly.push(fate);
    else if (liveBytes > 0) (storedMs >= youngMs ? fates.young : fates.packs).push(fate);
    else if (!marked) (storedMs >= youngMs || doubtful.has(sealedBy) ? fates.young : fates.dead).push(fate);
  }
  // Nobody vouches for what lacks something, as whoever stores a snapshot again does.
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

/** The newest snapshot of each host and set of paths, by who stored it: the one that a backup compares with. */
function newestIds(live: readonly Snapshot[]): ReadonlySet<string> {
  const newest = new Map<string, string>();
  for (const { id, record, storedBy } of live) {
    newest.set(JSON.stringify([storeKey(storedBy), record.host, [...record.paths].sort()]), id);
  }
  return new Set(newest.values());
}

/** Others are needed as they are until a prune has deleted what they name; that a pack holds damage is said again. */
function finishedUnder(old: ReadonlySet<number>, { snapshots, packs }: PruneStock): Tombstone[] {
  const stored = new Set([...snapshots.live.map(({ id }) => id), ...snapshots.forgotten, ...packs.keys()]);
  return snapshots.tombstones.all.filter(
    ({ generation, record }) =>
      old.has(generation) && (isOfUnsound(record) || !record.names.some((name) => stored.has(name))),
  );
}
