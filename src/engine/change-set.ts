/** Turns the paths from a watcher into the directories that the walker has to list. */
import { chooseParent } from '../archiver/before/parent.ts';
import { settledBefore } from '../archiver/before/ctime-trust.ts';
import { kindOf, openDirectory, statPath } from '../archiver/source/stat.ts';
import type { ChangeSet } from '../archiver/before/change-set.ts';
import { asByteString, pathAbove, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import type { ChangedPaths } from './protocol.ts';
import type { LastWalk } from './walk-memory.ts';
import type { EntryStat } from '../system/entry-stat.ts';

export interface ChangeRequest {
  readonly changes: ChangedPaths | null;
  /** The source by the name that the watcher uses, and its real path. */
  readonly source: { readonly named: ByteString; readonly real: ByteString };
  readonly host: string;
  readonly plain: boolean;
  readonly isolated: boolean;
  readonly live: readonly Snapshot[];
  readonly last: LastWalk | undefined;
  /** Digest of the exclude rules. */
  readonly rules: string;
}

export interface UsableChanges {
  /** The snapshot to compare the changes with. */
  readonly parent: Snapshot;
  readonly changes: ChangeSet;
}

/** The most entries to look at in directories that a watcher named as a whole; beyond that a full walk costs no more. */
const MOST_ENTRIES = 50_000;

/**
 * Undefined when everything has to be walked: there are no changes, they do not begin at the parent snapshot, the
 * parent was made by other rules, or an inode with several names changed, of which a watcher reports only one.
 */
export function usableChanges(request: ChangeRequest): UsableChanges | undefined {
  const { changes, source, host, plain, isolated, live, last, rules } = request;
  if (changes === null || isolated || last === undefined || last.rules !== rules) return undefined;
  const parent = chooseParent(live, { host, paths: [source.real], plain, kind: 'files' });
  if (parent?.id !== last.snapshot) return undefined;
  if (changes.since !== undefined && parent.record.startedMs < changes.since) return undefined;
  const paths = changes.paths.map((path) => realised(asByteString(path), source));
  if (touchesHardLinks(paths, parent)) return undefined;
  const directories = new Set<ByteString>();
  for (const path of paths) {
    directories.add(path);
    directories.add(pathAbove(path));
  }
  return { parent, changes: { directories, hiddenRules: last.hiddenRules } };
}

/**
 * Maps a path to where it really is: a source named through a symbolic link is watched by that name, but walked at its target.
 */
function realised(path: ByteString, { named, real }: ChangeRequest['source']): ByteString {
  if (named === real) return path;
  return path === named || path.startsWith(`${named}/`)
    ? asByteString(`${real}${path.slice(named.length)}`)
    : path;
}

/** Whether an inode with several names changed since the parent was made. The watcher does not report its other names. */
function touchesHardLinks(paths: readonly ByteString[], { record }: Snapshot): boolean {
  const isSettled = settledBefore(record.startedMs);
  const isTouched = (stat: EntryStat | undefined): boolean =>
    stat !== undefined && kindOf(stat) !== 'directory' && stat.nlink > 1 && !isSettled(stat.ctimeNs);
  let entries = 0;
  for (const path of paths) {
    const stat = orNothing(() => statPath(path));
    if (isTouched(stat)) return true;
    if (stat === undefined || kindOf(stat) !== 'directory') continue;
    const listed = orNothing(() => openDirectory(path));
    if (listed === undefined) continue;
    try {
      entries += listed.names.length;
      if (entries > MOST_ENTRIES) return true;
      if (listed.names.some((name) => isTouched(orNothing(() => listed.stat(name))))) return true;
    } finally {
      listed.close();
    }
  }
  return false;
}

/** An entry that cannot be examined now is left to the walk, which reports it. */
function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
