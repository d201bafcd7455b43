/**
 * Marks of packs that a machine sent and then slept before they were stored: nobody can keep it from that. When it goes on
 * and finds that its right to mark has gone, it has to withdraw them.
 */
import { HoldfastError } from '../../src/base/errors.ts';
import type { Violation } from './promises.ts';

/** How a run ends that finds out; any other failure may have kept it from that. */
const FOUND_OUT: ReadonlySet<string> = new Set(['REPOSITORY_LOCKED', 'REFUSED']);

export class LateMarks {
  readonly #marks = new Map<string, { readonly machine: string; readonly violation: Violation }>();

  add(name: string, machine: string, violation: Violation): void {
    this.#marks.set(name, { machine, violation });
  }

  /** What the machine did has ended: with a failure, or with none. @throws {Violation} */
  ended(machine: string, failure: unknown, stands: (name: string) => boolean): void {
    const mayKnow =
      failure === undefined || (failure instanceof HoldfastError && FOUND_OUT.has(failure.code));
    for (const [name, mark] of this.#marks) {
      if (mark.machine !== machine) continue;
      this.#marks.delete(name);
      if (mayKnow && stands(name)) throw mark.violation;
    }
  }
}
