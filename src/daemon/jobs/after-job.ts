/** Everything that follows from the opening and the end of a job, apart from the job itself. */
import { hostname } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import { BugError } from '../../base/errors.ts';
import type { Settings } from '../../config/settings.ts';
import type { StateDatabase } from '../../db/state-database.ts';
import type { EngineOutcome } from '../../engine/protocol.ts';
import type { Membership } from '../../enrollment/membership.ts';
import type { Job } from '../../jobs/job.ts';
import { noticeOfJob } from '../../notify/job-notice.ts';
import type { Metrics } from '../../notify/metrics.ts';
import { createNotice } from '../../notify/notice.ts';
import type { Notifier } from '../../notify/notifier.ts';
import type { Catalogs } from '../snapshots/catalogs.ts';
import { placeOf, type Destinations } from '../places/destinations.ts';
import type { OpenedPlaces } from './opened-places.ts';
import type { Spools } from './spools.ts';
import { keepStoredBytes, type StoredBytesStores } from '../places/stored-bytes.ts';
import type { Watching } from '../sources/watching.ts';

/**
 * Records the repository that a job has opened or made, before the job stores anything in it.
 * @throws what the state database throws
 */
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

/** Records what a completed job has found, together with its end. */
export function keepOutcome(job: Job, outcome: EngineOutcome, parts: KeepOutcome): void {
  const { destinations, opened, state, clock } = parts;
  const place = opened.of(job);
  if (place !== undefined) destinations.remember(place, outcome.repositoryId, clock.now());
  // The destination may have been renamed, moved or removed meanwhile.
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

export interface Followers {
  readonly watching: Pick<Watching, 'ended' | 'follow'>;
  readonly spools: Pick<Spools, 'tidy'>;
  readonly membership: Pick<Membership, 'ended'>;
  readonly metrics: Pick<Metrics, 'jobEnded'>;
  readonly destinations: Pick<Destinations, 'find'>;
  readonly opened: Pick<OpenedPlaces, 'of' | 'ended'>;
  readonly catalogs: Pick<Catalogs, 'update' | 'updateAll'>;
  readonly settings: () => Pick<Settings, 'sources'>;
}

/**
 * What follows from the end of a job in addition to notices and alarms, in this order. Each may throw without affecting
 * the others.
 */
export function followers(parts: Followers): readonly ((job: Job) => void)[] {
  const { watching, spools, membership, metrics, opened, settings } = parts;
  return [
    (job) => watching.ended(job),
    (job) => {
      if (job.type === 'backup') spools.tidy();
    },
    (job) => membership.ended(job),
    (job) => metrics.jobEnded(job),
    (job) => showStored(job, parts),
    (job) => opened.ended(job),
    // The job may have made a repository inside a source, or somebody has removed one since.
    () => watching.follow(settings().sources),
  ];
}

/** Updates the catalogs with what the job has changed in its repository. */
function showStored(job: Job, { destinations, opened, catalogs }: Followers): void {
  if (job.status !== 'completed' || job.type === 'restore') return;
  const place = placeOf(destinations, job.spec.destination);
  if (place !== undefined && place.url === (opened.of(job) ?? place).url) catalogs.update(place);
  // The destination has been renamed or removed, or its name means another place.
  else catalogs.updateAll();
}

export interface TellOfJob {
  readonly database: Pick<StateDatabase, 'jobLog' | 'jobs'>;
  readonly notifier: Pick<Notifier, 'notify'>;
  readonly clock: Clock;
  /** Other problems, in sentences: see `stillFailing`. */
  readonly stillFailing: (job: Job) => readonly string[];
}

/** Sends a notice that a job has begun or ended. The job is taken as given, since its end may not be stored yet. */
export function tellOfJob(job: Job, parts: TellOfJob): void {
  const { database, notifier, clock } = parts;
  const log = database.jobLog.list(job.id).map(({ text }) => text);
  // Problems are loaded only for the notice.
  const problems = database.jobs.get(job.id)?.problems ?? job.problems;
  const notice = noticeOfJob({ ...job, problems }, hostname(), log);
  if (notice === null) return;
  notifier.notify(createNotice({ ...notice, stillFailing: parts.stillFailing(job) }, clock));
}
