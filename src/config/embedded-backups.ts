/** Whether the embedded repository contains backups, as far as can be seen without a key. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../base/errors.ts';

/**
 * The agent creates the repository at each start, so one without a snapshot does not count. A repository that was
 * created but cannot be read, as on a disconnected drive, is assumed to contain backups.
 */
export function holdsBackups(stateDirectory: string): boolean {
  if (!existsSync(join(stateDirectory, 'repository-id'))) return false;
  const repository = join(stateDirectory, 'repository');
  try {
    return readdirSync(join(repository, 'snapshots')).length > 0;
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') return true;
    return !existsSync(join(repository, 'keys'));
  }
}
