import { hostname } from 'node:os';
import { isAlive } from '../../base/alive.ts';
import { DestinationError, RepositoryError } from '../../base/errors.ts';
import { LEASE_TIMES, isDead, leaseKey, listLeases, probeStorageClock } from '../lease-objects.ts';
import { renewConfig } from '../configuration.ts';
import { deleteIfAllowed } from '../objects/objects.ts';
import { keepCopies } from '../keys/keep-copies.ts';
import type { Lease } from '../lease.ts';
import { acquirePruneLease } from '../take-lease.ts';
import { listNamed } from '../objects/listing.ts';
import { indexUncovered, rewriteIndex } from './prune-index.ts';
import {
  PRUNE_LIMITS,
  keepTo,
  planWith,
  resolveSettings,
  type PackFate,
  type PruneOptions,
  type PrunePlan,
  type PruneSettings,
} from './prune-plan.ts';
import { ProtectedObjects, type ProtectedPart } from './prune-protected.ts';
import { repack, type RepackResult } from './prune-repack.ts';
import { stillHolds, takeStock, type PruneStock } from './prune-stock.ts';
import { TombstoneWriter, finishedTombstones } from './prune-tombstones.ts';
import type { LiveSession } from '../live-sessions.ts';
import type { Repository } from '../repository.ts';
import { keepReserve, withReserve } from '../reserve.ts';
import { highestFence, readTombstones } from '../tombstones.ts';

export type PrunePhase = 'analysing' | 'removing' | 'repacking' | 'marking';

/** Receives the progress of a prune. Calls must be cheap and must not throw. */
export interface PruneObserver {
  phase(phase: PrunePhase): void;
  /** A pack was deleted. */
  removed(done: { readonly packs: number; readonly bytes: number }): void;
}

export const SILENT_PRUNE: PruneObserver = { phase: () => {}, removed: () => {} };

export interface PruneResult {
  /** The plan that was carried out, as made from the first look at the lists. */
  readonly plan: PrunePlan;
  readonly markedPacks: number;
  readonly markedBytes: number;
  readonly removedPacks: number;
  readonly removedBytes: number;
  readonly removedSnapshots: number;
  readonly revivedPacks: number;
  readonly repack: RepackResult;
  /** Objects that the storage refused to delete for now; undefined when there were none. */
  readonly protected: ProtectedPart | undefined;
  /** Whether the storage keeps deleted objects as hidden versions, so that their space is not free yet. */
  readonly keptByStore: boolean;
}

/** What prune would do now. Writes nothing but a probe of the storage's clock. */
export async function planPrune(
  repository: Repository,
  options: PruneOptions,
  signal: AbortSignal,
): Promise<PrunePlan> {
  const settings = resolveSettings(repository, options);
  const nowMs = await storageClockIfWritable(repository, signal);
  return await planWith(repository, await takeStock(repository, nowMs, signal), settings, signal);
}

/** A plan alone changes nothing, so on a full or read-only storage this machine's clock is good enough. */
async function storageClockIfWritable(repository: Repository, signal: AbortSignal): Promise<number> {
  try {
    return await probeStorageClock(repository, signal);
  } catch (error) {
    if (!(error instanceof DestinationError) || signal.aborted) throw error;
    return repository.clock.now();
  }
}

/**
 * Removes what no snapshot needs, without stopping backups: packs that are not needed are marked, and packs that were
 * marked for longer than the grace period and are still not needed are deleted. All lists are read and all trees
 * followed again first, so that an outdated plan does no harm; nothing is marked or deleted that the plan does not
 * name.
 *
 * @throws {RepositoryError} REPOSITORY_LOCKED, REFUSED, CORRUPT_DATA
 * @throws {DestinationError}
 */
export async function executePrune(
  repository: Repository,
  plan: PrunePlan,
  observer: PruneObserver,
  signal: AbortSignal,
): Promise<PruneResult> {
  if (plan.repository !== repository.id) {
    throw new RepositoryError('REFUSED', 'This plan was made for another repository');
  }
  return await pruneUnderLease(repository, plan.settings, (fresh) => keepTo(plan, fresh), observer, signal);
}

/** Plans and prunes in one step, following the trees once. */
export async function prune(
  repository: Repository,
  options: PruneOptions,
  observer: PruneObserver,
  signal: AbortSignal,
): Promise<PruneResult> {
  const settings = resolveSettings(repository, options);
  return await pruneUnderLease(repository, settings, (fresh) => fresh, observer, signal);
}

