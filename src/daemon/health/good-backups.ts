/**
 * How the source was when it was last backed up well to a destination: as of when the run began that read it. A copy of an
 * older snapshot makes nothing newer than that, whenever it ended. A run that began while the clock was ahead bears a time
 * that is still to come, and would hide for as long that all others fail: it counts from when that was first noticed.
 */
import type { JobStore, NewestFilter } from '../../db/jobs.ts';
import type { SettingStore } from '../../db/settings.ts';
import type { Job, JobStatus } from '../../jobs/job.ts';

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
  const at = sourceReadAt(last);
  if (at === null || at <= nowMs) return at;
  const noticed = noticedIn(settings, goodKey(destination, source));
  return Math.min(noticed?.job === last?.id ? (noticed?.at ?? nowMs) : nowMs, nowMs);
}

/** Of a job that an earlier version has completed nothing says more than when it began itself. */
function sourceReadAt(job: Job | undefined): number | null {
  return job?.source_read_at ?? job?.started_at ?? job?.finished_at ?? null;
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
  if (last === undefined || (sourceReadAt(last) ?? 0) <= nowMs) {
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

export function goodKey(destination: string, source: string): string {
  return `good ahead ${destination} ${source}`;
}
