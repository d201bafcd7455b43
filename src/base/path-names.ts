/** Paths of a snapshot as the names on the way from its root. */
import { asByteString, type ByteString } from './byte-path.ts';

/** The names on the way from the root to a path, `.` and `..` resolved as text. */
export function pathNames(path: ByteString): ByteString[] {
  const names: ByteString[] = [];
  for (const name of path.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(asByteString(name));
  }
  return names;
}

/** The absolute path with these names. */
export function pathOf(names: readonly ByteString[]): ByteString {
  return asByteString(`/${names.join('/')}`);
}