async function pruneUnderLease(
  repository: Repository,
  settings: PruneSettings,
  restrict: (fresh: PrunePlan) => PrunePlan,
  observer: PruneObserver,
  signal: AbortSignal,
): Promise<PruneResult> {
  const removed = { packs: 0, bytes: 0, snapshots: 0 };
  const run = async (isScarce: boolean): Promise<PruneResult> => {
    // Repacking takes space before it frees any.
    const within = isScarce ? { ...settings, maxRepackBytes: 0 } : settings;
    const work = async (lease: Lease, held: AbortSignal): Promise<PruneResult> =>
      await new PruneRun(repository, within, lease, observer, removed, held).all(restrict);
    return await withPruneLease(repository, work, signal);
  };
  return await withReserve(repository, run, signal);
}

/** Totals over all attempts. */
interface Removed {
  packs: number;
  bytes: number;
  snapshots: number;
}

/**
 * Runs `work` with the right to prune, which only one process at a time has. The signal that it gets aborts when the
 * right is lost.
 * @throws {RepositoryError} REFUSED on hosts that may not remove anything; REPOSITORY_LOCKED
 */
export async function withPruneLease<T>(
  repository: Repository,
  work: (lease: Lease, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  requireRights(repository);
  const floor = highestFence(await readTombstones(repository, signal));
  const lost = new AbortController();
  const onLost = (error: Error): void => lost.abort(error);
  await using lease = await acquirePruneLease(repository, { floor, onLost }, signal);
  return await work(lease, AbortSignal.any([signal, lost.signal]));
}

function requireRights(repository: Repository): void {
  if (!repository.destination.properties.canDelete) {
    throw new RepositoryError('REFUSED', 'Nothing can be deleted at this destination', {
      hint: 'Prune with credentials that can delete.',
    });
  }
  // On hosts that may only append, this throws with an explanation.
  repository.sign('hf1/tomb', Buffer.alloc(0));
}

interface Planned {
  readonly stock: PruneStock;
  readonly plan: PrunePlan;
}

class PruneRun {
  readonly #repository: Repository;
  readonly #settings: PruneSettings;
  readonly #lease: Lease;
  readonly #observer: PruneObserver;
  readonly #signal: AbortSignal;
  /** Storage time and monotonic time of one moment. */
  readonly #anchor: { readonly storageMs: number; readonly monotonicMs: number };
  /** Names of the objects that this run has deleted. */
  readonly #gone = new Set<string>();
  /** Names of the tombstones that this run has written. */
  readonly #written = new Set<string>();
  readonly #protected: ProtectedObjects;
  readonly #removed: Removed;

  constructor(
    repository: Repository,
    settings: PruneSettings,
    lease: Lease,
    observer: PruneObserver,
    removed: Removed,
    signal: AbortSignal,
  ) {
    this.#repository = repository;
    this.#settings = settings;
    this.#lease = lease;
    this.#observer = observer;
    this.#removed = removed;
    this.#signal = signal;
    this.#protected = new ProtectedObjects(repository);
    this.#anchor = { storageMs: lease.storageMs, monotonicMs: lease.monotonicMs };
  }

  async all(restrict: (fresh: PrunePlan) => PrunePlan): Promise<PruneResult> {
    const first = await this.#plan(restrict);
    const { plan, stock } = first;
    const leaving = new Set([...plan.remove, ...plan.mark, ...plan.repack].map(({ name }) => name));
    await indexUncovered(this.#repository, stock, leaving, this.#held, this.#signal);
    await this.#revive(first);
    await this.#remove(first);
    this.#observer.phase('repacking');
    const repacked = await this.#repack(first);
    this.#observer.phase('marking');
    const marked = [...plan.mark, ...repacked.done];
    const names = marked.map(({ name }) => name);
    await this.#writer(stock).write('packs', names, 'not needed', this.#signal);
    if (this.#settings.graceSeconds === 0 && names.length > 0) await this.#removeMarked(names);
    await this.#clearDeadLeases();
    await this.#held(this.#signal);
    await renewConfig(this.#repository, [], this.#signal);
    await keepCopies(this.#repository, this.#signal);
    await this.#repository.destination.removeLeftovers?.(this.#signal);
    const indexBytes = [...stock.indexObjects.values()].reduce((sum, { size }) => sum + size, 0);
    await keepReserve(this.#repository, indexBytes, this.#signal);
    return {
      plan,
      markedPacks: marked.length,
      markedBytes: marked.reduce((sum, { bytes }) => sum + bytes, 0),
      removedPacks: this.#removed.packs,
      removedBytes: this.#removed.bytes,
      removedSnapshots: this.#removed.snapshots,
      revivedPacks: plan.revive.length,
      repack: repacked,
      protected: this.#protected.found,
      keptByStore: this.#repository.destination.properties.keepsDeleted === 'hidden',
    };
  }

  /** Takes stock until the lists do not change between stock-taking and decision, or the tries are used up. */
  async #plan(restrict: (fresh: PrunePlan) => PrunePlan): Promise<Planned> {
    this.#observer.phase('analysing');
    for (let tries = 1; ; tries += 1) {
      const nowMs = await this.#storageNow();
      const stock = await takeStock(this.#repository, nowMs, this.#signal);
      this.#requireAlone(stock);
      const holds = await this.#stillHolds(stock);
      if (holds || (tries >= PRUNE_LIMITS.stockTries && !this.#settings.noOtherWriters))
        return {
          stock,
          plan: restrict(await planWith(this.#repository, stock, this.#settings, this.#signal)),
        };
      if (tries === PRUNE_LIMITS.stockTries) {
        throw new RepositoryError('REPOSITORY_LOCKED', 'Snapshots were added while prune was running', {
          hint: 'Make sure that no other machine writes, or prune with the usual grace period.',
          retry: 'later',
        });
      }
    }
  }

  async #revive({ stock, plan }: Planned): Promise<void> {
    if (plan.revive.length === 0) return;
    const { all } = stock.snapshots.tombstones;
    await this.#writer(stock).revive(new Set(plan.revive.map(({ name }) => name)), all, this.#signal);
    for (const { name, record } of all) {
      if (record.kind === 'packs' && plan.revive.some((pack) => record.names.includes(pack.name)))
        this.#gone.add(name);
    }
  }

  /** Deletes what was marked long enough ago. */
  async #remove({ stock, plan }: Planned): Promise<void> {
    this.#observer.phase('removing');
    const signal = this.#signal;
    const doomed = new Set(plan.remove.map(({ name }) => name));
    const index = await rewriteIndex(this.#repository, doomed, this.#held, signal);
    const doomedStill = await this.#stillDoomed(stock, plan);
    // Forgotten snapshots go before their data: a stored snapshot must never lack data.
    for (const id of plan.removeSnapshots) {
      await this.#held(signal);
      if (!(await this.#protected.removeSnapshot(id, signal))) continue;
      this.#gone.add(id);
      this.#removed.snapshots += 1;
    }
    for (const pack of await this.#protected.removable(stock, doomedStill, signal)) {
      await this.#held(signal);
      if (!(await this.#protected.removePack(pack, signal))) continue;
      const { name, bytes } = pack;
      this.#gone.add(name);
      this.#removed.packs += 1;
      this.#removed.bytes += bytes;
      this.#observer.removed({ packs: 1, bytes });
    }
    await this.#deleteIndex(index.superseded);
    // Other hosts may have listed these objects before they were superseded, and may be about to read them; the next
    // prune deletes them.
    if (this.#settings.noOtherWriters) await this.#deleteIndex(index.replaced);
    await this.#retireTombstones(stock);
  }

  /** Looks once more before packs are deleted: those that have become needed since stock was taken stay. */
  async #stillDoomed(stock: PruneStock, plan: PrunePlan): Promise<readonly PackFate[]> {
    await this.#storageNow();
    if (await this.#stillHolds(stock)) return plan.remove;
    const fresh = await this.#plan((now) => keepTo(plan, now));
    return fresh.plan.remove;
  }

  async #retireTombstones(stock: PruneStock): Promise<void> {
    const { destination } = this.#repository;
    const packs = await listNamed(destination, 'packs/', this.#signal);
    const snapshots = await listNamed(destination, 'snapshots/', this.#signal);
    const current = stock.snapshots.tombstones.all.filter(({ name }) => !this.#gone.has(name));
    const finished = finishedTombstones(current, packs, snapshots);
    await this.#writer(stock).retire(finished, this.#signal, true);
    for (const { name } of finished) this.#gone.add(name);
  }

  async #repack({ stock, plan }: Planned): Promise<RepackResult> {
    if (plan.repack.length === 0) return { done: [], skipped: [], newPacks: [], writtenBytes: 0 };
    return await repack(this.#repository, stock, plan.repack, this.#held, this.#signal);
  }

  /** For a grace period of zero: takes stock again and deletes what was just marked. */
  async #removeMarked(names: readonly string[]): Promise<void> {
    const marked = new Set(names);
    const next = await this.#plan((fresh) => ({
      ...fresh,
      remove: fresh.remove.filter(({ name }) => marked.has(name)),
      removeSnapshots: [],
    }));
    await this.#revive(next);
    await this.#remove(next);
  }

  /** Removes the leases of processes that died. */
  async #clearDeadLeases(): Promise<void> {
    const nowMs = this.#lease.storageMs;
    for (const lease of await listLeases(this.#repository, 'leases/', this.#signal)) {
      if (!isDead(this.#repository, lease, nowMs)) continue;
      await deleteIfAllowed(this.#repository, leaseKey(lease.purpose, lease.epoch), this.#signal);
    }
  }

  async #deleteIndex(names: readonly string[]): Promise<void> {
    for (const name of names) {
      await this.#held(this.#signal);
      await deleteIfAllowed(this.#repository, `index/${name}`, this.#signal);
    }
  }

  async #stillHolds(stock: PruneStock): Promise<boolean> {
    const own = { gone: this.#gone, written: this.#written };
    return await stillHolds(this.#repository, stock, own, this.#signal);
  }

  /** Call this before every write: what was seen of the repository is valid only while this machine stays awake. */
  readonly #held = async (signal: AbortSignal): Promise<void> => {
    await this.#lease.assertHeld(signal);
    this.#requireAwake();
  };

  #writer(stock: PruneStock): TombstoneWriter {
    return new TombstoneWriter(this.#repository, this.#lease, stock.snapshots, this.#written, this.#held);
  }

  /** The storage's present time; throws when its clock has jumped. */
  async #storageNow(): Promise<number> {
    const nowMs = await this.#lease.renew(this.#signal);
    this.#requireAwake();
    return nowMs;
  }

  /**
   * @throws {RepositoryError} REFUSED when the storage's clock and this machine's have advanced differently;
   * REPOSITORY_LOCKED when this process was held up for so long that another could have taken its right
   */
  #requireAwake(): void {
    const { storageMs, monotonicMs, longestSilenceMs } = this.#lease;
    const awakeMs = monotonicMs - this.#anchor.monotonicMs;
    if (Math.abs(storageMs - this.#anchor.storageMs - awakeMs) > PRUNE_LIMITS.clockJump) {
      throw new RepositoryError(
        'REFUSED',
        'The clock of the destination jumped, or this machine was asleep',
        {
          hint: 'Nothing was removed because of it. Prune again; if it happens again, set the clock of the storage.',
          retry: 'later',
        },
      );
    }
    if (longestSilenceMs <= LEASE_TIMES.expiry) return;
    const message = `This prune stood still for ${Math.round(longestSilenceMs / 1_000)} s, so what it knows of the repository is out of date`;
    throw new RepositoryError('REPOSITORY_LOCKED', message, {
      hint: 'Nothing was removed because of it. Prune again.',
      retry: 'later',
    });
  }

  /** @throws {RepositoryError} REPOSITORY_LOCKED when the caller vouched that nobody else writes, but a backup is at work */
  #requireAlone({ sessions }: PruneStock): void {
    const other = sessions[0];
    if (other === undefined || !this.#settings.noOtherWriters) return;
    const who = other.host === '' ? 'somewhere' : `on ${other.host} (process ${other.pid})`;
    const message = hasEnded(other) ? `A backup ${who} ended unexpectedly` : `A backup is running ${who}`;
    throw new RepositoryError('REPOSITORY_LOCKED', message, {
      hint: 'Wait for it to finish, or prune with the usual grace period. A process that died no longer counts five minutes after its last sign of life.',
      retry: 'later',
    });
  }
}

/**
 * Whether the process was on this machine and is there no longer. That is said and nothing else: another machine may
 * have the same name, so its lease still counts until it expires.
 */
function hasEnded({ host, pid }: LiveSession): boolean {
  return host === hostname() && !isAlive(pid);
}
