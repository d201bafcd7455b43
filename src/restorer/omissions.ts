import type { ByteString } from '../base/byte-path.ts';
import type { Omission, OmissionKind } from './request.ts';

/** Paths named for each kind of omission. */
const SHOWN_PATHS = 10;

/** Counts what was left out of entries that were restored, by kind. */
export class Omissions {
  readonly #kinds = new Map<OmissionKind, { count: number; reason: string; paths: ByteString[] }>();

  /** @param path asked for only while few paths are known */
  note(kind: OmissionKind, reason: string, path: () => ByteString): void {
    let known = this.#kinds.get(kind);
    if (known === undefined) {
      known = { count: 0, reason, paths: [] };
      this.#kinds.set(kind, known);
    }
    known.count += 1;
    if (known.paths.length < SHOWN_PATHS) known.paths.push(path());
  }

  add(others: readonly Omission[]): void {
    for (const { kind, count, reason, paths } of others) {
      const known = this.#kinds.get(kind);
      if (known === undefined) {
        this.#kinds.set(kind, { count, reason, paths: [...paths] });
        continue;
      }
      known.count += count;
      known.paths.push(...paths.slice(0, SHOWN_PATHS - known.paths.length));
    }
  }

  list(): Omission[] {
    return [...this.#kinds].map(([kind, { count, reason, paths }]) => ({ kind, count, reason, paths }));
  }

  /** What came together since the last call. */
  take(): Omission[] {
    if (this.#kinds.size === 0) return [];
    const list = this.list();
    this.#kinds.clear();
    return list;
  }
}
