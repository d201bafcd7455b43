/**
 * What the storage keeps from being removed for now, by Object Lock or a retention policy of its own: it stays, and a later
 * prune removes it.
 */
import { isProtectedForNow, type DestinationError } from '../../base/errors.ts';
import { formatBytes } from '../../base/units.ts';
import { packsNeededBy } from './last-parents.ts';
import { packKey } from '../objects/listing.ts';
import { mapParallel } from '../objects/parallel.ts';
import type { PackFate } from './prune-plan.ts';
import type { PruneStock } from './prune-stock.ts';
import type { Repository } from '../repository.ts';
import { readSnapshot } from '../snapshots.ts';

export interface ProtectedPart {
  readonly packs: number;
  readonly bytes: number;
  /** Forgotten ones. */
  readonly snapshots: number;
  /** What the storage said of one of them. */
  readonly reason: DestinationError;
}

export class ProtectedObjects {
  readonly #repository: Repository;
  readonly #packs = new Map<string, number>();
  readonly #snapshots = new Set<string>();
  #reason: DestinationError | undefined;

  constructor(repository: Repository) {
    this.#repository = repository;
  }

  /** Undefined when nothing was kept from being removed. */
  get found(): ProtectedPart | undefined {
    if (this.#reason === undefined) return undefined;
    const bytes = [...this.#packs.values()].reduce((sum, one) => sum + one, 0);
    return { packs: this.#packs.size, bytes, snapshots: this.#snapshots.size, reason: this.#reason };
  }

  /** False when it stays. @throws {DestinationError} */
  async removeSnapshot(id: string, signal: AbortSignal): Promise<boolean> {
    if (await this.#remove(`snapshots/${id}`, signal)) return true;
    this.#snapshots.add(id);
    return false;
  }

  /** False when it stays. @throws {DestinationError} */
  async removePack({ name, bytes }: PackFate, signal: AbortSignal): Promise<boolean> {
    if (await this.#remove(packKey(name), signal)) return true;
    this.#packs.set(name, bytes);
    return false;
  }

  /** Those that no forgotten snapshot needs which had to stay: one must never stand there without its data. */
  async removable(
    stock: PruneStock,
    packs: readonly PackFate[],
    signal: AbortSignal,
  ): Promise<readonly PackFate[]> {
    if (this.#snapshots.size === 0) return packs;
    const { maxParallel } = this.#repository.destination.properties;
    const read = async (id: string) => await readSnapshot(this.#repository, id, signal);
    const needed = await packsNeededBy(
      this.#repository,
      stock,
      async () => await mapParallel([...this.#snapshots], maxParallel, read),
      signal,
    );
    const stays = ({ name }: PackFate): boolean => needed === 'unknown' || needed.has(name);
    for (const { name, bytes } of packs.filter(stays)) this.#packs.set(name, bytes);
    return packs.filter((pack) => !stays(pack));
  }

  async #remove(key: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#repository.destination.delete(key, signal);
      return true;
    } catch (error) {
      if (!isProtectedForNow(error)) throw error;
      this.#reason ??= error;
      return false;
    }
  }
}

/** For people; empty when there is nothing to say. */
export function storeKeeps({ protected: part, keptByStore, removedBytes }: PruneOutcome): readonly string[] {
  const lines: string[] = [];
  if (part !== undefined) {
    const packs = `${part.packs} ${part.packs === 1 ? 'pack' : 'packs'} (${formatBytes(part.bytes)})`;
    const snapshots = part.snapshots === 1 ? '1 forgotten snapshot' : `${part.snapshots} forgotten snapshots`;
    lines.push(
      `${packs} and ${snapshots} stay for now, as the store protects them: a prune after that time removes them. ${part.reason.message}.`,
    );
  }
  // What is hidden takes its room all the same.
  if (keptByStore && removedBytes > 0)
    lines.push(
      'The store goes on keeping what was deleted, as older versions: that space is free once a lifecycle rule of the bucket has removed versions that are no longer current, and their time of protection has ended.',
    );
  return lines;
}

interface PruneOutcome {
  readonly protected: ProtectedPart | undefined;
  readonly keptByStore: boolean;
  readonly removedBytes: number;
}
