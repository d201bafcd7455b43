import { pathAbove, type ByteString } from '../../base/byte-path.ts';
import type { Parent } from './parent.ts';

/**
 * Paths that may have changed since the parent snapshot's run began, from a watcher that reports every other change as
 * well. Only for a run with the same exclude settings as the parent's: what was left out then is not looked for again.
 */
export interface ChangeSet {
  /** Directories to list and look at entry by entry. */
  readonly directories: ReadonlySet<ByteString>;
  /** The parent's run used rule files that are not in its tree. When one of these is removed, no entry shows it. */
  readonly hiddenRules: boolean;
}

/**
 * What has to be looked at: the changes since the parent, and whatever the parent could not capture or caught while it
 * changed, which no watcher reports. Undefined when everything has to be looked at, as when another user made the parent.
 */
export function changesSince(
  parent: Parent | undefined,
  changes: ChangeSet | undefined,
): ChangeSet | undefined {
  if (parent === undefined || changes === undefined || parent.isAnothers) return undefined;
  const { errors, errorsMore } = parent.snapshot.record;
  if (errors.length === 0) return changes;
  if (errorsMore > 0) return undefined;
  const above = errors.map(({ path }) => pathAbove(path));
  return {
    ...changes,
    directories: new Set([...changes.directories, ...errors.map(({ path }) => path), ...above]),
  };
}
