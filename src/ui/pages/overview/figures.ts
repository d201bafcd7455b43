/** Figures that are computed from the overview. */
import type {
  Overview,
  OverviewDay,
  OverviewDestination,
  OverviewSource,
  Run,
} from '../../../api/schemas/page/overview.ts';

export interface SourceRows {
  readonly path: string;
  /** Shorter than the path; `~` for the home directory. */
  readonly name: string;
  /** One for each destination. */
  readonly rows: readonly OverviewSource[];
}

/** Groups the rows by source, in the order in which the sources come. */
export function bySource(rows: readonly OverviewSource[]): readonly SourceRows[] {
  const paths = [...new Set(rows.map(({ path }) => path))];
  return paths.map((path) => {
    const own = rows.filter((row) => row.path === path);
    return { path, name: own[0]?.name ?? path, rows: own };
  });
}

/** When the next run is due; undefined when none is planned. */
export function nextRun(rows: readonly Pick<OverviewSource, 'next_run_at'>[]): string | undefined {
  return rows.flatMap(({ next_run_at: at }) => at ?? []).toSorted()[0];
}

export interface Protected {
  readonly files: number;
  readonly bytes: number;
}

/** Each source counts once, however many destinations it has. */
export function protectedIn(rows: readonly OverviewSource[]): Protected {
  const largest = (all: readonly (number | null)[]): number => Math.max(0, ...all.map((one) => one ?? 0));
  return bySource(rows).reduce<Protected>(
    (sum, source) => ({
      files: sum.files + largest(source.rows.map(({ files }) => files)),
      bytes: sum.bytes + largest(source.rows.map(({ size_bytes: size }) => size)),
    }),
    { files: 0, bytes: 0 },
  );
}

/** Bytes stored in all destinations together. */
export function storedIn(destinations: readonly Pick<OverviewDestination, 'used_bytes'>[]): number {
  return destinations.reduce((sum, { used_bytes: used }) => sum + (used ?? 0), 0);
}

/** Whether the counted snapshots include those of every destination: one that was not read has more. */
export function isAllRead({
  saved,
  destinations,
}: {
  readonly saved: Overview['saved'];
  readonly destinations: readonly Pick<OverviewDestination, 'used_bytes'>[];
}): boolean {
  const isEach = destinations.every(({ used_bytes: used }) => (used ?? 0) > 0);
  return isEach && saved.snapshots >= destinations.length && saved.stored_bytes === storedIn(destinations);
}

/** The share of space that is saved compared with a plain copy for each snapshot; undefined while there is no saving. */
export function savedShare({ saved }: Pick<Overview, 'saved'>): number | undefined {
  const share = 1 - saved.stored_bytes / saved.snapshot_bytes;
  return saved.snapshot_bytes > 0 && share >= 0.005 ? share : undefined;
}

/** The newest good backup; null when there is none. */
export function lastGood(rows: readonly Pick<OverviewSource, 'last_good_backup_at'>[]): string | null {
  return newestOf(rows.map(({ last_good_backup_at: at }) => at));
}

/** The newest backup to another destination than now, while there is none to this one; null when there is none. */
export function earlierGood(rows: readonly Pick<OverviewSource, 'earlier_backup_at'>[]): string | null {
  return newestOf(rows.map(({ earlier_backup_at: at }) => at));
}

function newestOf(times: readonly (string | null)[]): string | null {
  return (
    times
      .flatMap((at) => at ?? [])
      .toSorted()
      .at(-1) ?? null
  );
}

/** The worst that backups of a day came to; `none` when there were none. */
export function dayOutcome({
  backups,
  incomplete,
  failed,
}: OverviewDay): 'completed' | 'warning' | 'failed' | 'none' {
  if (failed > 0) return 'failed';
  if (incomplete > 0) return 'warning';
  return backups > 0 ? 'completed' : 'none';
}

export function stretchOf(days: readonly OverviewDay[]): {
  readonly backups: number;
  readonly failed: number;
  readonly bytes: number;
} {
  const sum = (of: (day: OverviewDay) => number): number => days.reduce((all, day) => all + of(day), 0);
  return {
    backups: sum(({ backups }) => backups),
    failed: sum(({ failed }) => failed),
    bytes: sum(({ bytes_stored: bytes }) => bytes),
  };
}

export type Outcome = Run['status'] | 'warning';

/** The outcome of a run. A job that completed except for some files is neither good nor failed. */
export function outcomeOf({ status, result }: Pick<Run, 'status' | 'result'>): Outcome {
  return status === 'completed' && result === 'warning' ? 'warning' : status;
}

/**
 * Height of a bar in percent, for what a run stored. The scale is logarithmic, so that kilobytes are visible next to
 * gigabytes.
 */
export function barHeight(bytes: number, most: number): number {
  const scale = (value: number): number => Math.log2(1 + value / 1_024);
  return most <= 0 ? 20 : Math.round(20 + 80 * (scale(bytes) / scale(most)));
}

/** When tomorrow begins for people: at 6 in the morning, in their own time zone. */
export function tomorrowMorning(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 6);
}
