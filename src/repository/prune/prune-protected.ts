/**
 * Handles objects that the storage protects from deletion for now, by Object Lock or a retention policy of its own.
 * They stay, and a later prune deletes them.
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
  /** Number of forgotten snapshots. */
  readonly snapshots: number;
  /** The storage's answer for one of the objects. */
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

  /** Undefined when everything could be removed. */
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

  /**
   * The packs that may be deleted: those of forgotten snapshots that had to stay are left out, since a stored snapshot
   * must never lack its data.
   */
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

/** Lines for the user; empty when there is nothing to report. */
export function storeKeeps({ protected: part, keptByStore, removedBytes }: PruneOutcome): readonly string[] {
  const lines: string[] = [];
  if (part !== undefined) {
    const packs = `${part.packs} ${part.packs === 1 ? 'pack' : 'packs'} (${formatBytes(part.bytes)})`;
    const snapshots = part.snapshots === 1 ? '1 forgotten snapshot' : `${part.snapshots} forgotten snapshots`;
    lines.push(
      `${packs} and ${snapshots} are kept for now, as the store protects them: a later prune removes them. ${part.reason.message}.`,
    );
  }
  // Hidden versions still occupy space.
  if (keptByStore && removedBytes > 0)
    lines.push(
      'The store keeps deleted objects as older versions: their space is free once their protection has ended and a lifecycle rule of the bucket has removed versions that are no longer current.',
    );
  return lines;
}

interface PruneOutcome {
  readonly protected: ProtectedPart | undefined;
  readonly keptByStore: boolean;
  readonly removedBytes: number;
}
