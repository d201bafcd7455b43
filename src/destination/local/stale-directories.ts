/** Directories of keys that nothing lies in any more. */
import { readdir, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../base/errors.ts';
import { isKeyPart } from '../key.ts';

/**
 * Where keys have directories that are emptied: each run has one for its lease, and prune empties those of packs. Whatever
 * else is empty there is not ours.
 */
const EMPTIED = [
  ['leases', /^(prune|session\.[a-z0-9]+)$/],
  ['packs', /^[0-9a-f]{2}$/],
] as const;

/** Two levels down, where keys have their last directory. Whoever puts into one that goes makes it again. */
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
