import { readdir } from 'node:fs/promises';
import { errnoOf } from './errors.ts';

/** What is in a directory; nothing when it is not there. @throws a system error when it cannot be read */
export async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
