import { listNamed } from './listing.ts';
import type { Repository } from './repository.ts';
import { readTombstones, type Tombstones } from './tombstones.ts';

/** Snapshots that others forget while a run is at work which goes by what it saw when it began. */
export class ForgottenMeanwhile {
  readonly #repository: Repository;
  /** Names of tombstones that are known, or this run's own. */
  readonly #passed: Set<string>;
  readonly #ids = new Set<string>();

  /** @param before what the run goes by */
  constructor(repository: Repository, before: Tombstones) {
    this.#repository = repository;
    this.#passed = new Set([...before.all, ...before.ignored].map(({ name }) => name));
  }

  /** A tombstone that this run has stored itself. */
  passOver(name: string): void {
    this.#passed.add(name);
  }

  async includes(id: string, signal: AbortSignal): Promise<boolean> {
    return (await this.anyOf([id], signal)) !== undefined;
  }

  /** Looks once, and returns the first of these that is forgotten by now. */
  async anyOf(ids: Iterable<string>, signal: AbortSignal): Promise<string | undefined> {
    const listed = await listNamed(this.#repository.destination, 'trash/', signal);
    if ([...listed.keys()].some((name) => !this.#passed.has(name))) await this.#read(signal);
    for (const id of ids) if (this.#ids.has(id)) return id;
    return undefined;
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { all, ignored } = await readTombstones(this.#repository, signal);
    for (const { name } of ignored) this.#passed.add(name);
    for (const { name, record } of all) {
      if (this.#passed.has(name)) continue;
      this.#passed.add(name);
      if (record.kind === 'snapshots') for (const id of record.names) this.#ids.add(id);
    }
  }
}
