/** Which backups say how their source stands. `jobs.newest` finds them by the same rules. */
import type { Job, JobSpec } from './job.ts';

/** With nothing left out but what the settings leave out: not one with exclude rules of the request's own. */
export function isWhole(spec: JobSpec): boolean {
  return spec.type === 'backup' && !spec.options.dry_run && spec.options.exclude.length === 0;
}

/** Completed, but with no file at all, and something could not be read: there is nothing that could be restored. */
export function hasReadNothing({ status, result, files_done: files }: Job): boolean {
  return status === 'completed' && result === 'warning' && files === 0;
}

/** One that a source may be restored from as it was, but for some files at most. */
export function isGood(job: Job): boolean {
  return job.status === 'completed' && isWhole(job.spec) && !hasReadNothing(job);
}
