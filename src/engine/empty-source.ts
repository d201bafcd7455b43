/**
 * Refuses a source that is empty although an earlier snapshot has files: most often a disk or share is not mounted. A
 * snapshot of the empty source would look like any other, and would count for retention.
 */
import { kindOf, openDirectory, statPath } from '../archiver/source/stat.ts';
import { joinBytes, type ByteString } from '../base/byte-path.ts';
import { pathText } from '../base/tree-path.ts';
import { SourceError, errnoOf } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import { isFull } from '../base/stored-by.ts';
import { isSourceOf } from '../base/source-names.ts';
import { isLesser } from '../archiver/before/parent.ts';
import type { Snapshot } from '../repository/snapshots.ts';

/**
 * The snapshots of this source alone, in any namespace, that full keys stored; others do not show the state of the source.
 * @param source its name and its present real path: a link's former target counts as the same source
 */
export function ofSource(
  live: readonly Snapshot[],
  host: string,
  source: readonly ByteString[],
): readonly Snapshot[] {
  return live.filter(
    ({ record, storedBy }) =>
      isFull(storedBy) &&
      record.host === host &&
      record.kind === 'files' &&
      record.paths.length === 1 &&
      isSourceOf(record, source),
  );
}

/** The newest of these that shows the whole source. */
export function lastOfSource(
  live: readonly Snapshot[],
  host: string,
  source: readonly ByteString[],
): Snapshot | undefined {
  return ofSource(live, host, source).findLast((snapshot) => !isLesser(snapshot));
}

/**
 * Throws when the source has no files, but its last snapshot with files had some.
 * @param source its real path, or the path where it was
 * @param named as the settings or the request name it
 * @param before its snapshots
 * @throws {SourceError} SOURCE_SUSPICIOUSLY_EMPTY
 */
export function refuseEmptySource(
  source: ByteString,
  named: string,
  before: readonly Snapshot[],
  never: readonly { readonly path: ByteString }[],
): void {
  const last = lastWithFiles(before);
  if (last === undefined) return;
  const filesBefore = filesIn(last);
  const state = stateOf(source, filesBefore, new Set(never.map(({ path }) => path)));
  if (state === 'has-files') return;
  const lies = pathText(source);
  const at = lies === named ? '' : ` (where it leads: ${lies})`;
  throw new SourceError(
    'SOURCE_SUSPICIOUSLY_EMPTY',
    `${named}${at} ${WORDS[state]}. It had ${filesBefore === 1 ? '1 file' : `${filesBefore} files`} at its last backup`,
    {
      op: 'look at the source',
      hint:
        state === 'gone'
          ? `If it is a disk or a share, mount it. If it was deleted on purpose, run: ${holdfast`sources remove ${named}`}`
          : `If it is a disk or a share, mount it. If this was intended, run: ${holdfast`alarms --acknowledge`}`,
      details: { path: named, files_before: filesBefore, is_there: state !== 'gone', snapshot: last.id },
    },
  );
}

const WORDS = {
  gone: 'has disappeared',
  empty: 'is empty',
  replaced: 'is now a file instead of a directory',
} as const;

/** `replaced`: it is a single file, but had several files before. */
function stateOf(
  source: ByteString,
  filesBefore: number,
  never: ReadonlySet<ByteString>,
): keyof typeof WORDS | 'has-files' {
  const kind = orSeen(() => {
    const stat = statPath(source);
    return stat && kindOf(stat);
  });
  if (kind === undefined) return 'gone';
  if (kind === 'file') return filesBefore > 1 ? 'replaced' : 'has-files';
  return hasFile(source, never) ? 'has-files' : 'empty';
}

/**
 * The newest snapshot with any files, or else with unreadable ones, which existed as well. A later snapshot without files
 * may have had narrower rules, or could not read the files. Whether a source is meant to be empty is recorded separately.
 */
function lastWithFiles(before: readonly Snapshot[]): Snapshot | undefined {
  return (
    before.findLast(({ record }) => record.counts.files > 0) ??
    before.findLast(({ record }) => record.counts.failed > 0)
  );
}

function filesIn({ record: { counts } }: Snapshot): number {
  return counts.files + counts.failed;
}

/** Looks for one regular file, ignoring the exclude rules. A directory that cannot be read counts as having some. */
function hasFile(source: ByteString, never: ReadonlySet<ByteString>): boolean {
  const waiting = [source];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (never.has(path)) continue;
    const at = path;
    const found = orSeen(() => lookInto(at));
    if (found === true) return true;
    waiting.push(...found);
  }
  return false;
}

/** True for a file, or a directory that contains one; otherwise the directories in it. */
function lookInto(path: ByteString): true | readonly ByteString[] {
  const stat = statPath(path);
  const kind = stat && kindOf(stat);
  if (kind !== 'directory') return kind === 'file' ? true : [];
  const listed = openDirectory(path);
  try {
    const below: ByteString[] = [];
    for (const name of listed.names) {
      const entry = listed.stat(name);
      const kindOfEntry = entry && kindOf(entry);
      if (kindOfEntry === 'file') return true;
      if (kindOfEntry === 'directory') below.push(joinBytes(path, name));
    }
    return below;
  } finally {
    listed.close();
  }
}

/** True when the system denies access, so that a source that cannot be read is not taken for empty. */
function orSeen<T>(look: () => T): T | true {
  try {
    return look();
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    return true;
  }
}
