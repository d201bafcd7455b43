import { BugError } from '../../base/errors.ts';
import type { Job } from '../../jobs/job.ts';
import type { Backup } from '../schemas/backup.ts';
import { jobFields } from './job.ts';

export function presentBackup(job: Job, now: number): Backup {
  const { spec } = job;
  if (spec.type !== 'backup') throw new BugError(`${job.id} is no backup`);
  const { options } = spec;
  return {
    ...jobFields(job, now),
    type: 'backup',
    files_backed_up: job.files_done,
    source: spec.source,
    options: {
      compression: options.compression,
      encryption: options.encryption,
      deduplication: options.deduplication,
      exclude: [...options.exclude],
      tags: [...options.tags],
      dry_run: options.dry_run,
    },
    snapshot_id: job.snapshot_id,
  };
}
