/** Migrates any earlier schema to the present one in numbered steps. A released step is never changed. */
import { existsSync } from 'node:fs';
import { causeText } from '../base/errno-words.ts';
import { StateError } from '../base/errors.ts';
import { type Database, isDamage, saveCopy } from './database.ts';
import { firstTables } from './migrations/001-first-tables.ts';
import {
  partnerReports,
  passes,
  rateTimes,
  restorePreviews,
  runsAndAmounts,
} from './migrations/002-and-later.ts';

/** The version of a database is the number of steps it has taken. */
export const MIGRATIONS: readonly string[] = [
  firstTables,
  passes,
  rateTimes,
  partnerReports,
  runsAndAmounts,
  restorePreviews,
];

/**
 * Brings the database at `path` up to date, each step in a transaction of its own. A database that is not new is first
 * copied to `<path>.before-N`, where N is the first step taken.
 * @throws {StateError} NEWER_STATE, MIGRATION_FAILED; damage is thrown as SQLite reports it
 */
export function migrate(database: Database, path: string, migrations: readonly string[]): void {
  const version = Number(database.pragma('user_version', { simple: true }));
  if (version > migrations.length) {
    throw new StateError(
      'NEWER_STATE',
      `The state database ${path} was written by a newer version of Holdfast`,
      {
        hint: `Nothing was changed, and your backups are not affected. ${wayOn(copyBefore(path, migrations.length + 1))}`,
        details: { version, known: migrations.length },
      },
    );
  }
  if (version === migrations.length) return;
  const first = version + 1;
  try {
    if (version > 0) saveCopy(database, copyBefore(path, first));
    for (const [index, sql] of migrations.slice(version).entries()) {
      database.transaction(() => {
        database.exec(sql);
        database.pragma(`user_version = ${first + index}`);
      })();
    }
  } catch (cause) {
    if (isDamage(cause)) throw cause;
    throw new StateError(
      'MIGRATION_FAILED',
      `The state database ${path} could not be brought up to date: ${causeText(cause)}`,
      { hint: 'Check that the disk has space; the database is as it was before the failed step.', cause },
    );
  }
}

/** The name of the copy that is made before the step of this number. */
function copyBefore(path: string, step: number): string {
  return `${path}.before-${step}`;
}

/** What helps after a newer version has taken steps that this one does not know. */
function wayOn(copy: string): string {
  const newer = 'Install the newer Holdfast again, or set HOLDFAST_STATE_DIR to another directory.';
  if (!existsSync(copy)) return newer;
  return `${newer} To go back for good, replace it with the copy from before the upgrade, ${copy}: docs/install.md says how, and what is lost.`;
}
