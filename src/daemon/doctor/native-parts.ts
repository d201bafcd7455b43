/**
 * Whether the native packages that only the agent needs load and work. They are imported inside the functions, so that
 * only a check loads them.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Opens and closes a database in a temporary directory. */
export async function tryDatabase(): Promise<void> {
  const { openDatabase } = await import('../../db/database.ts');
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-try-'));
  try {
    openDatabase(join(directory, 'try.db')).close();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export async function tryWatching(): Promise<void> {
  await import('../../watch/native-watcher.ts');
}
