/**
 * Makes headers of tar archives in the pax format (POSIX.1-2017, pax, "pax Interchange Format"), with the extensions
 * that GNU tar, star and libarchive share: `SCHILY.xattr.` and `SCHILY.acl.` records, base-256 numbers, and GNU's long
 * names for those that are not UTF-8, which pax records cannot hold.
 */
import { type ByteString, isAscii, isUtf8 } from '../base/byte-path.ts';
import type { Xattr } from '../format/tree.ts';

const TAR_BLOCK = 512;

/** The end of an archive: two blocks of zeros. */
export const TAR_END = Buffer.alloc(2 * TAR_BLOCK);

const TYPE_FLAGS = {
  file: '0',
  'hard-link': '1',
  symlink: '2',
  'char-device': '3',
  'block-device': '4',
  directory: '5',
  fifo: '6',
} as const;

export interface TarMember {
  readonly type: keyof typeof TYPE_FLAGS;
  /** Relative, without a slash at the end. */
  readonly path: ByteString;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly user?: string | undefined;
  readonly group?: string | undefined;
  /** Bytes that follow; 0 for all but files. */
  readonly size: number;
  /** Nanoseconds since 1970. */
  readonly mtimeNs: bigint;
  /** Of a symbolic link, or the path of the first name of a hard link. */
  readonly target?: ByteString | undefined;
  readonly major?: number | undefined;
  readonly minor?: number | undefined;
  readonly xattrs?: readonly Xattr[] | undefined;
}

/** libarchive, and with it bsdtar, rejects an archive with more extension records than this for one member. */
const MOST_RECORD_BYTES = 1024 * 1024;

/**
 * Everything that precedes the content of a member, in whole blocks.
 * @param onLeftOut called for each attribute for which there is no room
 */
export function encodeTarHeader(member: TarMember, onLeftOut: (xattr: Xattr) => void = () => {}): Buffer {
  const path = (member.type === 'directory' ? `${member.path}/` : member.path) as ByteString;
  const target = member.target ?? ('' as ByteString);
  const split = splitPath(path);
  const blocks: Buffer[] = [];
  const records: Buffer[] = [];
  if (split === undefined && !isUtf8(path)) blocks.push(...longName('L', path));
  else if (split === undefined || !isAscii(path)) records.push(paxRecord('path', path));
  if (target.length > 100 && !isUtf8(target)) blocks.push(...longName('K', target));
  else if (target.length > 100 || !isAscii(target)) {
    if (isUtf8(target)) records.push(paxRecord('linkpath', target));
  }
  records.push(...metadataRecords(member));
  records.push(...xattrRecords(member, MOST_RECORD_BYTES - lengthOf(records), onLeftOut));
  if (records.length > 0) blocks.push(...extension('x', 'PaxHeaders/member', Buffer.concat(records)));
  blocks.push(ustarHeader(member, split ?? { prefix: '', name: path.slice(0, 100) }, target.slice(0, 100)));
  return Buffer.concat(blocks);
}

/** Zeros that fill the last block after `size` bytes of content. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);
}

function metadataRecords(member: TarMember): Buffer[] {
  const { uid, gid, size, mtimeNs, user = '', group = '' } = member;
  const records: Buffer[] = [];
  if (uid > OCTAL_7) records.push(paxRecord('uid', String(uid)));
  if (gid > OCTAL_7) records.push(paxRecord('gid', String(gid)));
  if (size > OCTAL_11) records.push(paxRecord('size', String(size)));
  if (mtimeNs % SECOND !== 0n || !fitsHeader(mtimeNs))
    records.push(paxRecord('mtime', decimalSeconds(mtimeNs)));
  if (user.length > 31 || !isAscii(user)) records.push(paxRecord('uname', utf8(user)));
  if (group.length > 31 || !isAscii(group)) records.push(paxRecord('gname', utf8(group)));
  return records;
}

function xattrRecords({ xattrs = [] }: TarMember, room: number, onLeftOut: (xattr: Xattr) => void): Buffer[] {
  const records: Buffer[] = [];
  for (const xattr of xattrs) {
    const record = xattrRecord(xattr);
    if (lengthOf(records) + record.length <= room) records.push(record);
    else onLeftOut(xattr);
  }
  return records;
}

function lengthOf(records: readonly Buffer[]): number {
  return records.reduce((sum, { length }) => sum + length, 0);
}

/** Access control lists have their own kind of record; GNU tar does not accept them as attributes. */
function xattrRecord({ name, value }: Xattr): Buffer {
  const acl = /^system\.posix_acl_(access|default)$/.exec(name)?.[1];
  const text = acl === undefined ? undefined : aclText(value);
  if (acl !== undefined && text !== undefined) return paxRecord(`SCHILY.acl.${acl}`, text);
  return paxRecord(`SCHILY.xattr.${xattrKeyword(name)}`, value);
}

const SECOND = 1_000_000_000n;
const OCTAL_7 = 0o7777777;
const OCTAL_11 = 0o77777777777;

function fitsHeader(mtimeNs: bigint): boolean {
  return mtimeNs >= 0n && mtimeNs / SECOND <= BigInt(OCTAL_11);
}

