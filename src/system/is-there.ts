/** Whether something exists at a path. A link counts as what it leads to. */
import { stat } from 'node:fs/promises';
import { errnoOf } from '../base/errors.ts';

/** @throws the system's error for a path that cannot be examined */
export async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** True also for a path that cannot be examined: whatever opens it reports the error. */
export async function mayBeThere(path: string): Promise<boolean> {
  try {
    return await isThere(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return true;
  }
}
