/** Looks at the entries of a source. An entry that cannot be looked at is reported, unless the rules leave it out anyway. */
import { asByteString, type ByteString } from '../../base/byte-path.ts';
import { causeText } from '../../base/errno-words.ts';
import { errnoOf, isAbort } from '../../base/errors.ts';
import { isMountPoint } from '../../system/mount-table.ts';
import type { DirectoryScope } from '../../exclude/excluder.ts';
import { isHung } from '../source/hung-mounts.ts';
import { isReplaced } from '../source/same-entry.ts';
import { sourcesFrom, type SourceNode } from '../source/source-tree.ts';
import type { Tally } from '../report/tally.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

export interface EntryToLookAt {
  readonly path: ByteString;
  readonly look: () => EntryStat | undefined;
  /** The rules of its directory; undefined for an entry that is looked for whatever the rules say. */
  readonly scope?: DirectoryScope | undefined;
  /** Set for an entry that is or leads to sources: these are looked for even if the directory does not list them. */
  readonly node?: SourceNode | undefined;
}

/** Undefined when the entry is gone or cannot be looked at; either is reported. */
export function lookAt({ path, look, scope, node }: EntryToLookAt, tally: Tally): EntryStat | undefined {
  try {
    const stat = look();
    if (stat === undefined) tellGone(path, node, tally);
    return stat;
  } catch (error) {
    if (errnoOf(error) !== undefined && isLeftOutUnseen(path, scope)) return undefined;
    if (isHung(path)) tally.problem(path, 'ETIMEDOUT', 'its file system does not answer, so it was skipped');
    else tellError(path, error, 'its details cannot be read', tally);
    return undefined;
  }
}

export function tellError(path: ByteString, error: unknown, what: string, tally: Tally): void {
  const code = errnoOf(error);
  if (code === undefined || isAbort(error)) throw error;
  if (isReplaced(error)) tally.problem(path, 'CHANGED', 'something else took its place in the meantime');
  else tally.problem(path, code, `${what}: ${causeText(error)}`);
}

function tellGone(path: ByteString, node: SourceNode | undefined, tally: Tally): void {
  if (node === undefined) tally.problem(path, 'ENOENT', 'it disappeared while its directory was read');
  else for (const source of sourcesFrom(node)) tally.problem(source, 'ENOENT', 'the source does not exist');
}

/**
 * Whether the rules leave out an entry that cannot be looked at, so that it is no loss: another user's FUSE mount, say,
 * or a mount from a server that is away. A mount point is known to be a directory, on another device than the source.
 * The kind of anything else is unknown, so the rules have to leave it out as every kind.
 */
export function isLeftOutUnseen(path: ByteString, scope: DirectoryScope | undefined): boolean {
  if (scope === undefined) return false;
  const name = asByteString(path.slice(path.lastIndexOf('/') + 1));
  if (isHung(path) || isMountPoint(path)) {
    const decision = scope.decide(name, 'directory', 0, Number.NaN);
    return decision.excluded || !decision.descend;
  }
  const kinds = ['directory', 'file', 'other'] as const;
  return kinds.every((kind) => scope.decide(name, kind, 0, Number.NaN).excluded);
}
