/** Parts of entries that could not be captured although the entries are in a snapshot, counted by kind. */
import { asByteString, bytesOfText, textOfBytes, type ByteString } from '../base/byte-path.ts';
import type { CborMap, RecordReader } from './cbor.ts';

export type OmittedKind =
  /** One extended attribute. `reason`: errno name. */
  | { readonly code: 'xattr'; readonly name: ByteString; readonly reason: string }
  /** All extended attributes: they cannot be listed. */
  | { readonly code: 'xattrs'; readonly reason: string }
  /** Attributes below `trusted.`, which only root with CAP_SYS_ADMIN can list. */
  | { readonly code: 'trusted_xattrs' }
  /** What files have on Windows beside content, times and the read-only attribute. */
  | { readonly code: 'windows_metadata' }
  /** Entries that are no files, directories, links, devices, pipes or sockets. */
  | { readonly code: 'entries' }
  /** What this version does not capture of any entry on macOS: flags, access lists and creation times. */
  | { readonly code: 'mac_metadata' }
  /** Files and directories whose content is in iCloud alone. They are not in the snapshot. */
  | { readonly code: 'dataless' }
  /** Kinds beyond the number that is listed. */
  | { readonly code: 'more' }
  /** An omission by another version that gives words alone, or a code that this version does not know. */
  | { readonly code: 'words'; readonly text: string };

export type Omission = OmittedKind & { readonly count: number };

/** A key that is equal for all omissions of one kind. */
export function omissionKey(kind: OmittedKind): string {
  const name = 'name' in kind ? kind.name : '';
  const reason = 'reason' in kind ? kind.reason : '';
  return JSON.stringify([kind.code, name, reason, kind.code === 'words' ? kind.text : '']);
}

/** The text for the user, and for readers that do not know the codes. */
export function omissionText(omission: Omission): string {
  return `${kindText(omission)} (${omission.count})`;
}

function kindText(kind: OmittedKind): string {
  switch (kind.code) {
    case 'xattr':
      return `extended attribute ${textOfBytes(kind.name).toWellFormed()}: ${kind.reason}`;
    case 'xattrs':
      return `extended attributes: ${kind.reason}`;
    case 'trusted_xattrs':
      return TRUSTED;
    case 'windows_metadata':
      return WINDOWS;
    case 'entries':
      return ENTRIES;
    case 'mac_metadata':
      return MAC_METADATA;
    case 'dataless':
      return DATALESS;
    case 'more':
      return MORE;
    case 'words':
      return kind.text;
  }
}

const TRUSTED = 'extended attributes trusted.*: CAP_SYS_ADMIN is missing';
const WINDOWS =
  'owners, access lists, alternate streams and attributes of Windows (hidden, system, sparse, compressed, encrypted)';
const ENTRIES = 'entries of a kind that cannot be stored';
const MAC_METADATA = 'flags, access lists and creation times of macOS';
const DATALESS = 'files and folders whose content is in iCloud alone';
const MORE = 'more of other kinds';
/** UTF-16 units. */
const LONGEST_REASON = 65_536;

/** The item of `omitted_codes` for an omission; its text is in `omitted` at the same position. */
export function omissionMap(omission: Omission): CborMap {
  const { code, count } = omission;
  return {
    code,
    count,
    ...('name' in omission ? { name: Buffer.from(omission.name, 'latin1') } : {}),
    ...('reason' in omission ? { reason: omission.reason } : {}),
  };
}

/** @param text the text at the same position of `omitted` */
export function omissionOf(map: RecordReader, text: string): Omission {
  const count = map.integer('count');
  switch (map.text('code')) {
    case 'xattr':
      return {
        code: 'xattr',
        name: asByteString(map.bytes('name').toString('latin1')),
        reason: map.text('reason', LONGEST_REASON),
        count,
      };
    case 'xattrs':
      return { code: 'xattrs', reason: map.text('reason', LONGEST_REASON), count };
    case 'trusted_xattrs':
      return { code: 'trusted_xattrs', count };
    case 'windows_metadata':
      return { code: 'windows_metadata', count };
    case 'entries':
      return { code: 'entries', count };
    case 'mac_metadata':
      return { code: 'mac_metadata', count };
    case 'dataless':
      return { code: 'dataless', count };
    case 'more':
      return { code: 'more', count };
    default:
      return { code: 'words', text: counted(text).what, count };
  }
}

/** The omission that a text describes, for snapshots that were stored without codes. */
export function omissionOfText(text: string): Omission {
  const { what, count } = counted(text);
  if (what === TRUSTED) return { code: 'trusted_xattrs', count };
  if (what === ENTRIES) return { code: 'entries', count };
  if (what === MORE) return { code: 'more', count };
  const [, all] = /^extended attributes: (.*)$/su.exec(what) ?? [];
  if (all !== undefined && isReason(all)) return { code: 'xattrs', reason: all, count };
  const [, name, reason] = /^extended attribute (.*): (.*)$/su.exec(what) ?? [];
  if (name === undefined || reason === undefined || !isReason(reason))
    return { code: 'words', text: what, count };
  return { code: 'xattr', name: nameOfText(name), reason, count };
}

function counted(text: string): { readonly what: string; readonly count: number } {
  const [, what = text, digits = '1'] = /^(.*) \((\d{1,16})\)$/su.exec(text) ?? [];
  const count = Number(digits);
  return Number.isSafeInteger(count) ? { what, count } : { what: text, count: 1 };
}

/**
 * Longer texts are kept as words: as a reason they would exceed the limit for that field, and the snapshot could never
 * be stored again.
 */
function isReason(text: string): boolean {
  return text.length <= LONGEST_REASON;
}

/** Older texts have one character for each byte of a name. A text with characters beyond that is the name as text. */
function nameOfText(text: string): ByteString {
  return /^[\0-\u00ff]*$/.test(text) ? asByteString(text) : bytesOfText(text);
}
