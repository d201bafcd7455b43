/**
 * Marks of packs, and snapshots stored again, that a machine sent and then slept before they were stored: nobody can keep it
 * from that. When it goes on and finds that what it went by is no longer so, it has to take them back.
 */
import { HoldfastError } from '../../src/base/errors.ts';
import type { Violation } from './promises.ts';

/** How a run ends that finds out; any other failure may have kept it from that. */
const FOUND_OUT: ReadonlySet<string> = new Set(['REPOSITORY_LOCKED', 'REFUSED', 'SNAPSHOT_NOT_FOUND']);

export class LateRecords {
  readonly #records = new Map<string, { readonly machine: string; readonly violation: Violation }>();
  readonly #left = new Set<string>();

  add(name: string, machine: string, violation: Violation): void {
    this.#records.set(name, { machine, violation });
  }

  /** What the machine did has ended: with a failure, or with none. @throws {Violation} */
  ended(machine: string, failure: unknown, stands: (name: string) => boolean): void {
    const mayKnow =
      failure === undefined || (failure instanceof HoldfastError && FOUND_OUT.has(failure.code));
    for (const [name, record] of this.#records) {
      if (record.machine !== machine) continue;
      this.#records.delete(name);
      if (!stands(name)) continue;
      if (mayKnow) throw record.violation;
      this.#left.add(name);
    }
  }

  /** Its machine died, or failed, before it could find out. */
  wasLeft(name: string): boolean {
    return this.#left.has(name);
  }
}
