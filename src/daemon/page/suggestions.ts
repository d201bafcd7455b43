/** Suggests sources: the usual ones that exist on this machine, and mounted disks as destinations. */
import { isUtf8 } from 'node:buffer';
import { opendir, readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileIfPresent } from '../../base/atomic-file.ts';
import { errnoOf, HoldfastError } from '../../base/errors.ts';
import { isReadable } from './directories.ts';

export interface FoundPlaces {
  readonly sources: readonly { readonly path: string; readonly kind: string }[];
  readonly disks: readonly FoundDisk[];
}

export interface FoundDisk {
  readonly path: string;
  readonly freeBytes: number | null;
  readonly totalBytes: number | null;
}

export interface Whereabouts {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** Whether the agent runs as root, as on a server. */
  readonly isRoot: boolean;
}

/** Usual folders of a person; the XDG names are those of user-dirs.dirs. */
const OF_PERSON: readonly (readonly [kind: string, xdg: string, name: string])[] = [
  ['documents', 'DOCUMENTS', 'Documents'],
  ['pictures', 'PICTURES', 'Pictures'],
  ['desktop', 'DESKTOP', 'Desktop'],
  ['music', 'MUSIC', 'Music'],
  ['videos', 'VIDEOS', 'Videos'],
];
const OF_SERVER: readonly (readonly [kind: string, path: string])[] = [
  ['etc', '/etc'],
  ['srv', '/srv'],
  ['www', '/var/www'],
];

export async function findPlaces(where: Whereabouts): Promise<FoundPlaces> {
  const wished = [
    ['home', where.home] as const,
    ...(await foldersOf(where)),
    ...(where.isRoot ? OF_SERVER : []),
  ];
  const sources: { readonly path: string; readonly kind: string }[] = [];
  for (const [kind, path] of wished) if (await isUsable(path)) sources.push({ path, kind });
  const disks = await Promise.all(
    (await mountedDisks(where.platform)).map(async (disk) => await sized(disk)),
  );
  return { sources, disks };
}

async function foldersOf({ home, platform }: Whereabouts): Promise<readonly (readonly [string, string])[]> {
  const named = platform === 'linux' ? await xdgFolders(home) : new Map<string, string>();
  return OF_PERSON.map(([kind, xdg, name]) => {
    const fallback = kind === 'videos' && platform === 'darwin' ? 'Movies' : name;
    return [kind, named.get(xdg) ?? join(home, fallback)] as const;
    // XDG names the home directory itself for a folder that the person does not use.
  }).filter(([, path]) => path !== home);
}

/** Lines such as `XDG_DOCUMENTS_DIR="$HOME/Dokumente"`. */
async function xdgFolders(home: string): Promise<ReadonlyMap<string, string>> {
  let text = '';
  try {
    text = (await readFileIfPresent(join(home, '.config', 'user-dirs.dirs')))?.toString() ?? '';
  } catch (error) {
    // Without the file the default names are used.
    if (!(error instanceof HoldfastError)) throw error;
  }
  const lines = text.matchAll(/^XDG_(\w+)_DIR="((?:\$HOME)?\/[^"\\]*)"\s*$/gm);
  return new Map(
    [...lines].map(([, name = '', path = '']) => [
      name,
      path.startsWith('$HOME') ? join(home, path.slice('$HOME'.length)).replace(/(.)\/$/, '$1') : path,
    ]),
  );
}

/** Whether the path is a readable directory that is not empty. */
async function isUsable(path: string): Promise<boolean> {
  try {
    // Readability comes first, as that check does not wait for a hanging file system.
    if (!(await isReadable(path)) || !(await stat(path)).isDirectory()) return false;
    await using directory = await opendir(path);
    return (await directory.read()) !== null;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}

interface Mounted {
  readonly path: string;
  /** The size of a network disk is not asked for, as that could hang while its server is away. */
  readonly isNetwork: boolean;
}

async function mountedDisks(platform: NodeJS.Platform): Promise<readonly Mounted[]> {
  if (platform === 'linux') {
    const table = await readFileIfPresent('/proc/self/mountinfo');
    return table === undefined ? [] : otherDisks(table.toString('latin1'));
  }
  if (platform !== 'darwin') return [];
  const system = await stat('/');
  const disks: Mounted[] = [];
  for (const name of await readdir('/Volumes')) {
    const path = join('/Volumes', name);
    if ((await stat(path)).dev !== system.dev) disks.push({ path, isNetwork: false });
  }
  return disks;
}

async function sized({ path, isNetwork }: Mounted): Promise<FoundDisk> {
  if (isNetwork) return { path, freeBytes: null, totalBytes: null };
  try {
    const { bavail, blocks, bsize } = await statfs(path);
    return { path, freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return { path, freeBytes: null, totalBytes: null };
  }
}

export interface MountedDisk {
  readonly path: string;
  readonly isNetwork: boolean;
}

const NETWORK = /^(?:nfs4?|cifs|smb3|smbfs|fuse\.(?:sshfs|rclone|davfs2?)|davfs|9p|ceph|glusterfs)$/;
/** Read-only file systems, or those without space of their own. */
const OF_NO_USE = /^(?:squashfs|iso9660|udf|overlay|autofs|erofs|cramfs)$/;
/** Where systems mount their own parts. */
const OF_SYSTEM = /^\/(?:boot|efi|usr|var|etc|proc|sys|dev|run(?!\/media\/)|snap|nix)(?:\/|$)/;

/**
 * Linux's mount table: which disks there are in addition to the system disk.
 * @param table the text of /proc/self/mountinfo, one character for each byte
 */
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
