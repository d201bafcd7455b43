/**
 * Seals anew everything that is sealed under old key generations. Nothing that is needed is deleted: packs are copied
 * as in a repack of prune and get a tombstone, and a prune deletes them after the grace period.
 */
import { waitsToAskAgain } from '../../base/waits.ts';
import { RepositoryError } from '../../base/errors.ts';
import { encodeIndexedPack } from '../../format/index-object.ts';
import { encodeSnapshot, type SnapshotRecord } from '../../format/records.ts';
import { renewConfig } from '../configuration.ts';
import { ForgottenMeanwhile } from '../forgotten-meanwhile.ts';
import { durableUncovered, IndexWriter } from '../contents/index-writer.ts';
import { oldGenerations } from '../keys/keys.ts';
import { probeStorageClock } from '../lease-objects.ts';
import { keepCopies } from '../keys/keep-copies.ts';
import type { Lease } from '../lease.ts';
import { rewriteIndex } from '../prune/prune-index.ts';
import type { PackFate } from '../prune/prune-plan.ts';
import { repack } from '../prune/prune-repack.ts';
import { type PruneStock, takeStock } from '../prune/prune-stock.ts';
import { TombstoneWriter } from '../prune/prune-tombstones.ts';
import { withPruneLease } from '../prune/prune.ts';
import { decideRekey, type RekeyPlan } from './rekey-plan.ts';
import type { Repository } from '../repository.ts';
import { retireGenerations, type Retirement } from './retire-generations.ts';
import { removeReturned, returnedPacks } from '../contents/returned-objects.ts';
import { replaceSnapshot } from './replace-snapshot.ts';
import { recordAgain, type Snapshot } from '../snapshots.ts';

/** Limits of a rekey; each comment gives the reason for its value. */
const REKEY_LIMITS = Object.freeze({
  /**
   * Total size of old packs that are copied, and then marked, together. Small, so that a run that dies leaves little
   * half done.
   */
  batchBytes: 256 * 1024 * 1024,
  /** Longest turn in milliseconds: prune has to wait for it, and a whole rekey may take days. */
  turn: 20 * 60_000,
  /** Milliseconds between two turns, so that a waiting prune gets its own. */
  pause: 60_000,
  /** Milliseconds between two attempts while a prune has its turn. */
  wait: 30_000,
});

export type RekeyPhase = 'analysing' | 'rewriting' | 'snapshots' | 'waiting';

/** Receives the progress. Calls must be cheap and must not throw. */
export interface RekeyObserver {
  phase(phase: RekeyPhase): void;
  /** How much there is to do, once it is known. */
  planned(todo: { readonly packs: number; readonly bytes: number }): void;
  /** Called with the stored bytes of old packs that are done. */
  passed(bytes: number): void;
  /** Called with the number of old packs whose content has been copied. */
  rewritten(packs: number): void;
}

export const SILENT_REKEY: RekeyObserver = {
  phase: () => {},
  planned: () => {},
  passed: () => {},
  rewritten: () => {},
};

export interface RekeyOptions {
  /** Most stored bytes of old packs to rewrite. */
  readonly maxBytes?: number;
  /** Smaller only in tests. */
  readonly batchBytes?: number;
}

export interface RekeyResult {
  /** Old packs whose content has been copied, and their stored bytes. */
  readonly packs: number;
  readonly bytes: number;
  readonly writtenBytes: number;
  /** Packs that got a tombstone; a prune deletes them after the grace period. */
  readonly markedPacks: number;
  readonly markedBytes: number;
  /** Old and new id of each. */
  readonly snapshots: readonly { readonly old: string; readonly id: string }[];
  /** Packs that were left unchanged because something in them is damaged. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  /** What is left to a later run because of the limit or of backups at work. */
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
 * Seals anew everything that can be: first packs, then snapshots, index objects, tombstones of objects that are gone,
 * and the configuration. May be interrupted at any moment; the next run continues from there. Backups continue
 * meanwhile, and prune gets turns in between.
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

/** Runs the next turn, waiting while somebody prunes. A turn that lost its lease, as when the machine slept, starts again. */
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

  /** Runs one turn. True when there is nothing more to do. */
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
    // Retirement relies on the ring and configuration in force, so both are made sound first.
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
    // Other hosts may have listed the objects replaced here before that, and may be about to read them; the next run,
    // or a prune, deletes them.
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

  /** The packs that the limit allows, without those that could not be read earlier. */
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

  /** Names packs of a run that died, which no index object has yet. */
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

  /** Copies and marks packs batch by batch until the turn is over; returns how many packs were dealt with. */
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

  /** Marks packs that are no longer needed; those that are marked already are skipped. */
  async #mark(
    { snapshots }: PruneStock,
    packs: readonly PackFate[],
    lease: Lease,
    signal: AbortSignal,
  ): Promise<void> {
    const fresh = packs.filter(({ name }) => !snapshots.tombstones.packs.has(name));
    const names = fresh.map(({ name }) => name);
    const writer = new TombstoneWriter(this.#repository, lease, snapshots, new Set());
    await writer.write('packs', names, 'stored again under newer keys', signal);
    this.#markedPacks += fresh.length;
    this.#markedBytes += fresh.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Marks packs under retired generations that the storage has brought back: nobody can read them, so nothing needs them. */
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
   * Stores each snapshot again and forgets the old one before the next, so that retention rules count at most one
   * snapshot too many.
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
        // Another host has forgotten the snapshot, so nothing is left to do.
        if (!(error instanceof RepositoryError) || error.code !== 'SNAPSHOT_NOT_FOUND') throw error;
        if (old.chain.writer === writer) own -= 1;
      }
    }
  }
}

/** The copy that a run left when it died after storing a snapshot again and before forgetting the old one. */
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
