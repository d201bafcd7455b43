/**
 * Whether a source has nothing where an earlier snapshot has files: in most cases a disk or a share is not mounted. A
 * snapshot of that would look like any other, and the rules of retention would count it.
 */
import { kindOf, openDirectory, statPath } from '../archiver/source/stat.ts';
import { joinBytes, textOfBytes, type ByteString } from '../base/byte-path.ts';
import { SourceError, errnoOf } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import { isFull } from '../base/stored-by.ts';
import { isSourceOf } from '../base/source-names.ts';
import { isLesser } from '../archiver/before/lesser-snapshot.ts';
import type { Snapshot } from '../repository/snapshots.ts';

/**
 * The snapshots of this source alone, in whatever namespace, that full keys stored: others say nothing of how it was.
 * @param source by its name, and where it lies now: what a link led to before is the same source
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

/** The newest of them that shows how the source was. */
export function lastOfSource(
  live: readonly Snapshot[],
  host: string,
  source: readonly ByteString[],
): Snapshot | undefined {
  return ofSource(live, host, source).findLast((snapshot) => !isLesser(snapshot));
}

/**
 * @param source where it really lies, or lay
 * @param named as the settings or a request name it
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
  const lies = textOfBytes(source);
  const at = lies === named ? '' : ` (where it leads: ${lies})`;
  throw new SourceError(
    'SOURCE_SUSPICIOUSLY_EMPTY',
    `${named}${at} ${WORDS[state]}, and had ${filesBefore} files at its last backup`,
    {
      op: 'look at the source',
      hint: `If it is a disk or a share, mount it. If it is meant to be so, run: ${holdfast`alarms --acknowledge`}`,
      details: { path: named, files_before: filesBefore, is_there: state !== 'gone', snapshot: last.id },
    },
  );
}

const WORDS = {
  gone: 'is not there any more',
  empty: 'is empty',
  replaced: 'is a file in place of the directory that it was',
} as const;

/** `replaced`: several files cannot have been one. */
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
 * What tells which files the source had: the newest snapshot with any. One without may have been made by narrower rules, or when
 * they could not be read; that a source is meant to be empty is known by what a person said. What could not be read was there.
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

/** Looks for one regular file, the exclude rules left aside. What cannot be read may hold some. */
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

/** True for a file, or a directory with one in it; else the directories in it. */
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

/** True where the system does not let it be seen, so that nothing is taken for empty that only is closed. */
function orSeen<T>(look: () => T): T | true {
  try {
    return look();
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    return true;
  }
}
