/** Builds what an engine has to know about a backup to several destinations. */
import { HoldfastError } from '../../base/errors.ts';
import type { CopyOrigin, EngineDestination, EnginePass } from '../../engine/protocol.ts';
import type { Job } from '../../jobs/job.ts';
import type { PassPart } from '../../jobs/pass.ts';
import { isFar, placeOf, type Destinations, type Place } from '../places/destinations.ts';
import { spoolDirectory } from './spools.ts';

export interface PreparingPass {
  readonly destinations: Destinations;
  readonly stateDirectory: string;
}

/** Undefined for a backup outside of a pass. */
export async function preparePass(
  place: Place,
  part: PassPart,
  { destinations, stateDirectory }: PreparingPass,
  signal: AbortSignal,
): Promise<EnginePass | undefined> {
  if (part.kind === 'alone' || part.kind === 'refused') return undefined;
  const directory = spoolDirectory(stateDirectory, part.pass);
  if (part.kind === 'reads') {
    const others = nearFirst(part.waiting, destinations);
    return {
      copyFrom: null,
      alike: await alikeOf(
        place,
        others.map((one) => one.place),
        destinations,
        signal,
      ),
      // Without a spool when the snapshot is on this machine, as it is read from there.
      spool: place.directory === undefined && others.length > 0 ? { directory, use: 'keep' } : null,
    };
  }
  const copyFrom: CopyOrigin[] = [];
  for (const { job, place: from } of nearFirst(part.from, destinations)) {
    const destination = await openIfPossible(from, destinations, signal);
    if (destination === undefined || job.snapshot_id === null) continue;
    copyFrom.push({ destination, jobId: job.id, snapshotId: job.snapshot_id });
  }
  const alike = copyFrom.map(({ destination }) => destination);
  return { copyFrom, alike, spool: { directory, use: 'read' } };
}

interface Other {
  readonly job: Job;
  readonly place: Place;
}

/** The jobs whose destinations seem to be there, those on this machine first. */
function nearFirst(jobs: readonly Job[], destinations: Destinations): readonly Other[] {
  const found = jobs.flatMap((job): readonly Other[] => {
    const place = placeOf(destinations, job.spec.destination);
    return place === undefined || !destinations.isPresent(place) ? [] : [{ job, place }];
  });
  return found.sort((a, b) => Number(isFar(a.place)) - Number(isFar(b.place)));
}

/**
 * Other destinations whose repositories a new one is made like. Looked up only where a repository may have to be made,
 * which happens once.
 */
async function alikeOf(
  place: Place,
  others: readonly Place[],
  destinations: Destinations,
  signal: AbortSignal,
): Promise<readonly EngineDestination[]> {
  if (destinations.repositoryId(place) !== undefined) return [];
  const alike: EngineDestination[] = [];
  for (const other of others) {
    if (destinations.repositoryId(other) === undefined) continue;
    const opened = await openIfPossible(other, destinations, signal);
    if (opened !== undefined) alike.push(opened);
  }
  return alike;
}

/** Undefined when its secret is unavailable, which that destination's own jobs report. */
async function openIfPossible(
  place: Place,
  destinations: Destinations,
  signal: AbortSignal,
): Promise<EngineDestination | undefined> {
  try {
    return await destinations.open(place, signal);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return undefined;
  }
}

/** Whether a job sends to a far destination, or copies from one. */
export function isThroughNetwork(
  { spec }: Pick<Job, 'spec'>,
  part: PassPart,
  destinations: Destinations,
): boolean {
  const place = placeOf(destinations, spec.destination);
  if (place !== undefined && isFar(place)) return true;
  if (part.kind !== 'copies') return false;
  return nearFirst(part.from, destinations).every((from) => isFar(from.place));
}
