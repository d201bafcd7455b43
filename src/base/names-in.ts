import { readdir } from 'node:fs/promises';
import { errnoOf } from './errors.ts';

/** The names in a directory; none when it does not exist. @throws a system error when it cannot be read */
export async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
