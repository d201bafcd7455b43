/**
 * What a unit has to name so that its agent may write to a directory, and lets go of the disk when that is unmounted.
 * systemd makes a mount of its own of whatever it is to make writable and is none yet. One below the mount point of a disk
 * keeps the disk mounted for the agent after it was unmounted for everybody else, in use and written to; of the mount
 * point itself nothing is made.
 */
import { readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { asByteString, isUtf8, textOfBytes } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import { mountTable, parseMounts } from '../../system/mount-table.ts';
import { unmountedAt } from '../../system/unmounted.ts';

/** What is there as long as the machine runs, and holds what belongs to others. */
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
  /** Where something is mounted, or is to be. */
  readonly points: readonly string[];
  /** Where something should be mounted that a directory lies below, by its name. */
  readonly missing: (directory: string) => string | undefined;
}

/** The innermost mount point around a directory that comes and goes; the directory itself where it stays. */
export function writablePlace(directory: string, { points, missing }: MountPoints): string {
  const around = points
    .filter((point) => directory === point || directory.startsWith(`${point}/`))
    .filter((point) => !OF_SYSTEM.has(point))
    .toSorted((a, b) => b.length - a.length);
  return around[0] ?? missing(directory) ?? directory;
}

/** Those of this machine. */
export async function mountPoints(): Promise<MountPoints> {
  const mounted = parseMounts(mountTable())
    .filter(({ path }) => isUtf8(path))
    .map(({ path }) => textOfBytes(path));
  return { points: [...mounted, ...plannedPoints(await fileSystems())], missing: unmountedAt };
}

/** The same directory, as mounts are named. */
export async function resolved(directory: string): Promise<string> {
  return await realpath(join(directory, '.'));
}

/** The second column of `/etc/fstab`, where what is away today will be mounted. */
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
