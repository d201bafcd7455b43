import type { ByteString } from '../../base/byte-path.ts';
import type { Omission, OmissionKind } from './request.ts';

/** Paths named for each kind of omission. */
const SHOWN_PATHS = 10;

interface Counted {
  readonly kind: OmissionKind;
  readonly reason: string;
  count: number;
  readonly paths: ByteString[];
}

/** Counts what was left out of entries that were restored, by kind. */
export class Omissions {
  readonly #kinds = new Map<string, Counted>();

  /** @param path asked for only while few paths are known */
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

  /** What came together since the last call. */
  take(): Omission[] {
    if (this.#kinds.size === 0) return [];
    const list = this.list();
    this.#kinds.clear();
    return list;
  }

  /** Deletions are left out for few reasons, each worth telling; of other kinds the first stands for all. */
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
