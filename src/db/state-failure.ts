/** Why nothing can be written to the state, and what to do: said by all who meet it, and decided here. */
import { StateError, errnoOf } from '../base/errors.ts';
import { isDamage, isFailedQuery, isFull, isHeld } from './database.ts';

/**
 * `held`: another program has the database under a lock. `closed`: it, or its directory, may not be written to. `moved`: it
 * is no longer where it was opened. `broken`: the system could not write, for a reason of its own.
 */
export type StateFailure = 'full' | 'held' | 'closed' | 'moved' | 'damaged' | 'broken';

/** Undefined for what has nothing to do with the state. */
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

/** A clause, and what to do as a sentence. */
export function stateFailureText(
  failure: StateFailure,
  directory: string,
): { readonly what: string; readonly hint: string } {
  switch (failure) {
    case 'full':
      return { what: `the disk of ${directory} is full`, hint: 'Make room there.' };
    case 'held':
      return {
        what: `another program holds the database state.db in ${directory}`,
        hint: 'End that program (a database browser, an SQLite shell, something that copies or scans files); the agent goes on by itself.',
      };
    case 'closed':
      return {
        what: `the agent may not write in ${directory}`,
        hint: 'Check that its disk is not mounted read-only, and that its files belong to the user of the agent.',
      };
    case 'moved':
      return {
        what: `the database state.db was moved or removed from ${directory}`,
        hint: 'Start the agent again: it brings back what it needs from its journal.',
      };
    case 'damaged':
      return {
        what: `the database state.db in ${directory} is damaged`,
        hint: 'Start the agent again: it sets the database aside and builds it anew from its journal.',
      };
    case 'broken':
      return {
        what: `the disk of ${directory} takes nothing`,
        hint: 'Check that it has room, is not read-only and works.',
      };
  }
}
