/**
 * Seals anew what is sealed under old generations of keys. Nothing is deleted that is needed: packs are copied like
 * those of which prune saves the rest, and get a tombstone; a prune deletes them after the grace period.
 */
import { waitsToAskAgain } from '../../base/waits.ts';
import { RepositoryError } from '../../base/errors.ts';
import { encodeIndexedPack } from '../../format/index-object.ts';
import { encodeSnapshot, type SnapshotRecord } from '../../format/records.ts';
import { renewConfig } from '../configuration.ts';
import { ForgottenMeanwhile } from '../forgotten-meanwhile.ts';
import { IndexWriter } from '../contents/index-writer.ts';
import { oldGenerations } from '../keys/keys.ts';
import { probeStorageClock } from '../lease-objects.ts';
import { keepCopies } from '../keys/keep-copies.ts';
import type { Lease } from '../lease.ts';
import { rewriteIndex } from '../prune/prune-index.ts';
import type { PackFate } from '../prune/prune-plan.ts';
import { repack } from '../prune/prune-repack.ts';
import { takeStock, type PruneStock } from '../prune/prune-stock.ts';
import { TombstoneWriter } from '../prune/prune-tombstones.ts';
import { withPruneLease } from '../prune/prune.ts';
import { decideRekey, type RekeyPlan } from './rekey-plan.ts';
import type { Repository } from '../repository.ts';
import { retireGenerations, type Retirement } from './retire-generations.ts';
import { removeReturned, returnedPacks } from '../contents/returned-objects.ts';
import { replaceSnapshot } from './replace-snapshot.ts';
import { recordAgain, type Snapshot } from '../snapshots.ts';
import { durableUncovered } from '../prune/uncovered-packs.ts';

/** Reasons stand beside each. */
export const REKEY_LIMITS = Object.freeze({
  /** Old packs that are copied and then get a tombstone together: what a run that dies leaves half done is little. */
  batchBytes: 256 * 1024 * 1024,
  /** So long, in milliseconds, prune has to wait for one turn of this, which may take days in all. */
  turn: 20 * 60_000,
  /** Between two turns, so that a prune that waits gets its own, */
  pause: 60_000,
  /** and when it has it, between two looks. */
  wait: 30_000,
});

export type RekeyPhase = 'analysing' | 'rewriting' | 'snapshots' | 'waiting';

/** Told what happens; cheap calls, none may throw. */
export interface RekeyObserver {
  phase(phase: RekeyPhase): void;
  /** How much there is to do, once it is known. */
  planned(todo: { readonly packs: number; readonly bytes: number }): void;
  /** Stored bytes of old packs that were passed. */
  passed(bytes: number): void;
  /** Old packs of which everything is stored anew. */
  rewritten(packs: number): void;
}

export const SILENT_REKEY: RekeyObserver = {
  phase: () => {},
  planned: () => {},
  passed: () => {},
  rewritten: () => {},
};

export interface RekeyOptions {
  /** Stored bytes of old packs to rewrite at most. */
  readonly maxBytes?: number;
  /** Smaller only in tests. */
  readonly batchBytes?: number;
}

export interface RekeyResult {
  /** Old packs of which everything is stored anew, and their stored bytes. */
  readonly packs: number;
  readonly bytes: number;
  readonly writtenBytes: number;
  /** Packs that got a tombstone; a prune deletes them after the grace period. */
  readonly markedPacks: number;
  readonly markedBytes: number;
  /** Old and new id of each. */
  readonly snapshots: readonly { readonly old: string; readonly id: string }[];
  /** Packs that were left as they are because something in them is damaged. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  /** What a later run has to do, as far as the limit or backups at work left it. */
  readonly left: Pick<RekeyPlan, 'young' | 'postponed' | 'writeOnly' | 'unreadable'> & {
    readonly packs: number;
  };
  /** What became of each old generation. */
  readonly retired: readonly Retirement[];
}

/** What `rekey` would do now. Writes nothing but a probe of the storage's clock. */
export async function planRekey(repository: Repository, signal: AbortSignal): Promise<RekeyPlan> {
  repository.requireReading();
  await repository.followRing(signal);
  return decideRekey(
    repository,
    await takeRekeyStock(repository, await probeStorageClock(repository, signal), signal),
  );
}

/**
 * Seals everything anew that can be: what holds data first, then snapshots, index objects, tombstones of what is gone,
 * and the configuration. May be broken off at any moment; the next run goes on where this one was. Backups go on
 * meanwhile, and prune gets its turn now and then.
 *
 * @throws {RepositoryError} REPOSITORY_LOCKED, REFUSED, CORRUPT_DATA
 * @throws {DestinationError}
 */
export async function rekey(
  repository: Repository,
  options: RekeyOptions,
  observer: RekeyObserver,
  signal: AbortSignal,
): Promise<RekeyResult> {
  repository.requireReading();
  await repository.followRing(signal);
  const run = new RekeyRun(repository, options, observer);
  let finished = await run.turn(signal);
  while (!finished) {
    observer.phase('waiting');
    await repository.clock.sleep(REKEY_LIMITS.pause, signal);
    finished = await nextTurn(repository, run, signal);
  }
  return run.result();
}

