import type { TombstoneRecord } from '../format/records.ts';
import { listNamed } from './objects/listing.ts';
import type { Repository } from './repository.ts';
import { readTombstones, type Tombstones } from './tombstones.ts';

/** Reason of a tombstone that prune made from several, whose own reasons are lost. */
export const COMPACTED = 'compacted';

/** Finds snapshots that others forget while a run is at work that relies on what it saw when it began. */
export class ForgottenMeanwhile {
  readonly #repository: Repository;
  /** Names of tombstones that are already known, or that this run has stored itself. */
  readonly #passed: Set<string>;
  readonly #ids = new Set<string>();
  readonly #before: ReadonlySet<string>;
  /** For each replaced snapshot, the ids of its replacements: several where several hosts replaced it at once. */
  readonly #replacements = new Map<string, Set<string>>();
  /** Snapshots that a user or a retention rule removed. */
  readonly #removed = new Set<string>();
  readonly #unexplained = new Set<string>();

  /** @param before the tombstones that the run saw when it began */
  constructor(repository: Repository, before: Tombstones) {
    this.#repository = repository;
    this.#passed = new Set([...before.all, ...before.ignored].map(({ name }) => name));
    this.#before = before.snapshots;
    for (const { record } of before.all) this.#takeReason(record);
  }

  /** Ignores a tombstone, since this run has stored it itself. */
  passOver(name: string): void {
    this.#passed.add(name);
  }

  async includes(id: string, signal: AbortSignal): Promise<boolean> {
    return (await this.allOf([id], signal)).length > 0;
  }

  /** Looks once, and returns those of `ids` that are forgotten by now. */
  async allOf(ids: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    const listed = await listNamed(this.#repository.destination, 'trash/', signal);
    if ([...listed.keys()].some((name) => !this.#passed.has(name))) await this.#read(signal);
    return ids.filter((id) => this.#ids.has(id) || this.#before.has(id));
  }

  /**
   * Whether, by the last look, a replacement of this snapshot exists that is not forgotten itself, so that all its data
   * is still held. A snapshot that was also removed deliberately counts as not replaced.
   */
  isReplaced(id: string): boolean {
    const seen = new Set([id]);
    for (const one of seen) {
      if (this.#removed.has(one)) continue;
      for (const by of this.#replacements.get(one) ?? []) {
        if (!this.#ids.has(by) && !this.#before.has(by)) return true;
        // The loop also visits what is added to the set meanwhile.
        seen.add(by);
      }
    }
    return false;
  }

  /** Whether, by the last look, the reason why this snapshot was forgotten is lost. */
  isUnexplained(id: string): boolean {
    return this.#unexplained.has(id);
  }

  #takeReason({ kind, names, reason, replacedBy: by }: TombstoneRecord): void {
    if (kind !== 'snapshots') return;
    for (const id of names) {
      if (by !== undefined) this.#replacements.set(id, (this.#replacements.get(id) ?? new Set()).add(by));
      else if (reason === COMPACTED) this.#unexplained.add(id);
      else this.#removed.add(id);
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { all, ignored } = await readTombstones(this.#repository, signal);
    for (const { name } of ignored) this.#passed.add(name);
    for (const { name, record } of all) {
      if (this.#passed.has(name)) continue;
      this.#passed.add(name);
      if (record.kind === 'snapshots') for (const id of record.names) this.#ids.add(id);
      this.#takeReason(record);
    }
  }
}
