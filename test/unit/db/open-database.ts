/** A state database in a directory of its own, opened again and again as a restart does. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStateDatabase, type StateDatabase } from '../../../src/db/state-database.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';

export interface DatabaseSite {
  readonly directory: string;
  readonly path: string;
  readonly clock: ManualClock;
  /** Closes what is open and opens it anew. */
  reopen(migrations?: readonly string[]): StateDatabase;
  remove(): void;
}

export function databaseSite(): DatabaseSite {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-db-'));
  const path = join(directory, 'state.db');
  const clock = manualClock();
  let open: StateDatabase | undefined;
  return {
    directory,
    path,
    clock,
    reopen(migrations) {
      open?.close();
      open = undefined;
      open = openStateDatabase(path, clock, migrations);
      return open;
    },
    remove() {
      open?.close();
      rmSync(directory, { recursive: true });
    },
  };
}
