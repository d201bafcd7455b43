/**
 * POSIX access control lists as tar archives contain them (`SCHILY.acl.access`, `SCHILY.acl.default`): the short text
 * form of acl(5), with ids instead of names so that they mean the same everywhere.
 */

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

/** Converts the attribute's value to `user::rwx,user:1000:r--,…`; undefined when it is not a list of the known version. */
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
