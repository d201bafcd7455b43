/** Whether backups lie in the embedded repository, as far as that is seen without a key. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../base/errors.ts';

/**
 * Each start of the agent makes the repository, so that one without a snapshot says nothing. One that was made and cannot be
 * seen, as on a drive that is away, holds what it held.
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
