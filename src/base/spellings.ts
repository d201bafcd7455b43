/**
 * Names that are one for some file systems. Most of Windows and macOS ignore case, some file systems compose letters in
 * their own way, and FAT drops trailing dots.
 */
import {
  asByteString,
  bytesOfText,
  type ByteString,
  isAscii,
  isUtf8,
  pathNames,
  pathOf,
  textOfBytes,
} from './byte-path.ts';

/** Whether the file systems of this system ignore case as a rule. */
export const IGNORES_CASE = process.platform === 'win32' || process.platform === 'darwin';

/** A name as such a file system compares it, or more coarsely. */
export function foldedName(name: ByteString): string {
  const text = isAscii(name) ? name : textOfBytes(name).normalize('NFD');
  return text
    .toUpperCase()
    .toLowerCase()
    .replace(/[. ]+$/, '');
}

/** Other names for the same entry on a file system that ignores case or composes letters. */
export function otherSpellings(name: ByteString): readonly ByteString[] {
  if (!isUtf8(name)) return [];
  const text = textOfBytes(name);
  const lower = text.toLowerCase();
  const others = [lower === text ? text.toUpperCase() : lower, text.normalize('NFD'), text.normalize('NFC')];
  return [...new Set(others)].filter((one) => one !== text).map(bytesOfText);
}

/** A path in a form that is equal for all spellings. */
export function foldedPath(path: ByteString): ByteString {
  return pathOf(pathNames(path).map((name) => asByteString(foldedName(name))));
}
