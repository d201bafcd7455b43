/** A backup as the Desktop API shows it. */
import type { Backup, JobStatus } from '../../dist/client/desktop-api.d.ts';
import { backupJob } from './backup-job.ts';

export function presentBackup(id: string, status: JobStatus): Backup {
  const error = { code: 'DESTINATION_UNREACHABLE', message: 'It is away.', details: { destination: 'nas' } };
  return backupJob({
    id,
    status,
    result: status === 'completed' ? 'success' : null,
    error: status === 'failed' ? error : null,
  });
}
