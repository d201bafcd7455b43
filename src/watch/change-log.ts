import type { ByteString } from '../base/byte-path.ts';
import type { Clock } from '../base/clock.ts';
import type { Changes } from './change-feed.ts';

export interface TakenChanges {
  readonly directories: ReadonlySet<ByteString>;
  readonly subtrees: ReadonlySet<ByteString>;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Why everything may have changed; undefined when it has not. */
  readonly unknown: string | undefined;
}

interface Generation {
  readonly directories: Set<ByteString>;
  readonly subtrees: Set<ByteString>;
  since: number;
  unknown: string | undefined;
  /** When the reader last took an unknown set, and so looked at everything. */
  walkedAt: number;
}

/**
 * Milliseconds after which the set of a reader is unknown in any case. A full walk is requested once a day; this covers
 * a day on which that failed, for example because the settings of the source were changed at that time.
 */
export const UNWALKED_MS = 36 * 3_600_000;
const UNWALKED = 'the daily check was due yesterday';

/** With more paths, keeping them costs more than a full walk. */
const MOST_PATHS = 50_000;

/** The changes that each reader has not taken yet. */
export class ChangeLog {
  readonly #clock: Clock;
  readonly #readers = new Map<string, Generation>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Directories in the largest set; null when a set is unknown. */
  get size(): number | null {
    let most = 0;
    for (const { directories, subtrees, unknown } of this.#readers.values()) {
      if (unknown !== undefined) return null;
      most = Math.max(most, directories.size + subtrees.size);
    }
    return most;
  }

  directory(path: ByteString): void {
    for (const generation of this.#readers.values()) add(generation, 'directories', path);
  }

  subtree(path: ByteString): void {
    for (const generation of this.#readers.values()) add(generation, 'subtrees', path);
  }

  /** @param unlessSince readers that have taken an unknown set since then are left alone */
  lose(reason: string, unlessSince = Number.POSITIVE_INFINITY): void {
    for (const generation of this.#readers.values())
      if (generation.walkedAt < unlessSince) forget(generation, reason);
  }

  /** Whether the next set of the reader is unknown, as is the first set of each reader. */
  isUnknownTo(reader: string): boolean {
    const generation = this.#readers.get(reader);
    return generation === undefined || generation.unknown !== undefined;
  }

  /** Drops the sets of all other readers, which will not come again. */
  keepReaders(isKept: (reader: string) => boolean): void {
    for (const reader of this.#readers.keys()) if (!isKept(reader)) this.#readers.delete(reader);
  }

  /**
   * Takes the set of the reader. Whatever is reported from now on belongs to its next set.
   * @param untold why this set is incomplete, if it is so at the moment
   */
  take(reader: string, untold?: string): TakenChanges {
    const now = this.#clock.now();
    const taken = this.#readers.get(reader) ?? fresh(now, now, 'watching has just started');
    if (untold !== undefined) forget(taken, untold);
    // A time in the future was stored while the clock was ahead.
    if (now - taken.walkedAt > UNWALKED_MS || taken.walkedAt > now) forget(taken, UNWALKED);
    this.#readers.set(reader, fresh(now, taken.unknown === undefined ? taken.walkedAt : now));
    return taken;
  }

  /** The reader looks at everything although its set is known, as the set is too large. */
  looksAtEverything(reader: string): void {
    const generation = this.#readers.get(reader);
    if (generation !== undefined) generation.walkedAt = this.#clock.now();
  }

  /** Merges a set that was taken into what has been reported since. */
  putBack(reader: string, changes: Changes): void {
    const generation = this.#readers.get(reader);
    // The first set of a reader is unknown anyway.
    if (generation === undefined) return;
    if (changes.kind === 'unknown') {
      forget(generation, changes.reason);
      return;
    }
    generation.since = Math.min(generation.since, changes.since);
    for (const path of changes.paths) add(generation, 'directories', path);
  }
}

function fresh(since: number, walkedAt: number, unknown?: string): Generation {
  return { directories: new Set(), subtrees: new Set(), since, unknown, walkedAt };
}

function add(generation: Generation, kind: 'directories' | 'subtrees', path: ByteString): void {
  if (generation.unknown !== undefined) return;
  generation[kind].add(path);
  if (generation.directories.size + generation.subtrees.size > MOST_PATHS)
    forget(generation, `more than ${MOST_PATHS} directories changed`);
}

function forget(generation: Generation, reason: string): void {
  generation.unknown ??= reason;
  generation.directories.clear();
  generation.subtrees.clear();
}
