/**
 * Whether a directory lies where disks and shares are mounted, and none is: what is stored there would fill the disk of the
 * system, and be hidden as soon as something is mounted over it.
 */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bytesOfText } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import { farPlaceOf } from './far-mounts.ts';

/** Where people and systems mount what comes and goes. */
const MOUNT_ROOTS = ['/mnt', '/media', '/run/media', '/Volumes'];

export interface MountLook {
  /** Where disks and shares are mounted. */
  readonly roots: readonly string[];
  /** On which device a path is; undefined where there is nothing. */
  readonly deviceOf: (path: string) => number | undefined;
  /** It leads to another machine, which must not be waited for. */
  readonly isFar: (path: string) => boolean;
}

const THIS_MACHINE: MountLook = {
  roots: process.platform === 'win32' ? [] : MOUNT_ROOTS,
  deviceOf,
  isFar: (path) => farPlaceOf(bytesOfText(path)) !== undefined,
};

/**
 * Where something should be mounted, as `/mnt/nas`; undefined where something is, and for directories elsewhere.
 * @param directory absolute
 */
export function unmountedAt(directory: string, look: MountLook = THIS_MACHINE): string | undefined {
  const { roots, deviceOf: device, isFar } = look;
  const root = roots.find((one) => directory === one || directory.startsWith(`${one}/`));
  if (root === undefined || isFar(directory)) return undefined;
  const own = device(nearestThere(directory, root, device));
  // Some systems keep the root itself on a disk of its own, and mount nothing there.
  const isOfSystem = own === device(dirname(root)) || (process.platform === 'darwin' && own === device(root));
  if (!isOfSystem) return undefined;
  const [first] = directory.slice(root.length + 1).split('/');
  return first === undefined || first === '' ? root : join(root, first);
}

function nearestThere(directory: string, root: string, device: MountLook['deviceOf']): string {
  let path = directory;
  while (path !== root && device(path) === undefined) path = dirname(path);
  return device(path) === undefined ? dirname(root) : path;
}

function deviceOf(path: string): number | undefined {
  try {
    return statSync(path).dev;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
