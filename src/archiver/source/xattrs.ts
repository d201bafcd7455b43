import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { OmittedKind } from '../../format/omission.ts';
import type { Xattr } from '../../format/tree.ts';
import { seesTrusted } from '../../system/privileges.ts';
import { readXattrs, type XattrTarget } from '../../system/xattr.ts';

type Omit = (what: OmittedKind) => void;

/** Limit for the names and values of one entry together: an entry lies in one tree chunk, which has 8 MiB at most. */
const MAX_BYTES = 2 * 1024 * 1024;

/**
 * The extended attributes of an entry as they can be stored; undefined when there are none.
 * @param omit called for each that cannot be read or is too large
 * @throws a system error when they cannot be listed
 */
function sourceXattrs(target: XattrTarget, omit: Omit): Xattr[] | undefined {
  const xattrs = readXattrs(target, (name, error) =>
    omit({ code: 'xattr', name, reason: error.code ?? error.message }),
  );
  return xattrs.length === 0 ? undefined : storableXattrs(xattrs, omit);
}

/** What no run on this system captures of any entry, or what this process may not list; undefined when that is nothing. */
export function uncaptured(platform: NodeJS.Platform = process.platform): OmittedKind | undefined {
  if (platform === 'win32') return { code: 'windows_metadata' };
  return platform === 'darwin' ? { code: 'mac_metadata' } : unlistedXattrs();
}

/** The omission to record when this process cannot list all extended attributes; undefined when it can. */
function unlistedXattrs(): OmittedKind | undefined {
  return seesTrusted() ? undefined : { code: 'trusted_xattrs' };
}

/** False for an omission that every run on this machine has, and that says nothing about any one file. */
export function isNews({ code }: OmittedKind): boolean {
  return code !== 'trusted_xattrs' && code !== 'mac_metadata' && code !== 'windows_metadata';
}

/** Whether files may have extended attributes that this run can read, but that a snapshot with these omissions lacks. */
export function mayHaveMoreXattrs(omitted: readonly OmittedKind[]): boolean {
  const isTrustedUnlisted = uncaptured()?.code === 'trusted_xattrs';
  return omitted.some(({ code }) =>
    code === 'trusted_xattrs' ? !isTrustedUnlisted : code === 'xattr' || code === 'xattrs',
  );
}

/** All readable extended attributes of an entry. `omit` is called for those that cannot be read. */
export function capturedXattrs(target: XattrTarget, omit: Omit): readonly Xattr[] | undefined {
  try {
    return sourceXattrs(target, omit);
  } catch (error) {
    omit(unreadXattrs(error));
    return undefined;
  }
}

/** The omission to record for an entry whose attributes cannot be listed. */
export function unreadXattrs(error: unknown): OmittedKind {
  return { code: 'xattrs', reason: errnoOf(error) ?? 'unreadable' };
}

/**
 * The extended attributes of an entry whose ctime has not changed. Those that the parent snapshot has are kept, whoever
 * could read them; those that are readable now are added. Returns the same list when there is nothing to add.
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

/** The attributes that fit into an entry. `omit` is called for the others. */
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
