/** Suggests sources: the usual ones that exist on this machine, and mounted disks as destinations. */
import { opendir, readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileIfPresent } from '../../base/atomic-file.ts';
import { HoldfastError, errnoOf } from '../../base/errors.ts';
import { isReadable } from './directories.ts';
import { otherDisks } from './mounts.ts';

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
