/** Since when operations of one sort are at work, by simulated time. */

/** No request takes longer to arrive, whatever became of who sent it. */
const LATE_MS = 300_000;

interface TimedOperation {
  readonly machine: string;
  readonly beganMs: number;
  endedMs: number | undefined;
}

export class OperationTimes {
  #operations: TimedOperation[] = [];

  begin(machine: string, nowMs: number): void {
    this.#operations.push({ machine, beganMs: nowMs, endedMs: undefined });
  }

  /** Whatever the machine did has ended, or died. */
  end(machine: string, nowMs: number): void {
    for (const one of this.#operations)
      if (one.machine === machine && one.endedMs === undefined) one.endedMs = nowMs;
  }

  /**
   * When the first began of those whose requests may still be on their way.
   * @param lookedMs since when what others do is not known to a machine that is at work, where that is later
   */
  sinceMs(nowMs: number, lookedMs: (machine: string) => number | undefined = () => undefined): number {
    this.#operations = this.#operations.filter(
      ({ endedMs }) => endedMs === undefined || nowMs - endedMs < LATE_MS,
    );
    const since = ({ machine, beganMs, endedMs }: TimedOperation): number =>
      endedMs === undefined ? Math.max(beganMs, lookedMs(machine) ?? beganMs) : beganMs;
    return Math.min(nowMs, ...this.#operations.map(since));
  }
}
