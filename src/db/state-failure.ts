/** Why the state cannot be written, and what to do. All parts that report this use these words. */
import { StateError, errnoOf } from '../base/errors.ts';
import { isDamage, isFailedQuery, isFull, isHeld } from './database.ts';

/**
 * `held`: another program has the database locked. `closed`: the database or its directory is not writable. `moved`:
 * the database is not where it was opened any more. `gone`: its directory is not there any more. `broken`: the system could not write for another reason.
 */
export type StateFailure = 'full' | 'held' | 'closed' | 'moved' | 'gone' | 'damaged' | 'broken';

/** Undefined for an error that has nothing to do with the state. */
export function stateFailureOf(error: unknown): StateFailure | undefined {
  if (isFull(error)) return 'full';
  if (error instanceof StateError) return stateFailureOf(error.cause) ?? 'broken';
  const code = errnoOf(error) ?? '';
  if (!isFailedQuery(error) && !['EROFS', 'EACCES', 'EPERM', 'EIO'].includes(code)) return undefined;
  if (isDamage(error)) return 'damaged';
  if (isHeld(error)) return 'held';
  if (code === 'SQLITE_READONLY_DBMOVED') return 'moved';
  return /READONLY|CANTOPEN|PERM|AUTH|EROFS|EACCES/.test(code) ? 'closed' : 'broken';
}

/** `what` is a clause, `hint` a sentence. */
export function stateFailureText(
  failure: StateFailure,
  directory: string,
): { readonly what: string; readonly hint: string } {
  switch (failure) {
    case 'full':
      return { what: `the disk of ${directory} is full`, hint: 'Free up space there.' };
    case 'held':
      return {
        what: `another program is using the database state.db in ${directory}`,
        hint: 'Close that program (a database browser, an SQLite shell, something that copies or scans files). The agent then continues automatically.',
      };
    case 'closed':
      return {
        what: `the agent does not have permission to write in ${directory}`,
        hint: 'Check that its disk is not mounted read-only, and that its files belong to the user of the agent.',
      };
    case 'moved':
      return {
        what: `the database state.db was moved or removed from ${directory}`,
        hint: 'Start the agent again: it recovers what it needs from its journal.',
      };
    case 'gone':
      return { what: `${directory} is gone`, hint: 'Put it back, or mount its disk.' };
    case 'damaged':
      return {
        what: `the database state.db in ${directory} is damaged`,
        hint: 'Start the agent again: it sets the database aside and rebuilds it from its journal.',
      };
    case 'broken':
      return {
        what: `nothing can be written to the disk of ${directory}`,
        hint: 'Check that it has room, is not read-only and works.',
      };
  }
}
