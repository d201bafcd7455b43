import type { TombstoneRecord } from '../format/records.ts';
import { listNamed } from './objects/listing.ts';
import type { Repository } from './repository.ts';
import { readTombstones, type Tombstones } from './tombstones.ts';

/** Of tombstones that were put together, so that what they had said of their reasons is gone. */
export const COMPACTED = 'compacted';

/** Snapshots that others forget while a run is at work which goes by what it saw when it began. */
export class ForgottenMeanwhile {
  readonly #repository: Repository;
  /** Names of tombstones that are known, or this run's own. */
  readonly #passed: Set<string>;
  readonly #ids = new Set<string>();
  readonly #before: ReadonlySet<string>;
  /** Ids of what was stored in the place of these: more than one where several did so at once. */
  readonly #replacements = new Map<string, Set<string>>();
  /** Those that somebody removed, or rules. */
  readonly #removed = new Set<string>();
  readonly #unexplained = new Set<string>();

  /** @param before what the run goes by */
  constructor(repository: Repository, before: Tombstones) {
    this.#repository = repository;
    this.#passed = new Set([...before.all, ...before.ignored].map(({ name }) => name));
    this.#before = before.snapshots;
    for (const { record } of before.all) this.#takeReason(record);
  }

  /** A tombstone that this run has stored itself. */
  passOver(name: string): void {
    this.#passed.add(name);
  }

  async includes(id: string, signal: AbortSignal): Promise<boolean> {
    return (await this.allOf([id], signal)).length > 0;
  }

  /** Looks once, and returns those of these that are forgotten by now. */
  async allOf(ids: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    const listed = await listNamed(this.#repository.destination, 'trash/', signal);
    if ([...listed.keys()].some((name) => !this.#passed.has(name))) await this.#read(signal);
    return ids.filter((id) => this.#ids.has(id) || this.#before.has(id));
  }

  /**
   * Of what the last look showed: whether another snapshot stands in the place of this one and is not forgotten itself, so
   * that all that this one had is still held. What was removed as well is to go.
   */
  isReplaced(id: string): boolean {
    const seen = new Set([id]);
    for (const one of seen) {
      if (this.#removed.has(one)) continue;
      for (const by of this.#replacements.get(one) ?? []) {
        if (!this.#ids.has(by) && !this.#before.has(by)) return true;
        // Sets are gone through with what is added meanwhile.
        seen.add(by);
      }
    }
    return false;
  }

  /** Of what the last look showed: nobody says any more why this one was forgotten. */
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
