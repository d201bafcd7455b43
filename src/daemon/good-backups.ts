/**
 * When the last good backup of a source at a destination was made. One that ended while the clock was ahead bears a time
 * that is still to come, and would hide for as long that all others fail: it counts from when that was first noticed.
 */
import type { JobStore, NewestFilter } from '../db/jobs.ts';
import type { SettingStore } from '../db/settings.ts';
import type { Job, JobStatus } from '../jobs/job.ts';

interface Noticed {
  readonly job: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Milliseconds since 1970, now at the latest; null when there is none. */
export function goodAt(
  settings: Pick<SettingStore, 'get'>,
  destination: string,
  source: string,
  last: Job | undefined,
  nowMs: number,
): number | null {
  const end = last?.finished_at ?? null;
  if (end === null || end <= nowMs) return end;
  const noticed = noticedIn(settings, goodKey(destination, source));
  return Math.min(noticed?.job === last?.id ? (noticed?.at ?? nowMs) : nowMs, nowMs);
}

/** The job that ended last. By the order of their coming where one of them bears a time that is still to come. */
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

/** Not by a person, who canceled it. */
const ENDED_BY_ITSELF: readonly JobStatus[] = ['completed', 'failed'];

/** To be called now and then: notes what bears a time that is still to come. */
export function noticeGood(
  settings: Pick<SettingStore, 'get' | 'set'>,
  destination: string,
  source: string,
  last: Job | undefined,
  nowMs: number,
): void {
  const key = goodKey(destination, source);
  const noticed = noticedIn(settings, key);
  const isAhead = last !== undefined && (last.finished_at ?? 0) > nowMs;
  if (!isAhead) {
    // Also where the clock was behind, and is right again.
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

function goodKey(destination: string, source: string): string {
  return `good ahead ${destination} ${source}`;
}
