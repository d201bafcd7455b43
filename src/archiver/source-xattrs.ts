import type { Xattr } from '../format/tree.ts';
import { readXattrs, type XattrTarget } from '../system/xattr.ts';
import { fromItsDirectory, isLongPath } from './source-open.ts';

/** Names and values of one entry together: an entry stands in one tree chunk, which has 8 MiB at most. */
const MAX_BYTES = 2 * 1024 * 1024;

/**
 * The extended attributes of an entry as they can be stored; undefined when there are none.
 * @param omit told, in words, of each that cannot be read or is too large
 * @throws a system error when they cannot be listed
 */
export function sourceXattrs(target: XattrTarget, omit: (what: string) => void): Xattr[] | undefined {
  if (typeof target === 'string' && isLongPath(target)) {
    return fromItsDirectory(target, (_, dirFd, name) => sourceXattrs({ dirFd, name }, omit));
  }
  const xattrs = readXattrs(target, (name, error) => omit(`${name}: ${error.code ?? error.message}`));
  return xattrs.length === 0 ? undefined : storableXattrs(xattrs, omit);
}

/** Those that fit into an entry; `omit` is told of the others. */
export function storableXattrs(xattrs: readonly Xattr[], omit: (what: string) => void): Xattr[] | undefined {
  let bytes = 0;
  const kept = xattrs.filter(({ name, value }) => {
    const size = name.length + value.length;
    const fits = bytes + size <= MAX_BYTES;
    if (fits) bytes += size;
    else omit(`${name}: EFBIG`);
    return fits;
  });
  return kept.length === 0 ? undefined : kept;
}
