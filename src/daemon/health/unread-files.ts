/** Finds what the last backup of a source could not read, apart from what the person has accepted. */
import { join, relative, sep } from 'node:path';
import type { SourceSettings } from '../../config/settings.ts';
import type { EngineOutcome } from '../../engine/protocol.ts';
import { hasReadNothing, type Job, type JobProblem } from '../../jobs/job.ts';
import { whereItLeads } from '../../system/where-it-lies.ts';
import { pathInSource } from '../sources/configured-source.ts';
import { isInside } from '../sources/source-check.ts';

export interface Unread {
  readonly files: number;
  /** Directories whose contents are unknown. */
  readonly folders: number;
  /** Paths of the first few. */
  readonly named: readonly string[];
}

export const NONE_UNREAD: Unread = { files: 0, folders: 0, named: [] };

/** The most names that fit into a sentence. */
const MOST_NAMED = 3;

/**
 * Error codes of the system. Files that changed or vanished, and exclude rules that could not be followed, are not unreadable.
 */
const UNREAD = /^(?:E(?!NOENT$|XCLUDE)[A-Z0-9]+|TOO_DEEP)$/;

function isUnread({ code }: Pick<JobProblem, 'code'>): boolean {
  return UNREAD.test(code);
}

/** An accepted path covers everything below it. */
export function isAccepted(path: string, accepted: readonly string[]): boolean {
  return accepted.some((one) => path === one || path.startsWith(one.endsWith(sep) ? one : one + sep));
}

/**
 * The accepted paths, also in their resolved form: problems name files by their real paths, while the settings may name
 * the source through a symbolic link.
 */
function asReally({
  path,
  acceptUnreadable,
}: Pick<SourceSettings, 'path' | 'acceptUnreadable'>): readonly string[] {
  if (acceptUnreadable.length === 0) return [];
  const lies = whereItLeads(path);
  const there = acceptUnreadable.flatMap((one) =>
    isInside(one, path) ? [join(lies, relative(path, one))] : [],
  );
  return lies === path ? acceptUnreadable : [...acceptUnreadable, ...there];
}

/** @param job the last backup that completed, with its problems */
export function unreadIn(job: Job, source: SourceSettings): Unread {
  const { path } = source;
  const accepted = asReally(source);
  const { problems, progress, warnings_count: warnings } = job;
  const unread = problems.filter(isUnread);
  const left = unread.filter((one) => !isAccepted(one.path, accepted));
  if (left.length > 0 || unread.length > 0 || problems.length > 0) {
    // For problems beyond the stored list it is unknown whether they were accepted, so they count.
    const unlisted = Math.max(0, warnings - problems.length);
    const failed = progress.files_failed;
    const folders = Math.max(0, unread.length + unlisted - failed);
    const settled = unread.length - left.length;
    const count = left.length + unlisted;
    const leftFolders = Math.min(folders, Math.max(0, count - Math.max(0, failed - settled)));
    return count === 0
      ? NONE_UNREAD
      : {
          files: count - leftFolders,
          folders: leftFolders,
          named: left.slice(0, MOST_NAMED).map((one) => pathInSource(path, one.path) ?? one.path),
        };
  }
  // Jobs of earlier versions have only counts.
  const files = progress.files_failed;
  if (files > 0) return { files, folders: 0, named: [] };
  return hasReadNothing(job) ? { files: 0, folders: 1, named: [path] } : NONE_UNREAD;
}

/** A backup whose only problems are accepted ones counts as a success. */
export function withAccepted(
  outcome: EngineOutcome,
  problems: readonly JobProblem[],
  source: Pick<SourceSettings, 'path' | 'acceptUnreadable'>,
): EngineOutcome {
  const accepted = asReally(source);
  const isAll =
    outcome.result === 'warning' &&
    outcome.files > 0 &&
    problems.length === outcome.warnings &&
    problems.every((one) => isUnread(one) && isAccepted(one.path, accepted));
  return isAll ? { ...outcome, result: 'success' } : outcome;
}
