/** Torture tree: modes, owners, extended attributes, access control lists, times. */

import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { asByteString, bytesOfText, joinBytes } from '../../src/base/byte-path.ts';
import { fsPath } from '../../src/base/tree-path.ts';
import type { ByteString } from '../../src/base/byte-path.ts';
import { hasXattrs, makeSpecial, readXattrs, setTimes, setXattr } from './libc.ts';
import { NotAllowedHere } from './torture-site.ts';
import type { TortureSite } from './torture-site.ts';

function newFile(path: ByteString, content = 'content\n'): void {
  writeFileSync(fsPath(path), content, { flag: 'wx' });
}

function newDirectoryWithFile(path: ByteString): void {
  mkdirSync(fsPath(path));
  newFile(joinBytes(path, bytesOfText('inside')));
}

/** chmod that notices when the system drops bits, as it may for set-group-id. */
function setMode(path: ByteString, mode: number): void {
  chmodSync(fsPath(path), mode);
  const stored = lstatSync(fsPath(path)).mode & 0o7777;
  if (stored !== mode) throw new NotAllowedHere(`the system made ${stored.toString(8)} of it`);
}

export function makeModes(site: TortureSite): void {
  for (const mode of [
    0o000, 0o100, 0o111, 0o200, 0o400, 0o444, 0o600, 0o755, 0o777, 0o1644, 0o2755, 0o4755, 0o6755,
  ]) {
    const shown = mode.toString(8).padStart(4, '0');
    site.make(bytesOfText(`file-${shown}`), `file with mode ${shown}`, (path) => {
      newFile(path);
      setMode(path, mode);
    });
  }
  const directoryModes: readonly (readonly [number, string])[] = [
    [0o0700, 'private'],
    [0o1777, 'sticky'],
    [0o2775, 'set-group-id'],
    [0o3770, 'sticky and set-group-id'],
    [0o0555, 'read-only, holding a file'],
    [0o0300, 'not listable, holding a file'],
    [0o0000, 'without any right, holding a file'],
  ];
  for (const [mode, what] of directoryModes) {
    const shown = mode.toString(8).padStart(4, '0');
    site.make(bytesOfText(`directory-${shown}`), `directory, ${what}`, (path) => {
      newDirectoryWithFile(path);
      setMode(path, mode);
    });
  }
}

export function makeOwners(site: TortureSite): void {
  const own = (name: string, uid: number, gid: number): void => {
    const what = `owner ${uid}, group ${gid}`;
    site.make(bytesOfText(`file-${name}`), `file, ${what}`, (path) => {
      newFile(path);
      lchownSync(fsPath(path), uid, gid);
    });
    site.make(bytesOfText(`directory-${name}`), `directory, ${what}`, (path) => {
      newDirectoryWithFile(path);
      lchownSync(fsPath(path), uid, gid);
    });
    site.make(bytesOfText(`link-${name}`), `symbolic link, ${what}`, (path) => {
      symlinkSync('nowhere', fsPath(path));
      lchownSync(fsPath(path), uid, gid);
    });
  };
  own('nobody', 65_534, 65_534);
  own('no-name', 48_611, 48_612);
  own('large', 4_000_000_001, 4_000_000_002);
  own('mixed', 0, 48_612);
  site.make(bytesOfText('set-user-id'), "another user's file with mode 4755", (path) => {
    newFile(path);
    lchownSync(fsPath(path), 48_611, 48_612);
    setMode(path, 0o4755);
  });
}

/** Sets an attribute and reads it back. */
function attach(path: ByteString, name: string, value: Uint8Array): void {
  if (!hasXattrs) throw new NotAllowedHere(`not made on ${process.platform}`);
  const key = bytesOfText(name);
  setXattr(path, key, value);
  if (readXattrs(path).get(key)?.equals(value) !== true)
    throw new NotAllowedHere('the value does not read back');
}

export function makeXattrs(site: TortureSite): void {
  const everyByte = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
  const values: readonly (readonly [string, string, string, Uint8Array])[] = [
    ['empty', 'empty value', 'user.empty', new Uint8Array(0)],
    ['text', 'short text', 'user.comment', Buffer.from('hello')],
    ['kib', '1 KiB', 'user.kib', Buffer.alloc(1024, 'k')],
    ['binary', 'every byte value', 'user.binary', everyByte],
    ['near-block', '3,500 bytes', 'user.large', Buffer.alloc(3_500, everyByte)],
    ['unicode-name', 'name not ASCII', 'user.\u00fc\u{1f600}', Buffer.from('x')],
    ['longest-name', 'name of 255 bytes', `user.${'n'.repeat(250)}`, Buffer.from('x')],
    ['huge', '60,000 bytes', 'user.huge', Buffer.alloc(60_000, everyByte)],
  ];
  for (const [name, what, key, value] of values) {
    site.make(bytesOfText(name), `file, extended attribute: ${what}`, (path) => {
      newFile(path);
      attach(path, key, value);
    });
  }
  site.make(bytesOfText('several'), 'file with ten extended attributes', (path) => {
    newFile(path);
    for (let index = 0; index < 10; index += 1)
      attach(path, `user.number-${index}`, Buffer.from(String(index)));
  });
  site.make(bytesOfText('read-only'), 'read-only file with an extended attribute', (path) => {
    newFile(path);
    attach(path, 'user.comment', Buffer.from('set before the mode'));
    setMode(path, 0o444);
  });
  site.make(bytesOfText('directory'), 'directory with extended attributes', (path) => {
    newDirectoryWithFile(path);
    attach(path, 'user.comment', Buffer.from('on a directory'));
    attach(path, 'user.binary', everyByte);
  });
  site.make(bytesOfText('trusted'), 'file with a trusted attribute', (path) => {
    newFile(path);
    attach(path, 'trusted.holdfast-test', everyByte);
  });
  site.make(bytesOfText('trusted-link'), 'symbolic link with a trusted attribute', (path) => {
    symlinkSync('nowhere', fsPath(path));
    attach(path, 'trusted.holdfast-test', Buffer.from('on the link itself'));
  });
  site.make(bytesOfText('capability'), 'file capability cap_net_raw+ep', (path) => {
    newFile(path);
    chmodSync(fsPath(path), 0o755);
    attach(path, 'security.capability', capability(1 << 13));
  });
}

