/** What every type of job has to work with. */
import type { NeverPath } from '../exclude/excluder.ts';
import { asByteString } from '../base/byte-path.ts';
import { pathText } from '../base/tree-path.ts';
import { isJobTag, jobTag } from '../base/job-tag.ts';
import { isFull } from '../base/stored-by.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import { ownPlaces } from '../system/same-place.ts';
import type { JobRepository } from './open-repository.ts';
import type { EngineDestination, EngineJob, EngineOutcome } from './protocol.ts';
import type { Report } from './report.ts';

export interface JobParts {
  readonly job: EngineJob;
  readonly place: JobRepository;
  readonly report: Report;
  /** Opens another repository to read from it. */
  readonly openOther: (destination: EngineDestination, signal: AbortSignal) => Promise<JobRepository>;
}

/** The tags of a snapshot without the one that names the job. */
export function tagsOfPerson(tags: readonly string[]): readonly string[] {
  return tags.filter((tag) => !isJobTag(tag));
}

export function snapshotOfJob(live: readonly Snapshot[], id: string): Snapshot | undefined {
  const tag = jobTag(id);
  return live.findLast(({ record, storedBy }) => isFull(storedBy) && record.tags.includes(tag));
}

/**
 * Paths that no backup includes and no restore writes to, under all their names: those from the daemon, and the job's
 * own state directory and repository.
 */
export async function neverPaths(
  {
    job,
    place,
  }: {
    readonly job: Pick<EngineJob, 'stateDirectory' | 'never'>;
    readonly place: Pick<JobRepository, 'directory'>;
  },
  signal: AbortSignal,
): Promise<readonly NeverPath[]> {
  const named = [
    { path: job.stateDirectory, reason: "Holdfast's own state directory" },
    ...(place.directory === undefined ? [] : [{ path: place.directory, reason: 'the repository itself' }]),
    ...job.never.map((path) => ({ path: pathText(asByteString(path)), reason: 'a place of Holdfast' })),
  ];
  return await ownPlaces(named, signal);
}

/** Fills the fields of an outcome that most jobs do not set. */
export function outcomeOf(
  { place }: JobParts,
  result: Partial<EngineOutcome> & Pick<EngineOutcome, 'progress' | 'facts'>,
): EngineOutcome {
  const warnings = result.warnings ?? 0;
  return {
    result: warnings > 0 ? 'warning' : 'success',
    snapshotId: null,
    sourceReadAt: null,
    hasReadSource: false,
    repositoryId: place.pretended ? '' : place.repository.id,
    files: 0,
    filesSkipped: 0,
    bytes: 0,
    storedBytes: place.packBytes() ?? null,
    compared: null,
    ...result,
    warnings,
  };
}
