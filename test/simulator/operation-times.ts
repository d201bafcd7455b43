/** Since when operations of one sort are at work, by simulated time. */

/** No request takes longer to arrive, whatever became of who sent it. */
const LATE_MS = 300_000;

export class OperationTimes {
  #operations: { readonly machine: string; readonly beganMs: number; endedMs: number | undefined }[] = [];

  begin(machine: string, nowMs: number): void {
    this.#operations.push({ machine, beganMs: nowMs, endedMs: undefined });
  }

  /** Whatever the machine did has ended, or died. */
  end(machine: string, nowMs: number): void {
    for (const one of this.#operations)
      if (one.machine === machine && one.endedMs === undefined) one.endedMs = nowMs;
  }

  /** When the first began of those whose requests may still be on their way. */
  sinceMs(nowMs: number): number {
    this.#operations = this.#operations.filter(
      ({ endedMs }) => endedMs === undefined || nowMs - endedMs < LATE_MS,
    );
    return Math.min(nowMs, ...this.#operations.map(({ beganMs }) => beganMs));
  }
}
