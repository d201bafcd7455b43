import { constants, fstatSync, readSync } from 'node:fs';
import { joinBytes, type ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import { createExcluder, type ExcludeOptions, type Excluder } from '../../exclude/excluder.ts';
import type { Entry } from '../../format/tree.ts';
import type { Parent } from '../before/parent.ts';
import { isUnchangedFile } from '../before/source-entry.ts';
import type { ArchiveObserver } from '../report/observer.ts';
import type { SourceOutcomes } from '../report/source-outcomes.ts';
import { closeSource, openSource } from '../source/open.ts';
import type { SourcePlace } from '../source/place.ts';
import type { ListedDirectory } from '../source/stat.ts';

const ABSENT = new Set(['ENOENT', 'ELOOP', 'EISDIR', 'ENXIO', 'ENOTDIR']);

/**
 * The first `limit` bytes of a regular file that holds exclude rules; undefined when it is gone or is something else.
 * No link is followed on the way: a user could have just put one there to have files read that are closed to them.
 */
export function readRuleFile(path: ByteString, limit: number): Uint8Array | undefined {
  let fd: number;
  try {
    fd = openSource(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (ABSENT.has(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
  try {
    if (!fstatSync(fd).isFile()) return undefined;
    const buffer = Buffer.allocUnsafe(limit);
    let length = 0;
    while (length < limit) {
      const got = readSync(fd, buffer, length, limit - length, length);
      if (got === 0) break;
      length += got;
    }
    return buffer.subarray(0, length);
  } finally {
    closeSource(path, fd);
  }
}

/** Returns a function that creates the rules of one source root, and reports a source that they leave out as a whole. */
export function excluderMaker(exclude: ExcludeOptions, observer: ArchiveObserver, outcomes: SourceOutcomes) {
  return (path: ByteString, kind: string, device: number): Excluder => {
    const excluder = createExcluder(
      exclude,
      { root: path, kind: kind === 'file' || kind === 'directory' ? kind : 'other', device },
      { read: readRuleFile, onError: (error) => observer.ruleProblem(error) },
    );
    const { rootDecision } = excluder;
    if (rootDecision.excluded) outcomes.sourceLeftOut(path, rootDecision);
    return excluder;
  };
}

/**
 * Names of the rule files in a directory that are not stored in its snapshot because they are left out themselves.
 * Their rules apply all the same.
 */
export function unstoredRules(
  names: ReadonlySet<ByteString>,
  directory: Pick<SourcePlace, 'stat'>,
  stored: readonly ByteString[],
): readonly ByteString[] {
  return [...names].filter((name) => !stored.includes(name) && isThere(directory, name));
}

/** A file that cannot be looked at counts as present: reading it will report the error. */
function isThere(directory: Pick<SourcePlace, 'stat'>, name: ByteString): boolean {
  try {
    return directory.stat(name) !== undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return true;
  }
}

/**
 * Whether files with exclude rules were added, removed or changed in a directory since the parent snapshot.
 * @param hidden the parent's run may have used a rule file that is not in its tree
 */
export function rulesDiffer(
  names: ReadonlySet<ByteString>,
  directory: ByteString,
  listed: ListedDirectory,
  oldEntries: readonly Entry[],
  parent: Parent,
  hidden: boolean,
): boolean {
  return [...names].some((name) => {
    const old = oldEntries.find((entry) => entry.name === name);
    const stat = listed.names.includes(name) ? listed.stat(name) : undefined;
    if (old === undefined || stat === undefined) return hidden || (old ?? stat) !== undefined;
    return old.type !== 'file' || !isUnchangedFile(old, joinBytes(directory, name), stat, parent);
  });
}
