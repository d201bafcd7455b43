import type { ByteString } from '../../base/byte-path.ts';
import type { Omission, OmissionKind } from './request.ts';

/** How many paths are listed for each kind of omission. */
const SHOWN_PATHS = 10;

interface Counted {
  readonly kind: OmissionKind;
  readonly reason: string;
  count: number;
  readonly paths: ByteString[];
}

/** Counts, by kind, what was left out of entries that were restored. */
export class Omissions {
  readonly #kinds = new Map<string, Counted>();

  /** @param path called only while few paths are known */
  note(kind: OmissionKind, reason: string, path: () => ByteString): void {
    const known = this.#of(kind, reason);
    known.count += 1;
    if (known.paths.length < SHOWN_PATHS) known.paths.push(path());
  }

  add(others: readonly Omission[]): void {
    for (const { kind, count, reason, paths } of others) {
      const known = this.#of(kind, reason);
      known.count += count;
      known.paths.push(...paths.slice(0, SHOWN_PATHS - known.paths.length));
    }
  }

  list(): Omission[] {
    return [...this.#kinds.values()].map((counted) => ({ ...counted }));
  }

  /** Returns the omissions since the last call, and clears them. */
  take(): Omission[] {
    if (this.#kinds.size === 0) return [];
    const list = this.list();
    this.#kinds.clear();
    return list;
  }

  /** There are few reasons for not deleting, each worth reporting. Of other kinds only the first reason is kept. */
  #of(kind: OmissionKind, reason: string): Counted {
    const key = kind === 'deletion' ? `${kind}: ${reason}` : kind;
    let known = this.#kinds.get(key);
    if (known === undefined) {
      known = { kind, reason, count: 0, paths: [] };
      this.#kinds.set(key, known);
    }
    return known;
  }
}
