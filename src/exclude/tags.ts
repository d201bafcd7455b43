/** Finds directories whose content is left out because of a file in them: CACHEDIR.TAG and marker files. */

import { asByteString, joinBytes, textOfBytes, type ByteString } from '../base/byte-path.ts';
import { BugError, isAbort, RequestError, SourceError } from '../base/errors.ts';
import { quoted, shownPath, type CacheDirectoryExclusion, type MarkerExclusion } from './decision.ts';

/** Reads the files that hold rules; nothing else here touches the disk. */
export interface RuleFiles {
  /**
   * The first `limit` bytes of a regular file, or all of it when it is shorter. Undefined when the path is not a
   * regular file (a directory, a symbolic link, a device) or is gone. Any other error is thrown.
   */
  read(path: ByteString, limit: number): Uint8Array | undefined;
  /** Called for a file that could not be read. Its rules are not applied, so more is backed up, never less. */
  onError(error: SourceError): void;
}

/** A file whose presence leaves out the rest of its directory. */
export interface Marker {
  readonly name: ByteString;
  /** What the file must begin with; undefined for anything. */
  readonly header: ByteString | undefined;
}

/** A directory's tag or marker: that file is kept, all else in the directory is left out. */
export interface ContentsRule {
  readonly keptName: ByteString;
  readonly exclusion: CacheDirectoryExclusion | MarkerExclusion;
}

/** Cache Directory Tagging Specification: https://bford.info/cachedir/ */
const cacheTag: Marker = {
  name: asByteString('CACHEDIR.TAG'),
  header: asByteString('Signature: 8a477f597d28d172789f06886806bc55'),
};

/**
 * Parses `NAME` or `NAME:HEADER`.
 * @throws RequestError when no file can have that name
 */
export function parseMarker(setting: ByteString): Marker {
  const colon = setting.indexOf(':');
  const name = asByteString(colon === -1 ? setting : setting.slice(0, colon));
  requireFileName(name, 'marker file');
  const header = colon === -1 ? '' : setting.slice(colon + 1);
  return { name, header: header === '' ? undefined : asByteString(header) };
}

/** @throws RequestError */
export function requireFileName(name: ByteString, what: string): void {
  if (name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name)) return;
  throw new RequestError('EXCLUDE_NAME', `${quoted(textOfBytes(name))} cannot be the name of a ${what}`, {
    hint: 'Give a file name without a path, such as .nobackup.',
  });
}

/** The markers in force, including the cache tag if that is wanted. */
export function contentsMarkers(markers: readonly Marker[], excludeCaches: boolean): readonly Marker[] {
  return excludeCaches ? [cacheTag, ...markers] : markers;
}

/** The first marker in the directory that has the header it needs. */
export function findContentsRule(
  markers: readonly Marker[],
  directory: ByteString,
  entryNames: readonly ByteString[],
  files: RuleFiles,
): ContentsRule | undefined {
  const found = markers.find(
    (marker) => entryNames.includes(marker.name) && hasHeader(marker, directory, files),
  );
  if (found === undefined) return undefined;
  const path = joinBytes(directory, found.name);
  return {
    keptName: found.name,
    exclusion:
      found === cacheTag
        ? { excluded: true, rule: 'cache-directory', tag: path }
        : { excluded: true, rule: 'marker', marker: path },
  };
}

function hasHeader(marker: Marker, directory: ByteString, files: RuleFiles): boolean {
  if (marker.header === undefined) return true;
  const start = readRules(files, joinBytes(directory, marker.name), marker.header.length);
  if (start === undefined) return false;
  return Buffer.from(start).toString('latin1', 0, marker.header.length) === marker.header;
}

/** The start of a file that holds rules. Undefined if it cannot be read, which is reported unless it is no regular file. */
export function readRules(files: RuleFiles, path: ByteString, limit: number): Uint8Array | undefined {
  try {
    return files.read(path, limit);
  } catch (error) {
    if (isAbort(error) || error instanceof BugError) throw error;
    files.onError(
      new SourceError('EXCLUDE_FILE_UNREADABLE', `${shownPath(path)} could not be read for exclude rules`, {
        op: 'read exclude rules',
        hint: 'Its rules are not applied in this backup. Make the file readable, or remove it.',
        cause: error,
      }),
    );
    return undefined;
  }
}
