/** The mounts of macOS, and which of them a backup of what lies around them leaves out. */
import { isWithin, type ByteString } from '../base/byte-path.ts';
import { libc } from './libc.ts';
import type { Mount } from './mount-table.ts';

/** Offsets in `struct statfs` of sys/mount.h, with 64-bit inode numbers. */
const STATFS = { size: 2168, type: 72, on: 88, from: 1112, end: 2136 } as const;
const MNT_NOWAIT = 2;

/**
 * The table as `mount` prints it. MNT_NOWAIT asks no server; what is missing where the calls fail is no mount at all.
 */
export function macMountTable(): string {
  if (libc === null) return '';
  const getfsstat = libc.bind(`getfsstat${libc.platform.inode64Suffix}`, 'int', ['address', 'int', 'int']);
  const count = getfsstat(0, 0, MNT_NOWAIT);
  if (count <= 0) return '';
  // Something may be mounted between both calls.
  const memory = libc.memory((count + 8) * STATFS.size);
  const found = getfsstat(memory.address, memory.bytes.length, MNT_NOWAIT);
  return tableOf(memory.bytes, Math.max(found, 0));
}

/** @param bytes an array of `struct statfs` */
export function tableOf(bytes: Buffer, count: number): string {
  return Array.from({ length: count }, (_, index) => {
    const at = index * STATFS.size;
    const [type, on, from] = [
      cString(bytes, at + STATFS.type, at + STATFS.on),
      cString(bytes, at + STATFS.on, at + STATFS.from),
      cString(bytes, at + STATFS.from, at + STATFS.end),
    ];
    return `${from} on ${on} (${type})\n`;
  }).join('');
}

function cString(bytes: Buffer, start: number, end: number): string {
  const zero = bytes.indexOf(0, start);
  return bytes.toString('latin1', start, zero === -1 || zero > end ? end : zero);
}

export interface LeftOutMount {
  readonly path: ByteString;
  readonly reason: string;
}

const DATA = '/System/Volumes/Data';

/**
 * Mounts that a backup of what lies around them does not enter: devices, the volumes of the system, whose data macOS
 * shows below `/` as well, and other disks. A mount in which a source lies is entered.
 */
export function leftOutMounts(
  mounts: readonly Mount[],
  sources: readonly ByteString[],
): readonly LeftOutMount[] {
  return mounts.flatMap(({ path, type }) => {
    const reason = reasonFor(path, type);
    const isMeant = sources.some((source) => isWithin(source, path));
    return reason === undefined || isMeant ? [] : [{ path, reason }];
  });
}

function reasonFor(path: ByteString, type: string): string | undefined {
  if (type === 'devfs') return 'the devices of the machine';
  if (path === DATA) return 'the data volume, whose files lie below / as well';
  if (path.startsWith('/System/Volumes/')) return 'a volume of the system';
  if (path.startsWith('/Volumes/')) return 'another disk, which is a source of its own';
  return undefined;
}

/** What `open` and `read` of a file say that is in iCloud alone, while downloads are forbidden. */
const IOPOL_TYPE_VFS_MATERIALIZE_DATALESS_FILES = 3;
const IOPOL_SCOPE_PROCESS = 0;
const IOPOL_MATERIALIZE_DATALESS_FILES_OFF = 1;

/**
 * Keeps macOS from downloading what this process reads: whoever reads a file whose content is in iCloud alone then gets
 * EDEADLK. Does nothing on other systems, and on macOS before 10.15.
 */
export function forbidDownloads(): void {
  if (libc === null || libc.platform.system !== 'darwin' || !libc.has('setiopolicy_np')) return;
  const set = libc.bind('setiopolicy_np', 'int', ['int', 'int', 'int']);
  set(IOPOL_TYPE_VFS_MATERIALIZE_DATALESS_FILES, IOPOL_SCOPE_PROCESS, IOPOL_MATERIALIZE_DATALESS_FILES_OFF);
}

/** Flag of a file or directory whose content is not on this disk (SF_DATALESS of sys/stat.h). */
const DATALESS = 0x4000_0000;

export function isDataless(flags: number): boolean {
  return (flags & DATALESS) !== 0;
}

/** Folders that macOS shows only to programs that a person has given access (TCC), below a home. */
const GUARDED =
  /^(?:\/Users\/[^/]+\/(?:Desktop|Documents|Downloads|Library|Movies|Music|Pictures|\.Trash)|\/Volumes\/[^/]+)(?:\/|$)/;

export function isKeptByMac(
  path: string,
  failure: string,
  platform: NodeJS.Platform = process.platform,
): boolean {
  return platform === 'darwin' && failure === 'EPERM' && GUARDED.test(path);
}

/** What to do when macOS refuses a path that its own permissions would allow; undefined for another failure. */
export function accessHint(
  path: string,
  failure: string,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (!isKeptByMac(path, failure, platform)) return undefined;
  return `macOS keeps this folder from programs without Full Disk Access. In System Settings, open Privacy & Security, then Full Disk Access, and add ${process.execPath} (in a terminal: the terminal program). Then start Holdfast again.`;
}
