import { readdirSync } from 'node:fs';
import { asByteString, bytesOfText, joinBytes, textOfBytes, type ByteString } from '../base/byte-path.ts';
import { fsPath, treePath } from '../base/tree-path.ts';
import { errnoOf } from '../base/errors.ts';

/** Replaces bytes in the text of a name that are not UTF-8. */
const LOST = '\ufffd';

/** The paths that an event concerns. */
export interface EventPaths {
  /** The directories that contain the entry. */
  readonly directories: readonly ByteString[];
  /** The entry itself; several when its name is ambiguous. */
  readonly entries: readonly ByteString[];
}

/** Converts an absolute path from text to bytes. A name that lost bytes stands for every such name in its directory. */
export function pathsOfEvent(text: string): EventPaths {
  if (!text.includes(LOST)) {
    const entry = treePath(text);
    return { directories: [directoryOf(entry)], entries: [entry] };
  }
  let directories: readonly ByteString[] = [asByteString('/')];
  let entries: readonly ByteString[] = directories;
  for (const part of textOfBytes(treePath(text)).split('/').slice(1)) {
    // When no candidate is left, the last existing directories count as changed.
    if (entries.length > 0) directories = entries;
    entries = part.includes(LOST)
      ? directories.flatMap(lossyEntries)
      : entries.map((directory) => joinBytes(directory, bytesOfText(part)));
  }
  return { directories, entries };
}

function directoryOf(path: ByteString): ByteString {
  return asByteString(path.slice(0, path.lastIndexOf('/')) || '/');
}

function lossyEntries(directory: ByteString): readonly ByteString[] {
  try {
    return readdirSync(fsPath(directory), 'latin1')
      .map(asByteString)
      .filter((name) => textOfBytes(name).includes(LOST))
      .map((name) => joinBytes(directory, name));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}
