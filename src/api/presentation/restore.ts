import { BugError } from '../../base/errors.ts';
import type { Job } from '../../jobs/job.ts';
import type { Restore } from '../schemas/restore.ts';
import { jobFields } from './job.ts';
import { presentStoredBy } from './stored-by.ts';

export function presentRestore(job: Job, now: number): Restore {
  const { spec } = job;
  if (spec.type !== 'restore') throw new BugError(`${job.id} is no restore`);
  const { options } = spec;
  return {
    ...jobFields(job, now),
    type: 'restore',
    snapshot_id: spec.snapshot_id,
    stored_by: spec.stored_by === undefined ? null : presentStoredBy(spec.stored_by),
    paths: spec.paths.map((path) => (typeof path === 'string' ? path : { path_b64: path.b64 })),
    target: spec.target,
    in_place: spec.target === null,
    options: {
      overwrite: options.overwrite,
      dry_run: options.dry_run,
      verify: options.verify,
      delete_extra: options.delete_extra,
      restore_ownership: options.restore_ownership,
    },
    files_restored: job.files_done,
    files_skipped: job.files_skipped,
    files_failed: job.progress.files_failed,
  };
}
