/** Presents a job of any type in the form that its own routes use. */
import type { Job, JobType } from '../../jobs/job.ts';
import type { Backup } from '../schemas/backup.ts';
import type { Check, Drill, Prune } from '../schemas/operation.ts';
import type { Restore } from '../schemas/restore.ts';
import { presentBackup } from './backup.ts';
import { presentCheck, presentDrill, presentPrune } from './operation.ts';
import { presentRestore } from './restore.ts';

export type AnyJob = Backup | Restore | Check | Prune | Drill;

const PRESENT: Readonly<Record<JobType, (job: Job, now: number) => AnyJob>> = {
  backup: presentBackup,
  restore: presentRestore,
  check: presentCheck,
  prune: presentPrune,
  drill: presentDrill,
};

export function presentJob(job: Job, now: number): AnyJob {
  return PRESENT[job.type](job, now);
}