/** struct vfs_cap_data, revision 2, effective: linux/capability.h. */
function capability(permitted: number): Buffer {
  const data = Buffer.alloc(20);
  data.writeUInt32LE(0x0200_0001, 0);
  data.writeUInt32LE(permitted, 4);
  return data;
}

type AclEntry = readonly [tag: number, rights: number, id?: number];
const [ownerTag, userTag, groupTag, namedGroupTag, maskTag, otherTag] = [1, 2, 4, 8, 0x10, 0x20];

/** struct posix_acl_xattr, version 2: linux/posix_acl_xattr.h. Entries in order of tag, then id. */
function acl(entries: readonly AclEntry[]): Buffer {
  const data = Buffer.alloc(4 + 8 * entries.length);
  data.writeUInt32LE(2, 0);
  for (const [index, [tag, rights, id = 0xffff_ffff]] of entries.entries()) {
    data.writeUInt16LE(tag, 4 + 8 * index);
    data.writeUInt16LE(rights, 6 + 8 * index);
    data.writeUInt32LE(id, 8 + 8 * index);
  }
  return data;
}

const wide: readonly AclEntry[] = [
  [ownerTag, 7],
  [userTag, 4, 48_611],
  [userTag, 6, 65_534],
  [groupTag, 4],
  [namedGroupTag, 7, 48_612],
  [maskTag, 6],
  [otherTag, 0],
];

export function makeAcls(site: TortureSite): void {
  site.make(bytesOfText('file'), 'file with an access control list', (path) => {
    newFile(path);
    attach(path, 'system.posix_acl_access', acl(wide));
  });
  site.make(bytesOfText('masked'), 'access control list narrower than its mask', (path) => {
    newFile(path);
    const entries: readonly AclEntry[] = [
      [ownerTag, 7],
      [userTag, 7, 48_611],
      [groupTag, 7],
      [maskTag, 0],
      [otherTag, 4],
    ];
    attach(path, 'system.posix_acl_access', acl(entries));
  });
  site.make(bytesOfText('directory'), 'directory with access and default lists, and heirs', (path) => {
    mkdirSync(fsPath(path));
    attach(path, 'system.posix_acl_access', acl(wide));
    attach(path, 'system.posix_acl_default', acl(wide));
    newFile(joinBytes(path, bytesOfText('heir')));
    mkdirSync(fsPath(joinBytes(path, bytesOfText('heir-directory'))));
  });
  site.make(
    bytesOfText('default-only'),
    'directory with a default list only; its file inherited none',
    (path) => {
      newDirectoryWithFile(path);
      attach(path, 'system.posix_acl_default', acl(wide));
    },
  );
}

/** Seconds since 1970 (and nanoseconds) of moments that clocks and formats get wrong. */
const moments: readonly (readonly [string, bigint])[] = [
  ['1901', -2_147_483_000_000_000_000n],
  ['1969', -1n],
  ['1969-half', -86_399_500_000_001n],
  ['1970', 0n],
  ['nanosecond', 1_234_567_890_123_456_789n],
  ['last-nanosecond', 1_600_000_000_999_999_999n],
  ['2038', 2_147_483_648_000_000_001n],
  ['2100', 4_102_444_800_000_000_001n],
  ['2400', 13_569_465_600_987_654_321n],
];

export function makeTimes(site: TortureSite): void {
  const stamp = (path: ByteString, moment: bigint): void => {
    setTimes(path, moment);
    const stored = lstatSync(fsPath(path), { bigint: true }).mtimeNs;
    if (stored !== moment) throw new NotAllowedHere(`stored as ${stored} ns`);
  };
  for (const [name, moment] of moments) {
    site.make(bytesOfText(`file-${name}`), `file, modified at ${moment} ns`, (path) => {
      newFile(path);
      stamp(path, moment);
    });
    site.make(bytesOfText(`directory-${name}`), `directory, modified at ${moment} ns`, (path) => {
      newDirectoryWithFile(path);
      stamp(path, moment);
    });
    site.make(bytesOfText(`link-${name}`), `symbolic link, modified at ${moment} ns`, (path) => {
      symlinkSync('nowhere', fsPath(path));
      stamp(path, moment);
    });
  }
  site.make(bytesOfText('fifo'), 'FIFO, modified in 2100', (path) => {
    makeSpecial(path, 'fifo', 0o600);
    stamp(path, 4_102_444_800_000_000_001n);
  });
  // Reading must not matter, so one file has been read after its times were set.
  site.make(asByteString('read-later'), 'file read after its times were set', (path) => {
    newFile(path);
    stamp(path, 1_000_000_000_000_000_001n);
    readFileSync(fsPath(path));
  });
}
