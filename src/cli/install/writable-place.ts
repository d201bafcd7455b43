/**
 * Finds the path that a unit has to name so that its agent may write to a directory, and yet does not hold on to a disk
 * that is unmounted. systemd makes a mount of its own for each writable path that is not a mount point yet. Below the
 * mount point of a disk, such a mount keeps the disk in use for the agent, which goes on writing to it, after it was
 * unmounted for everybody else. For the mount point itself systemd makes none.
 */
import { readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { asByteString, isUtf8, textOfBytes } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import { mountTable, parseMounts } from '../../system/mount-table.ts';
import { unmountedAt } from '../../system/unmounted.ts';

/** Mount points that stay as long as the machine runs, and hold what belongs to others. */
const OF_SYSTEM: ReadonlySet<string> = new Set([
  '/',
  '/boot',
  '/dev',
  '/etc',
  '/home',
  '/opt',
  '/proc',
  '/root',
  '/run',
  '/sys',
  '/tmp',
  '/usr',
  '/var',
  '/usr/local',
  '/var/cache',
  '/var/lib',
  '/var/log',
  '/var/tmp',
]);

export interface MountPoints {
  /** Paths where something is mounted or is to be mounted. */
  readonly points: readonly string[];
  /** The path above a directory at which, going by its name, something should be mounted but is not. */
  readonly missing: (directory: string) => string | undefined;
}

/** The innermost mount point around a directory that can be unmounted; the directory itself if there is none. */
export function writablePlace(directory: string, { points, missing }: MountPoints): string {
  const around = points
    .filter((point) => directory === point || directory.startsWith(`${point}/`))
    .filter((point) => !OF_SYSTEM.has(point))
    .toSorted((a, b) => b.length - a.length);
  return around[0] ?? missing(directory) ?? directory;
}

/** The mount points of this machine. */
export async function mountPoints(): Promise<MountPoints> {
  const mounted = parseMounts(mountTable())
    .filter(({ path }) => isUtf8(path))
    .map(({ path }) => textOfBytes(path));
  return { points: [...mounted, ...plannedPoints(await fileSystems())], missing: unmountedAt };
}

/** The real path of a directory, as the mount table names it. */
export async function resolved(directory: string): Promise<string> {
  return await realpath(join(directory, '.'));
}

/** The mount points in `/etc/fstab` (its second column), which include those of disks that are away. */
export function plannedPoints(table: string): readonly string[] {
  return table
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .map((line) => line.trim().split(/\s+/)[1] ?? '')
    .map((point) =>
      point.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
        String.fromCodePoint(Number.parseInt(octal, 8)),
      ),
    )
    .map((point) => textOfBytes(asByteString(point)).replace(/(?<=.)\/+$/, ''))
    .filter((point) => isAbsolute(point));
}

async function fileSystems(): Promise<string> {
  try {
    return await readFile('/etc/fstab', 'latin1');
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return '';
  }
}