/** Decimal seconds such as `-1.5`: the sign applies to the whole number, fraction included. */
function decimalSeconds(ns: bigint): string {
  const size = ns < 0n ? -ns : ns;
  const fraction = (size % SECOND).toString().padStart(9, '0').replace(/0+$/, '');
  return `${ns < 0n ? '-' : ''}${size / SECOND}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Escapes an attribute's name as GNU tar does, since a keyword ends at its first `=`. */
function xattrKeyword(name: ByteString): string {
  return name.replaceAll('%', '%25').replaceAll('=', '%3D');
}

/** `<length> <keyword>=<value>\n`, where the length includes itself. Both texts are byte strings. */
function paxRecord(keyword: string, value: string | Buffer): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'latin1') : value;
  const rest = keyword.length + bytes.length + 3;
  let length = rest + String(rest).length;
  if (String(length).length > String(rest).length) length += 1;
  return Buffer.concat([Buffer.from(`${length} ${keyword}=`, 'latin1'), bytes, Buffer.of(0x0a)]);
}

function longName(type: 'L' | 'K', name: ByteString): Buffer[] {
  return extension(type, '././@LongLink', Buffer.from(`${name}\0`, 'latin1'));
}

/** A member that describes the next one. */
function extension(typeFlag: string, name: string, content: Buffer): Buffer[] {
  const header = Buffer.alloc(TAR_BLOCK);
  header.write(name, 0, 'latin1');
  writeNumber(header, 100, 8, 0o644);
  for (const at of [108, 116]) writeNumber(header, at, 8, 0);
  writeNumber(header, 124, 12, content.length);
  writeNumber(header, 136, 12, 0);
  return [finished(header, typeFlag), content, tarPadding(content.length)];
}

interface SplitPath {
  /** At most 155 bytes, without the slash behind it. */
  readonly prefix: string;
  /** At most 100 bytes. */
  readonly name: string;
}

/** Splits the path into the two fields of the header; undefined when it does not fit. */
function splitPath(path: ByteString): SplitPath | undefined {
  if (path.length <= 100) return { prefix: '', name: path };
  // The slash at the end of a directory belongs to its name.
  for (
    let at = path.indexOf('/', path.length - 101);
    at !== -1 && at <= 155;
    at = path.indexOf('/', at + 1)
  ) {
    if (at > 0 && at < path.length - 1) return { prefix: path.slice(0, at), name: path.slice(at + 1) };
  }
  return undefined;
}

function ustarHeader(member: TarMember, { prefix, name }: SplitPath, target: string): Buffer {
  const { type, mode, uid, gid, size, mtimeNs, user = '', group = '', major = 0, minor = 0 } = member;
  const header = Buffer.alloc(TAR_BLOCK);
  header.write(name, 0, 'latin1');
  writeNumber(header, 100, 8, mode);
  writeNumber(header, 108, 8, uid);
  writeNumber(header, 116, 8, gid);
  writeNumber(header, 124, 12, size);
  writeNumber(header, 136, 12, fitsHeader(mtimeNs) ? Number(mtimeNs / SECOND) : 0);
  header.write(target, 157, 'latin1');
  header.write(isAscii(user) ? user.slice(0, 31) : '', 265, 'latin1');
  header.write(isAscii(group) ? group.slice(0, 31) : '', 297, 'latin1');
  writeNumber(header, 329, 8, major);
  writeNumber(header, 337, 8, minor);
  header.write(prefix, 345, 'latin1');
  return finished(header, TYPE_FLAGS[type]);
}

/** Adds type, magic and checksum, which counts its own field as spaces. */
function finished(header: Buffer, typeFlag: string): Buffer {
  header.write(typeFlag, 156, 'latin1');
  header.write('ustar\u000000', 257, 'latin1');
  header.write('        ', 148, 'latin1');
  let sum = 0;
  for (let i = 0; i < TAR_BLOCK; i += 1) sum += header[i] ?? 0;
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

/** Octal digits and a NUL; or, when they do not fit, 0x80 and the number in base 256. */
function writeNumber(header: Buffer, at: number, width: 8 | 12, value: number): void {
  const octal = value.toString(8);
  if (octal.length < width) {
    header.write(octal.padStart(width - 1, '0'), at, 'latin1');
    return;
  }
  header.writeBigUInt64BE(BigInt(value), at + width - 8);
  header[at] = 0x80;
}

function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Tags of struct posix_acl_xattr_entry (linux/posix_acl.h). */
const TAGS: Readonly<Record<number, { readonly name: string; readonly named: boolean }>> = {
  0x01: { name: 'user', named: false },
  0x02: { name: 'user', named: true },
  0x04: { name: 'group', named: false },
  0x08: { name: 'group', named: true },
  0x10: { name: 'mask', named: false },
  0x20: { name: 'other', named: false },
};

const VERSION = 2;

/**
 * POSIX access control lists as tar archives contain them (`SCHILY.acl.access`, `SCHILY.acl.default`): the short text
 * form of acl(5), with ids instead of names so that they mean the same everywhere. Converts the attribute's value to
 * `user::rwx,user:1000:r--,…`; undefined when it is not a list of the known version.
 */
export function aclText(value: Buffer): string | undefined {
  if (value.length < 4 || value.length % 8 !== 4 || value.readUInt32LE(0) !== VERSION) return undefined;
  const entries: string[] = [];
  for (let at = 4; at < value.length; at += 8) {
    const tag = TAGS[value.readUInt16LE(at)];
    const rights = value.readUInt16LE(at + 2);
    if (tag === undefined || rights > 7) return undefined;
    const id = tag.named ? String(value.readUInt32LE(at + 4)) : '';
    const shown = `${(rights & 4) === 0 ? '-' : 'r'}${(rights & 2) === 0 ? '-' : 'w'}${(rights & 1) === 0 ? '-' : 'x'}`;
    entries.push(`${tag.name}:${id}:${shown}`);
  }
  return entries.join(',');
}
