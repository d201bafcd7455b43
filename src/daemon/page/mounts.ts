/** Linux's mount table: which disks there are in addition to the system disk. */
import { isUtf8 } from 'node:buffer';

export interface MountedDisk {
  readonly path: string;
  readonly isNetwork: boolean;
}

const NETWORK = /^(?:nfs4?|cifs|smb3|smbfs|fuse\.(?:sshfs|rclone|davfs2?)|davfs|9p|ceph|glusterfs)$/;
/** Read-only file systems, or those without space of their own. */
const OF_NO_USE = /^(?:squashfs|iso9660|udf|overlay|autofs|erofs|cramfs)$/;
/** Where systems mount their own parts. */
const OF_SYSTEM = /^\/(?:boot|efi|usr|var|etc|proc|sys|dev|run(?!\/media\/)|snap|nix)(?:\/|$)/;

/** @param table the text of /proc/self/mountinfo, one character for each byte */
export function otherDisks(table: string): readonly MountedDisk[] {
  const mounts = table.split('\n').flatMap((line) => readMount(line) ?? []);
  const system = new Set(mounts.filter(({ path }) => path === '/').map(({ device }) => device));
  const seen = new Set<string>();
  return mounts
    .filter(({ type, path, source, isReadOnly, device }) => {
      const isNetwork = NETWORK.test(type);
      if (isReadOnly || OF_NO_USE.test(type) || OF_SYSTEM.test(path) || system.has(device)) return false;
      // Each disk once, even if it is mounted in several places.
      if ((!isNetwork && !source.startsWith('/dev/')) || seen.has(device)) return false;
      seen.add(device);
      return true;
    })
    .map(({ path, type }) => ({ path, isNetwork: NETWORK.test(type) }));
}

interface Mount {
  readonly device: string;
  readonly path: string;
  readonly isReadOnly: boolean;
  readonly type: string;
  readonly source: string;
}

/** `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`; undefined for a name that is not UTF-8. */
function readMount(line: string): Mount | undefined {
  const [before = '', after = ''] = line.split(' - ');
  const [, , device = '', root = '', point = '', options = ''] = before.split(' ');
  const [type = '', source = '', more = ''] = after.split(' ');
  const bytes = Buffer.from(unescaped(point), 'latin1');
  // Such a mount shows only a part of a disk: a file or directory in another place.
  if (point === '' || !isUtf8(bytes) || (root !== '/' && !NETWORK.test(type))) return undefined;
  const isReadOnly = /^ro(?:,|$)/.test(options) || /^ro(?:,|$)/.test(more);
  return { device, path: bytes.toString(), isReadOnly, type, source };
}

/** Spaces, tabs, line breaks and backslashes are escaped, such as `\040`. */
function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_escape, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