/** Waits while somebody prunes; a turn that lost the right to it, as when the machine was asleep, begins again. */
async function nextTurn(repository: Repository, run: RekeyRun, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    try {
      return await run.turn(signal);
    } catch (error) {
      if (!(error instanceof RepositoryError) || error.code !== 'REPOSITORY_LOCKED') throw error;
    }
    const isOver = waitsToAskAgain('other_change', undefined, REKEY_LIMITS.wait);
    try {
      await repository.clock.sleep(REKEY_LIMITS.wait, signal);
    } finally {
      isOver();
    }
  }
}

async function takeRekeyStock(
  repository: Repository,
  nowMs: number,
  signal: AbortSignal,
): Promise<PruneStock> {
  return await takeStock(repository, nowMs, signal, { preferGeneration: repository.keys.generation });
}

class RekeyRun {
  readonly #repository: Repository;
  readonly #maxBytes: number;
  readonly #batchBytes: number;
  readonly #observer: RekeyObserver;
  readonly #skipped = new Map<string, string>();
  readonly #snapshots: { old: string; id: string }[] = [];
  #packs = 0;
  #bytes = 0;
  #writtenBytes = 0;
  #markedPacks = 0;
  #markedBytes = 0;
  #retired: readonly Retirement[] = [];
  #left: RekeyResult['left'] = { packs: 0, young: [], postponed: [], writeOnly: [], unreadable: [] };

  constructor(repository: Repository, options: RekeyOptions, observer: RekeyObserver) {
    const { maxBytes, batchBytes } = options;
    this.#repository = repository;
    this.#batchBytes = batchBytes ?? REKEY_LIMITS.batchBytes;
    this.#maxBytes = maxBytes ?? Number.POSITIVE_INFINITY;
    this.#observer = observer;
  }

  /** True when there is nothing more to do. */
  async turn(signal: AbortSignal): Promise<boolean> {
    return await withPruneLease(
      this.#repository,
      async (lease, held) => await this.#work(lease, held),
      signal,
    );
  }

