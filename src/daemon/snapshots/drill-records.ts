/** Stores the result of the last restore drill of each snapshot. */
import type { Clock } from '../../base/clock.ts';
import type { SettingStore } from '../../db/settings.ts';
import type { SnapshotTrial } from '../../engine/protocol.ts';
import type { SnapshotDrill, SnapshotSummary } from '../../jobs/agent.ts';

const PREFIX = 'drill ';
/** Enough for all snapshots that are drilled between two looks at the results. */
const MOST_KEPT = 1_000;

export class DrillRecords {
  readonly #store: SettingStore;
  readonly #clock: Clock;

  constructor(store: SettingStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The result of the latest drill replaces the one before. */
  record(jobId: string, { snapshotId, files, failed }: SnapshotTrial): void {
    const drill: SnapshotDrill = { job_id: jobId, at: this.#clock.now(), files, files_failed: failed };
    this.#store.set(`${PREFIX}${snapshotId}`, JSON.stringify(drill));
    this.#forgetOldest();
  }

  with<T extends SnapshotSummary>(snapshot: T): T {
    const text = this.#store.get(`${PREFIX}${snapshot.id}`);
    return text === undefined ? snapshot : { ...snapshot, last_drill: JSON.parse(text) as SnapshotDrill };
  }

  #forgetOldest(): void {
    const kept = [...this.#store.all()].filter(([key]) => key.startsWith(PREFIX));
    if (kept.length <= MOST_KEPT) return;
    const at = ([, text]: readonly [string, string]): number => (JSON.parse(text) as SnapshotDrill).at;
    const oldest = kept.sort((a, b) => at(a) - at(b)).slice(0, kept.length - MOST_KEPT);
    for (const [key] of oldest) this.#store.set(key, undefined);
  }
}
