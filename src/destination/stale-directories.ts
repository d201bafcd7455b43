/** Directories of keys that nothing lies in any more. */
import { readdir, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../base/errors.ts';
import { isKeyPart } from './key.ts';

/** Two levels down, where keys have their last directory. Whoever puts into one that goes makes it again. */
export async function removeStaleDirectories(
  root: string,
  staleMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (const first of await keyDirectories(root)) {
    for (const directory of await keyDirectories(join(root, first))) {
      signal.throwIfAborted();
      const path = join(root, first, directory);
      try {
        if ((await stat(path)).mtimeMs <= staleMs) await rmdir(path);
      } catch (error) {
        // Not empty, or gone by the hand of another prune.
        if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errnoOf(error) ?? '')) throw error;
      }
    }
  }
}

async function keyDirectories(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() && isKeyPart(entry.name)).map(({ name }) => name);
}
