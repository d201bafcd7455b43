import { BugError } from '../../base/errors.ts';
import type { Job } from '../../jobs/job.ts';
import type { Check, Drill, Prune } from '../schemas/operation.ts';
import { jobFields } from './job.ts';

export function presentCheck(job: Job, now: number): Check {
  const { spec } = job;
  if (spec.type !== 'check') throw new BugError(`${job.id} is no check`);
  return { ...jobFields(job, now), type: 'check', read_data: spec.read_data };
}

export function presentPrune(job: Job, now: number): Prune {
  const { spec } = job;
  if (spec.type !== 'prune') throw new BugError(`${job.id} is no prune`);
  return { ...jobFields(job, now), type: 'prune', apply_retention: spec.apply_retention };
}

export function presentDrill(job: Job, now: number): Drill {
  const { spec } = job;
  if (spec.type !== 'drill') throw new BugError(`${job.id} is no drill`);
  return { ...jobFields(job, now), type: 'drill', files: spec.files };
}
