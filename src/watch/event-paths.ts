import { readdirSync } from 'node:fs';
import {
  asByteString,
  bytesOfText,
  fsPath,
  joinBytes,
  textOfBytes,
  type ByteString,
} from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';

/** Stands in the text of a name for bytes that are not UTF-8. */
const LOST = '\ufffd';

/** What an event is about. */
export interface EventPaths {
  /** The directories that hold it. */
  readonly directories: readonly ByteString[];
  /** The entry itself; several when its name does not tell which. */
  readonly entries: readonly ByteString[];
}

/** From an absolute path as text to bytes: a name that lost some of its bytes stands for every such name there. */
export function pathsOfEvent(text: string): EventPaths {
  if (!text.includes(LOST)) {
    const entry = bytesOfText(text);
    return { directories: [directoryOf(entry)], entries: [entry] };
  }
  let directories: readonly ByteString[] = [asByteString('/')];
  let entries: readonly ByteString[] = directories;
  for (const part of text.split('/').slice(1)) {
    // When nothing is left on the way, the last directories that are there tell.
    if (entries.length > 0) directories = entries;
    entries = part.includes(LOST)
      ? directories.flatMap(lossyEntries)
      : entries.map((directory) => joinBytes(directory, bytesOfText(part)));
  }
  return { directories, entries };
}

export function directoryOf(path: ByteString): ByteString {
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
