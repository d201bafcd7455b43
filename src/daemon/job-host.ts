/** The agent's implementation of the runner's host. */
import type { Logger } from 'pino';
import type { Clock } from '../base/clock.ts';
import type { Settings } from '../config/settings.ts';
import type { StateDatabase } from '../db/state-database.ts';
import type { Membership } from '../enrollment/membership.ts';
import { type Circumstances, waitingReason } from '../jobs/conditions.ts';
import type { JobHost } from '../jobs/job-host.ts';
import type { Job, JobSpec, Wait } from '../jobs/job.ts';
import type { PassPart } from '../jobs/pass.ts';
import { isPersons, type JobPlaces } from '../jobs/queue.ts';
import type { Surroundings } from './health/surroundings.ts';
import {
  keepOutcome,
  type KeepOutcome,
  keepRepository,
  tellOfJob,
  type TellOfJob,
} from './jobs/after-job.ts';
import type { JobEnds } from './jobs/job-ends.ts';
import { prepareJob, type Preparing } from './jobs/prepare-job.ts';
import { isThroughNetwork } from './jobs/prepare-pass.ts';
import { type Destinations, isFar, placeOf } from './places/destinations.ts';
import type { DrillRecords } from './snapshots/drill-records.ts';
import { sourceOf } from './sources/configured-source.ts';

export interface JobHostParts
  extends Preparing, WaitingParts, Omit<KeepOutcome, 'destinations' | 'opened'>, Pick<TellOfJob, 'notifier'> {
  readonly destinations: Destinations;
  readonly database: StateDatabase;
  readonly log: Pick<Logger, 'info'>;
  readonly drills: Pick<DrillRecords, 'record'>;
  readonly surroundings: Pick<Surroundings, 'judged'>;
  readonly ends: Pick<JobEnds, 'keep' | 'delayed' | 'ended' | 'warned'>;
}

export function createJobHost(parts: JobHostParts): JobHost {
  const { destinations, settings, watching, drills, surroundings, ends, log } = parts;
  return {
    placesOf: (spec) => placesOf(destinations, spec),
    waitingReason: async (job, part) => await whyItWaits(job, part, parts),
    prepare: async (job, part, signal) => await prepareJob(job, part, parts, signal),
    hooksOf: ({ spec }) => (spec.type === 'backup' ? (sourceOf(settings(), spec)?.hooks ?? null) : null),
    hookRuns: (job) => watching.commandRuns(job),
    began: (job) => tellOfJob(job, { ...parts, stillFailing: () => [] }),
    heldUp: (job, waitsFor) => log.info({ job }, waitsFor),
    opened: (job, repositoryId) => keepRepository(job, repositoryId, parts),
    tried: (jobId, trial) => drills.record(jobId, trial),
    judged: (jobId, outcome) => surroundings.judged(jobId, outcome),
    keepEnd: (job, outcome) => ends.keep(job, outcome),
    endDelayed: (job) => ends.delayed(job),
    completed(job, outcome) {
      watching.completed(job, outcome);
      keepOutcome(job, outcome, parts);
    },
    ended: (job) => ends.ended(job),
    warned: (job) => ends.warned(job),
  };
}

/**
 * The source and destination of a job, each of which is used by one job at a time. Destinations are compared by URL, as
 * two names may mean one place.
 */
function placesOf(destinations: Destinations, spec: JobSpec): JobPlaces {
  const place = placeOf(destinations, spec.destination);
  return {
    source: spec.type === 'backup' ? spec.source : null,
    destination: place?.url ?? spec.destination,
    isFar: place === undefined || isFar(place),
  };
}

interface WaitingParts {
  readonly membership: Pick<Membership, 'heldBack'>;
  readonly settings: () => Settings;
  readonly destinations: Destinations;
  readonly circumstances: Circumstances;
  readonly clock: Clock;
}

/** Why a job may not begin yet: the partner's plan, and the conditions of the settings. Null when it may run. */
async function whyItWaits(
  job: Job,
  part: PassPart,
  { membership, settings, destinations, circumstances, clock }: WaitingParts,
): Promise<Wait | null> {
  const held = isPersons(job.trigger) || job.type !== 'backup' ? null : membership.heldBack();
  if (held !== null) return { code: held, params: {} };
  const { conditions, timeZone } = settings();
  const place = placeOf(destinations, job.spec.destination);
  const remote = isThroughNetwork(job, part, destinations);
  const destinationPresent = place === undefined || destinations.isPresent(place);
  const input = { conditions, timeZone, remote, destinationPresent };
  return await waitingReason(job, input, circumstances, clock.now());
}
