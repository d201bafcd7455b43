import { DestinationError, RepositoryError } from '../../base/errors.ts';
import { LEASE_TIMES, isDead, leaseKey, listLeases, probeStorageClock } from '../lease-objects.ts';
import { renewConfig } from '../configuration.ts';
import { deleteIfAllowed } from '../delete-if-allowed.ts';
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
import type { Repository } from '../repository.ts';
import { keepReserve, withReserve } from '../reserve.ts';
import { highestFence, readTombstones } from '../tombstones.ts';

export type PrunePhase = 'analysing' | 'removing' | 'repacking' | 'marking';

/** Told what happens while prune runs; cheap calls, none may throw. */
export interface PruneObserver {
  phase(phase: PrunePhase): void;
  /** A pack was deleted. */
  removed(done: { readonly packs: number; readonly bytes: number }): void;
}

export const SILENT_PRUNE: PruneObserver = { phase: () => {}, removed: () => {} };

export interface PruneResult {
  /** What was done, when the lists were seen for the first time. */
  readonly plan: PrunePlan;
  readonly markedPacks: number;
  readonly markedBytes: number;
  readonly removedPacks: number;
  readonly removedBytes: number;
  readonly removedSnapshots: number;
  readonly revivedPacks: number;
  readonly repack: RepackResult;
  /** What the storage did not let go of yet; undefined when that was nothing. */
  readonly protected: ProtectedPart | undefined;
  /** The storage goes on keeping what was deleted, so that its room is not free yet. */
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

/** A plan alone changes nothing: on a disk that takes no writes, or is full, this machine's clock has to do. */
async function storageClockIfWritable(repository: Repository, signal: AbortSignal): Promise<number> {
  try {
    return await probeStorageClock(repository, signal);
  } catch (error) {
    if (!(error instanceof DestinationError) || signal.aborted) throw error;
    return repository.clock.now();
  }
}

/**
 * Removes what no snapshot needs, without stopping backups: what is not needed is marked; what was marked for longer
 * than the grace period and is still not needed is deleted. Every list is read again and every tree followed again
 * before, so that a plan that has aged does no harm; nothing is marked or deleted that the plan does not name.
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

/** Plans and prunes in one go, following the trees once. */
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
    // What is written anew takes room before it frees any.
    const within = isScarce ? { ...settings, maxRepackBytes: 0 } : settings;
    const work = async (lease: Lease, held: AbortSignal): Promise<PruneResult> =>
      await new PruneRun(repository, within, lease, observer, removed, held).all(restrict);
    return await withPruneLease(repository, work, signal);
  };
  return await withReserve(repository, run, signal);
}

/** Of all attempts. */
interface Removed {
  packs: number;
  bytes: number;
  snapshots: number;
}

/**
 * Runs `work` with the right to prune, which one process at a time has; its signal aborts when that is lost.
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
      hint: 'Prune with credentials that may delete.',
    });
  }
  // Signing fails, with a reason, on hosts that may only append.
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
  /** Storage time and monotonic time that belong together. */
  readonly #anchor: { readonly storageMs: number; readonly monotonicMs: number };
  /** Names of what this run has deleted itself. */
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

  /** Takes stock until nothing changes between the last look at the lists and the decision, within reason. */
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
        throw new RepositoryError('REPOSITORY_LOCKED', 'Snapshots are added while prune works', {
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
    // Forgotten snapshots before their data: one must never stand there without.
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
    // Others may have listed what was superseded only now and be about to read it; the next prune takes it.
    if (this.#settings.noOtherWriters) await this.#deleteIndex(index.replaced);
    await this.#retireTombstones(stock);
  }

  /** Looks once more before packs go: what has become needed since the stock was taken stays. */
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

  /** Without a grace period: takes stock once more and deletes what was just marked. */
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

  /** Leases of processes that died. */
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

  /** To be called before every write: what was seen of the repository counts only while this machine stays awake. */
  readonly #held = async (signal: AbortSignal): Promise<void> => {
    await this.#lease.assertHeld(signal);
    this.#requireAwake();
  };

  #writer(stock: PruneStock): TombstoneWriter {
    return new TombstoneWriter(this.#repository, this.#lease, stock.snapshots, this.#written, this.#held);
  }

  /** The storage's present time, when its clock has not jumped. */
  async #storageNow(): Promise<number> {
    const nowMs = await this.#lease.renew(this.#signal);
    this.#requireAwake();
    return nowMs;
  }

  /**
   * @throws {RepositoryError} REFUSED when other time has passed at the storage than here; REPOSITORY_LOCKED when this
   * process was held up for so long that its right could have been another's
   */
  #requireAwake(): void {
    const { storageMs, monotonicMs, longestSilenceMs } = this.#lease;
    const awakeMs = monotonicMs - this.#anchor.monotonicMs;
    if (Math.abs(storageMs - this.#anchor.storageMs - awakeMs) > PRUNE_LIMITS.clockJump) {
      throw new RepositoryError(
        'REFUSED',
        'The clock of the destination jumped, or this machine was asleep',
        {
          hint: 'Nothing was removed because of it. Prune again; if it repeats, set the clock of the storage.',
          retry: 'later',
        },
      );
    }
    if (longestSilenceMs <= LEASE_TIMES.expiry) return;
    const message = `This prune was held up for ${Math.round(longestSilenceMs / 1_000)} s; what it has seen of the repository is old`;
    throw new RepositoryError('REPOSITORY_LOCKED', message, {
      hint: 'Nothing was removed because of it. Prune again.',
      retry: 'later',
    });
  }

  /** @throws {RepositoryError} REPOSITORY_LOCKED when the caller vouched that nobody writes, and somebody does */
  #requireAlone({ sessions }: PruneStock): void {
    const other = sessions[0];
    if (other === undefined || !this.#settings.noOtherWriters) return;
    const who = other.host === '' ? 'somewhere' : `on ${other.host} (process ${other.pid})`;
    throw new RepositoryError('REPOSITORY_LOCKED', `A backup is at work ${who}`, {
      hint: 'Wait for it to finish, or prune with the usual grace period.',
      retry: 'later',
    });
  }
}
