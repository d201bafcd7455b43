/** Removes directories of keys that have been empty for long. */
import { readdir, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../base/errors.ts';
import { isKeyPart } from '../key.ts';

/**
 * Directories that become empty in normal use: each run has one for its lease, and prune empties those of packs. Any
 * other empty directory does not belong to the repository.
 */
const EMPTIED = [
  ['leases', /^(prune|session\.[a-z0-9]+)$/],
  ['packs', /^[0-9a-f]{2}$/],
] as const;

/**
 * Removes empty directories two levels down, the deepest that keys have. A put into one that has just been removed
 * makes it again.
 */
export async function removeStaleDirectories(
  root: string,
  staleMs: number,
  signal: AbortSignal,
): Promise<void> {
  const there = await keyDirectories(root);
  for (const [first, ours] of EMPTIED) {
    if (!there.includes(first)) continue;
    for (const directory of await keyDirectories(join(root, first))) {
      if (!ours.test(directory)) continue;
      signal.throwIfAborted();
      const path = join(root, first, directory);
      try {
        if ((await stat(path)).mtimeMs <= staleMs) await rmdir(path);
      } catch (error) {
        // The directory is not empty, or another prune has removed it.
        if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errnoOf(error) ?? '')) throw error;
      }
    }
  }
}

async function keyDirectories(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() && isKeyPart(entry.name)).map(({ name }) => name);
}