  result(): RekeyResult {
    return {
      packs: this.#packs,
      bytes: this.#bytes,
      writtenBytes: this.#writtenBytes,
      markedPacks: this.#markedPacks,
      markedBytes: this.#markedBytes,
      snapshots: this.#snapshots,
      skipped: [...this.#skipped].map(([name, reason]) => ({ name, reason })),
      left: this.#left,
      retired: this.#retired,
    };
  }

  async #work(lease: Lease, signal: AbortSignal): Promise<boolean> {
    const repository = this.#repository;
    this.#observer.phase('analysing');
    // What is retired goes by the ring and the configuration in force.
    await keepCopies(repository, signal);
    const stock = await takeRekeyStock(repository, lease.storageMs, signal);
    const plan = decideRekey(repository, stock);
    const todo = this.#within(plan.packs);
    this.#observer.planned({
      packs: this.#packs + todo.length,
      bytes: this.#bytes + todo.reduce((sum, { bytes }) => sum + bytes, 0),
    });
    await this.#cover(stock, lease, signal);
    await this.#mark(stock, plan.dead, lease, signal);
    await this.#markReturned(stock, plan, lease, signal);
    this.#observer.phase('rewriting');
    const done = await this.#rewritePacks(stock, todo, lease, signal);
    if (done < todo.length) return false;
    this.#observer.phase('snapshots');
    await this.#rewriteSnapshots(stock, plan.snapshots, lease, signal);
    const held = async (now: AbortSignal): Promise<void> => await lease.assertHeld(now);
    const index = await rewriteIndex(repository, new Set(), held, signal, oldGenerations(repository));
    // Others may have listed what is replaced only now and be about to read it; the next run, or a prune, takes it.
    for (const name of index.superseded) {
      await lease.assertHeld(signal);
      await repository.destination.delete(`index/${name}`, signal);
    }
    await new TombstoneWriter(repository, lease, stock.snapshots, new Set()).retire(plan.tombstones, signal);
    await renewConfig(repository, oldGenerations(repository), signal);
    await removeReturned(repository, lease, signal);
    this.#retired = await retireGenerations(repository, stock, lease, signal);
    const { young, postponed, writeOnly, unreadable } = plan;
    const dealtWith = new Set([...todo.map(({ name }) => name), ...this.#skipped.keys()]);
    const beyond = plan.packs.filter(({ name }) => !dealtWith.has(name));
    this.#left = { packs: beyond.length, young, postponed, writeOnly, unreadable };
    return true;
  }

  /** What the limit allows, without what could not be read before. */
  #within(packs: readonly PackFate[]): readonly PackFate[] {
    const wanted: PackFate[] = [];
    let bytes = this.#bytes;
    for (const fate of packs) {
      if (this.#skipped.has(fate.name)) continue;
      bytes += fate.bytes;
      if (bytes > this.#maxBytes) break;
      wanted.push(fate);
    }
    return wanted;
  }

  /** A run that died may have stored packs that no index object names yet. */
  async #cover({ index, snapshots }: PruneStock, lease: Lease, signal: AbortSignal): Promise<void> {
    const writer = new IndexWriter(this.#repository);
    const { generation } = this.#repository.keys;
    const { packs: marked } = snapshots.tombstones;
    for (const pack of await durableUncovered(this.#repository, index, marked, signal))
      if (pack.generation === generation) writer.add(encodeIndexedPack(pack));
    if (writer.pendingBytes === 0) return;
    await lease.assertHeld(signal);
    await writer.flush([], signal);
  }

  /** Batch by batch until the turn is over; returns how many packs were dealt with. */
  async #rewritePacks(
    stock: PruneStock,
    packs: readonly PackFate[],
    lease: Lease,
    signal: AbortSignal,
  ): Promise<number> {
    const { clock } = this.#repository;
    const began = clock.monotonic();
    let done = 0;
    for (const batch of batchesOf(packs, this.#batchBytes)) {
      if (clock.monotonic() - began >= REKEY_LIMITS.turn) break;
      const held = async (now: AbortSignal): Promise<void> => await lease.assertHeld(now);
      const passed = (bytes: number): void => this.#observer.passed(bytes);
      const result = await repack(this.#repository, stock, batch, held, signal, passed);
      await this.#mark(stock, result.done, lease, signal);
      for (const { name, reason } of result.skipped) this.#skipped.set(name, reason);
      this.#packs += result.done.length;
      this.#bytes += result.done.reduce((sum, { bytes }) => sum + bytes, 0);
      this.#writtenBytes += result.writtenBytes;
      this.#observer.rewritten(result.done.length);
      done += batch.length;
    }
    return done;
  }

  /** Packs that are needed no more; those that are marked already stay so. */
  async #mark(
    { snapshots }: PruneStock,
    packs: readonly PackFate[],
    lease: Lease,
    signal: AbortSignal,
  ): Promise<void> {
    const fresh = packs.filter(({ name }) => !snapshots.tombstones.packs.has(name));
    const names = fresh.map(({ name }) => name);
    const writer = new TombstoneWriter(this.#repository, lease, snapshots, new Set());
    await writer.write('packs', names, 'stored anew under newer keys', signal);
    this.#markedPacks += fresh.length;
    this.#markedBytes += fresh.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** What a storage has brought back of generations that were retired: nobody can read it, so that nothing needs it. */
  async #markReturned(
    stock: PruneStock,
    { unreadable }: RekeyPlan,
    lease: Lease,
    signal: AbortSignal,
  ): Promise<void> {
    const { packs } = stock.snapshots.tombstones;
    const unmarked = unreadable.filter((name) => !packs.has(name));
    const returned = await returnedPacks(this.#repository, unmarked, signal);
    if (returned.size === 0) return;
    const writer = new TombstoneWriter(this.#repository, lease, stock.snapshots, new Set());
    await writer.write('packs', [...returned], 'sealed under keys that were retired', signal);
  }

  /**
   * Each is stored again and the old one forgotten before the next: where rules of retention count snapshots, there is
   * one too many at most.
   */
  async #rewriteSnapshots(
    stock: PruneStock,
    outdated: readonly Snapshot[],
    lease: Lease,
    signal: AbortSignal,
  ): Promise<void> {
    const repository = this.#repository;
    const { writer } = repository.writer.memory;
    let own = stock.snapshots.live.filter(({ chain }) => chain.writer === writer).length;
    const forgotten = new ForgottenMeanwhile(repository, stock.snapshots.tombstones);
    const held = async (now: AbortSignal): Promise<void> => await lease.assertHeld(now);
    for (const old of outdated) {
      const record = recordAgain(old, lease.storageMs);
      await held(signal);
      const twin = twinOf(record, stock, repository);
      const fence = lease.epoch;
      const replacement = { old, record, twin, forgotten, own, fence, held };
      try {
        const { id } = await replaceSnapshot(repository, replacement, signal);
        if (twin === undefined) own += 1;
        if (old.chain.writer === writer) own -= 1;
        this.#snapshots.push({ old: old.id, id });
      } catch (error) {
        // Somebody else has forgotten it, which is all that there is to do about it.
        if (!(error instanceof RepositoryError) || error.code !== 'SNAPSHOT_NOT_FOUND') throw error;
        if (old.chain.writer === writer) own -= 1;
      }
    }
  }
}

/** What a run that died between storing a snapshot anew and forgetting the old one has left. */
function twinOf(record: SnapshotRecord, stock: PruneStock, repository: Repository): Snapshot | undefined {
  const encoded = encodeSnapshot(record);
  const { generation } = repository.keys;
  return stock.snapshots.live.find(
    (one) =>
      one.generation === generation &&
      one.record.original === record.original &&
      encodeSnapshot(one.record).equals(encoded),
  );
}

function* batchesOf(
  packs: readonly PackFate[],
  most: number,
): Generator<readonly PackFate[], void, undefined> {
  let batch: PackFate[] = [];
  let bytes = 0;
  for (const fate of packs) {
    if (batch.length > 0 && bytes + fate.bytes > most) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(fate);
    bytes += fate.bytes;
  }
  if (batch.length > 0) yield batch;
}
