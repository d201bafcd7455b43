import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { Xattr } from '../../format/tree.ts';
import { seesTrusted } from '../../system/privileges.ts';
import { readXattrs, type XattrTarget } from '../../system/xattr.ts';

/** Names and values of one entry together: an entry stands in one tree chunk, which has 8 MiB at most. */
const MAX_BYTES = 2 * 1024 * 1024;

/**
 * The extended attributes of an entry as they can be stored; undefined when there are none.
 * @param omit told, in words, of each that cannot be read or is too large
 * @throws a system error when they cannot be listed
 */
export function sourceXattrs(target: XattrTarget, omit: (what: string) => void): Xattr[] | undefined {
  const xattrs = readXattrs(target, (name, error) => omit(`${name}: ${error.code ?? error.message}`));
  return xattrs.length === 0 ? undefined : storableXattrs(xattrs, omit);
}

const OMITTED = 'extended attribute';
const UNLISTED = `${OMITTED}s trusted.*: CAP_SYS_ADMIN is missing`;

/** What a snapshot lacks: one attribute, with the reason. */
export function omittedXattr(what: string): string {
  return `${OMITTED} ${what}`;
}

/** What a run as root cannot even list, by which the snapshot says that it may lack it; undefined when it can. */
export function unlistedXattrs(): string | undefined {
  return seesTrusted() ? undefined : UNLISTED;
}

/** False of what holds for every run here, and says nothing about a file. */
export function isNews(omitted: string): boolean {
  return !omitted.startsWith(UNLISTED);
}

/** Whether entries of a snapshot that lacks these may have extended attributes that it does not, and that this run can read. */
export function mayHaveMoreXattrs(omitted: readonly string[]): boolean {
  const unlisted = unlistedXattrs();
  const stillUnlisted = (what: string): boolean => unlisted !== undefined && what.startsWith(unlisted);
  return omitted.some((what) => what.startsWith(OMITTED) && !stillUnlisted(what));
}

/** All extended attributes of an entry that can be had; what cannot is told to `omit`, in words. */
export function capturedXattrs(
  target: XattrTarget,
  omit: (what: string) => void,
): readonly Xattr[] | undefined {
  try {
    return sourceXattrs(target, (what) => omit(omittedXattr(what)));
  } catch (error) {
    omit(unreadXattrs(error));
    return undefined;
  }
}

/** What a snapshot lacks of an entry whose attributes cannot be listed. */
export function unreadXattrs(error: unknown): string {
  return `${OMITTED}s: ${errnoOf(error) ?? 'unreadable'}`;
}

/**
 * Those of an entry that is as it was, as its ctime tells: what the parent snapshot has of them still stands, whoever
 * could read it; what is seen now is added. The same list when there is nothing to add.
 */
export function completedXattrs(
  known: readonly Xattr[] | undefined,
  capture: (omit: (what: string) => void) => readonly Xattr[] | undefined,
  omit: (what: string) => void,
): readonly Xattr[] | undefined {
  const kept = known ?? [];
  const has = (name: ByteString): boolean => kept.some((one) => one.name === name);
  const isKept = (what: string): boolean =>
    kept.some(({ name }) => what.startsWith(`${omittedXattr(name)}: `));
  const seen = capture((what) => {
    if (!isKept(what)) omit(what);
  });
  const more = seen?.filter(({ name }) => !has(name)) ?? [];
  if (more.length === 0) return known;
  const all = [...kept, ...more].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return storableXattrs(all, (what) => omit(omittedXattr(what)));
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
