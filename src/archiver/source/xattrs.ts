import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { OmittedKind } from '../../format/omission.ts';
import type { Xattr } from '../../format/tree.ts';
import { seesTrusted } from '../../system/privileges.ts';
import { readXattrs, type XattrTarget } from '../../system/xattr.ts';

type Omit = (what: OmittedKind) => void;

/** Names and values of one entry together: an entry stands in one tree chunk, which has 8 MiB at most. */
const MAX_BYTES = 2 * 1024 * 1024;

/**
 * The extended attributes of an entry as they can be stored; undefined when there are none.
 * @param omit told of each that cannot be read or is too large
 * @throws a system error when they cannot be listed
 */
function sourceXattrs(target: XattrTarget, omit: Omit): Xattr[] | undefined {
  const xattrs = readXattrs(target, (name, error) =>
    omit({ code: 'xattr', name, reason: error.code ?? error.message }),
  );
  return xattrs.length === 0 ? undefined : storableXattrs(xattrs, omit);
}

/** What a run that cannot list all there may be lacks of it; undefined when it can. */
export function unlistedXattrs(): OmittedKind | undefined {
  return seesTrusted() ? undefined : { code: 'trusted_xattrs' };
}

/** False of what holds for every run here, and says nothing about a file. */
export function isNews({ code }: OmittedKind): boolean {
  return code !== 'trusted_xattrs';
}

/** Whether entries of a snapshot that lacks these may have extended attributes that it does not, and that this run can read. */
export function mayHaveMoreXattrs(omitted: readonly OmittedKind[]): boolean {
  const isTrustedUnlisted = unlistedXattrs() !== undefined;
  return omitted.some(({ code }) =>
    code === 'trusted_xattrs' ? !isTrustedUnlisted : code === 'xattr' || code === 'xattrs',
  );
}

/** All extended attributes of an entry that can be had; what cannot is told to `omit`. */
export function capturedXattrs(target: XattrTarget, omit: Omit): readonly Xattr[] | undefined {
  try {
    return sourceXattrs(target, omit);
  } catch (error) {
    omit(unreadXattrs(error));
    return undefined;
  }
}

/** What a snapshot lacks of an entry whose attributes cannot be listed. */
export function unreadXattrs(error: unknown): OmittedKind {
  return { code: 'xattrs', reason: errnoOf(error) ?? 'unreadable' };
}

/**
 * Those of an entry that is as it was, as its ctime tells: what the parent snapshot has of them still stands, whoever
 * could read it; what is seen now is added. The same list when there is nothing to add.
 */
export function completedXattrs(
  known: readonly Xattr[] | undefined,
  capture: (omit: Omit) => readonly Xattr[] | undefined,
  omit: Omit,
): readonly Xattr[] | undefined {
  const kept = known ?? [];
  const has = (name: ByteString): boolean => kept.some((one) => one.name === name);
  const seen = capture((what) => {
    if (what.code !== 'xattr' || !has(what.name)) omit(what);
  });
  const more = seen?.filter(({ name }) => !has(name)) ?? [];
  if (more.length === 0) return known;
  const all = [...kept, ...more].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return storableXattrs(all, omit);
}

/** Those that fit into an entry; `omit` is told of the others. */
export function storableXattrs(xattrs: readonly Xattr[], omit: Omit): Xattr[] | undefined {
  let bytes = 0;
  const kept = xattrs.filter(({ name, value }) => {
    const size = name.length + value.length;
    const fits = bytes + size <= MAX_BYTES;
    if (fits) bytes += size;
    else omit({ code: 'xattr', name, reason: 'EFBIG' });
    return fits;
  });
  return kept.length === 0 ? undefined : kept;
}
