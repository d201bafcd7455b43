/** Which snapshots were forgotten, when, and by whom: rules leave a complete one of every machine. */
import type { Snapshot } from '../../src/repository/snapshots.ts';
import { Violation } from './promises.ts';

interface ByHand {
  readonly ms: number;
  /** Of a complete snapshot. */
  readonly host: string | undefined;
}

export class JudgedForgetting {
  /** When, by id. */
  readonly #all = new Map<string, number>();
  /** What people have forgotten; also when prune has removed it since. */
  readonly #byHand = new Map<string, ByHand>();

  /** Infinity for one that stands. */
  sinceMs(id: string): number {
    return this.#all.get(id) ?? Infinity;
  }

  see(ids: Iterable<string>, nowMs: number): void {
    for (const id of ids) if (!this.#all.has(id)) this.#all.set(id, nowMs);
  }

  /** A power failure took a tombstone back that nobody had been told of. */
  takenBack(id: string): void {
    this.#all.delete(id);
    this.#byHand.delete(id);
  }

  byHand(id: string, ms: number, snapshot: Snapshot | undefined): void {
    const host = snapshot?.record.status === 'complete' ? snapshot.record.host : undefined;
    this.#byHand.set(id, { ms, host });
  }

  /**
   * @param gone what rules have forgotten now
   * @param snapshots all that are stored
   * @param sinceMs what people have forgotten since then the rules could not know of
   * @throws {Violation}
   */
  requireLastKept(gone: ReadonlySet<string>, snapshots: readonly Snapshot[], sinceMs: number): void {
    const complete = snapshots.filter(({ record }) => record.status === 'complete');
    for (const { id, record } of complete) {
      if (!gone.has(id)) continue;
      const { host } = record;
      const stays = complete.some((one) => one.record.host === host && !this.#all.has(one.id));
      const wasCountedOn = [...this.#byHand].some(
        ([other, by]) => by.host === host && by.ms >= sinceMs && !gone.has(other),
      );
      if (!stays && !wasCountedOn)
        throw new Violation('last-complete-kept', `of ${host} no complete snapshot is left`);
    }
  }
}
