import type { Entry, Hole, Xattr } from '../format/tree.ts';

/** What can differ between two entries with the same content. */
export type MetadataField = 'mode' | 'owner' | 'mtime' | 'xattrs';

/**
 * Whether two entries of the same type have different content: bytes, link target, device. Directories never have, as
 * their entries are compared separately.
 * @param idsComparable false when their chunks are named by different keys; then size and time decide
 */
export function contentDiffers(a: Entry, b: Entry, idsComparable: boolean): boolean {
  if (a.type === 'file' && b.type === 'file') {
    if (a.size !== b.size) return true;
    if (!idsComparable) return a.mtimeNs !== b.mtimeNs;
    return !a.content.equals(b.content) || !sameHoles(a.holes, b.holes);
  }
  if (a.type === 'symlink' && b.type === 'symlink') return a.target !== b.target;
  if ('major' in a && 'major' in b) return a.major !== b.major || a.minor !== b.minor;
  return a.type !== b.type;
}

/** The metadata that differs. Times of change and inode numbers are ignored: they differ on every copy, and cannot be set. */
export function metadataDifferences(a: Entry, b: Entry): MetadataField[] {
  const fields: MetadataField[] = [];
  if (a.mode !== b.mode) fields.push('mode');
  if (a.uid !== b.uid || a.gid !== b.gid) fields.push('owner');
  if (a.mtimeNs !== b.mtimeNs) fields.push('mtime');
  if (!sameXattrs(a.xattrs, b.xattrs)) fields.push('xattrs');
  return fields;
}

function sameHoles(a: readonly Hole[] = [], b: readonly Hole[] = []): boolean {
  return (
    a.length === b.length &&
    a.every(({ offset, length }, i) => offset === b[i]?.offset && length === b[i].length)
  );
}

function sameXattrs(a: readonly Xattr[] = [], b: readonly Xattr[] = []): boolean {
  return (
    a.length === b.length && a.every(({ name, value }, i) => name === b[i]?.name && value.equals(b[i].value))
  );
}
