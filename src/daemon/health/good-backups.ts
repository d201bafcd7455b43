/**
 * When a source was last backed up well to a destination: the time when the run began that read the source. A copy of an
 * older snapshot therefore counts as old, whenever it was made. A run that began while the clock was ahead has a time in
 * the future, which would hide for long that all later runs fail. Such a run counts from when this was first noticed.
 */
import type { JobStore, NewestFilter } from '../../db/jobs.ts';
import type { SettingStore } from '../../db/settings.ts';
import type { Job, JobStatus } from '../../jobs/job.ts';

interface Noticed {
  readonly job: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Milliseconds since 1970, `nowMs` at the latest; null when there is no good backup. */
export function goodAt(
  settings: Pick<SettingStore, 'get'>,
  destination: string,
  source: string,
  last: Job | undefined,
  nowMs: number,
): number | null {
  const at = sourceReadAt(last);
  if (at === null || at <= nowMs) return at;
  const noticed = noticedIn(settings, goodKey(destination, source));
  return Math.min(noticed?.job === last?.id ? (noticed?.at ?? nowMs) : nowMs, nowMs);
}

/** Jobs that an earlier version completed only have the time when they began themselves. */
function sourceReadAt(job: Job | undefined): number | null {
  return job?.source_read_at ?? job?.started_at ?? job?.finished_at ?? null;
}

/** The job that ended last. Their order decides instead of their times where one of them has a time in the future. */
export function lastEnded(
  jobs: Pick<JobStore, 'newest'>,
  filter: Omit<NewestFilter, 'status' | 'statuses'>,
  nowMs: number,
): Job | undefined {
  const [good, failed] = (['completed', 'failed'] as const).map((status) =>
    jobs.newest({ ...filter, status }),
  );
  if (good === undefined || failed === undefined) return good ?? failed;
  const [goodMs, failedMs] = [good.finished_at ?? 0, failed.finished_at ?? 0];
  if (Math.max(goodMs, failedMs) > nowMs) return jobs.newest({ ...filter, statuses: ENDED_BY_ITSELF });
  return failedMs > goodMs ? failed : good;
}

/** Canceled jobs were ended by a person. */
const ENDED_BY_ITSELF: readonly JobStatus[] = ['completed', 'failed'];

/** To be called periodically: notes a backup whose time is in the future. */
export function noticeGood(
  settings: Pick<SettingStore, 'get' | 'set'>,
  destination: string,
  source: string,
  last: Job | undefined,
  nowMs: number,
): void {
  const key = goodKey(destination, source);
  const noticed = noticedIn(settings, key);
  if (last === undefined || (sourceReadAt(last) ?? 0) <= nowMs) {
    // Also when the clock was behind and has been corrected.
    if (noticed !== undefined) settings.set(key, undefined);
    return;
  }
  if (noticed?.job === last.id && noticed.at <= nowMs) return;
  settings.set(key, JSON.stringify({ job: last.id, at: nowMs } satisfies Noticed));
}

function noticedIn(settings: Pick<SettingStore, 'get'>, key: string): Noticed | undefined {
  const text = settings.get(key);
  return text === undefined ? undefined : (JSON.parse(text) as Noticed);
}

export function goodKey(destination: string, source: string): string {
  return `good ahead ${destination} ${source}`;
}
