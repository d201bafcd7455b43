/** What the end of a job means for everything but the job itself. */
import { hostname } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { BugError } from '../base/errors.ts';
import type { StateDatabase } from '../db/state-database.ts';
import type { EngineOutcome } from '../engine/protocol.ts';
import type { Job } from '../jobs/job.ts';
import { noticeOfJob } from '../notify/job-notice.ts';
import type { Metrics } from '../notify/metrics.ts';
import { createNotice } from '../notify/notice.ts';
import type { Notifier } from '../notify/notifier.ts';
import type { Alarms } from './alarm-book.ts';
import type { Catalogs } from './catalogs.ts';
import type { Destinations } from './destinations.ts';
import type { OpenedPlaces } from './opened-places.ts';
import { placeOf } from './prepare-pass.ts';
import { keepStoredBytes, type StoredBytesStores } from './stored-bytes.ts';

export interface AfterJob {
  readonly destinations: Pick<Destinations, 'find'>;
  readonly opened: Pick<OpenedPlaces, 'of'>;
  readonly catalogs: Pick<Catalogs, 'update' | 'updateAll'>;
  readonly alarms: Pick<Alarms, 'judge'>;
  readonly metrics: Pick<Metrics, 'jobEnded'>;
  readonly notifier: Pick<Notifier, 'notify'>;
  readonly state: { readonly database: Pick<StateDatabase, 'jobLog' | 'jobs'> };
  readonly clock: Clock;
}

/** Which repository a job has opened or made, before it does anything there. @throws what the state database throws */
export function keepRepository(
  job: Job,
  repositoryId: string,
  { destinations, opened, clock }: KeepRepository,
): void {
  const place = opened.of(job);
  if (place === undefined) throw new BugError(`Job ${job.id} has opened no place`);
  destinations.remember(place, repositoryId, clock.now());
}

export interface KeepRepository extends Pick<KeepOutcome, 'opened' | 'clock'> {
  readonly destinations: Pick<Destinations, 'remember'>;
}

/** What is remembered of a job that has completed, together with its end. */
export function keepOutcome(job: Job, outcome: EngineOutcome, parts: KeepOutcome): void {
  const { destinations, opened, state, clock } = parts;
  const place = opened.of(job);
  if (place !== undefined) destinations.remember(place, outcome.repositoryId, clock.now());
  // It may have been renamed, moved or removed meanwhile.
  const now = placeOf(destinations, job.spec.destination);
  if (now !== undefined && now.url === place?.url && outcome.storedBytes !== null)
    keepStoredBytes(state.database, now.name, outcome.storedBytes, clock.now());
  if (outcome.preview !== undefined) state.database.previews.put(job.id, outcome.preview);
}

export interface KeepOutcome {
  readonly destinations: Pick<Destinations, 'find' | 'remember'>;
  readonly opened: Pick<OpenedPlaces, 'of'>;
  readonly state: { readonly database: StoredBytesStores & Pick<StateDatabase, 'previews'> };
  readonly clock: Clock;
}

export function afterJob(job: Job, outcome: EngineOutcome | null, parts: AfterJob): void {
  const { destinations, opened, catalogs, alarms, metrics, notifier, clock } = parts;
  metrics.jobEnded(job);
  if (job.status === 'completed' && job.type !== 'restore') {
    const place = placeOf(destinations, job.spec.destination);
    if (place !== undefined && place.url === (opened.of(job) ?? place).url) catalogs.update(place);
    // It has another name by now, or none, or the name means another place.
    else catalogs.updateAll();
  }
  // A copy says nothing of how the source is now.
  const raised = outcome?.copied === true ? [] : alarms.judge(job, outcome?.compared ?? null);
  for (const alarm of raised) {
    const facts = { kind: 'alarm' as const, host: hostname(), text: alarm.text, source: alarm.source };
    notifier.notify(createNotice(facts, clock));
  }
  tellOfJob(job, parts);
}

/** Tells the receivers of notices that a job has begun or ended. */
export function tellOfJob(
  job: Job,
  { state, notifier, clock }: Pick<AfterJob, 'state' | 'notifier' | 'clock'>,
): void {
  const log = state.database.jobLog.list(job.id).map(({ text }) => text);
  // With its problems, which are read for this alone.
  const notice = noticeOfJob(state.database.jobs.get(job.id) ?? job, hostname(), log);
  if (notice !== null) notifier.notify(createNotice(notice, clock));
}
