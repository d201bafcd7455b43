/** The agent's implementation of the runner's host. */
import type { Logger } from 'pino';
import type { StateDatabase } from '../db/state-database.ts';
import type { JobHost } from '../jobs/job-host.ts';
import type { JobSpec } from '../jobs/job.ts';
import type { JobPlaces } from '../jobs/queue.ts';
import type { Surroundings } from './health/surroundings.ts';
import { isFar, placeOf, type Destinations } from './places/destinations.ts';
import type { DrillRecords } from './snapshots/drill-records.ts';
import { sourceOf } from './sources/configured-source.ts';
import {
  keepOutcome,
  keepRepository,
  tellOfJob,
  type KeepOutcome,
  type TellOfJob,
} from './jobs/after-job.ts';
import type { JobEnds } from './jobs/job-ends.ts';
import { prepareJob, type Preparing } from './jobs/prepare-job.ts';
import { whyItWaits, type WaitingParts } from './jobs/why-it-waits.ts';

export interface JobHostParts
  extends Preparing, WaitingParts, Omit<KeepOutcome, 'destinations' | 'opened'>, Pick<TellOfJob, 'notifier'> {
  readonly destinations: Destinations;
  readonly database: StateDatabase;
  readonly log: Pick<Logger, 'info'>;
  readonly drills: Pick<DrillRecords, 'record'>;
  readonly surroundings: Pick<Surroundings, 'judged'>;
  readonly ends: Pick<JobEnds, 'keep' | 'delayed' | 'ended'>;
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
