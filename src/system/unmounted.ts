/**
 * Finds directories below the usual mount points while nothing is mounted there. Anything stored there would fill the
 * system's disk, and be hidden once something is mounted over it.
 */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { treePath } from '../base/tree-path.ts';
import { errnoOf } from '../base/errors.ts';
import { farPlaceOf } from './far-mounts.ts';

/** Where users and systems mount removable disks and shares. */
const MOUNT_ROOTS = ['/mnt', '/media', '/run/media', '/Volumes'];

export interface MountLook {
  /** The directories below which disks and shares are mounted. */
  readonly roots: readonly string[];
  /** The device that a path is on; undefined where nothing exists. */
  readonly deviceOf: (path: string) => number | undefined;
  /** Whether the path leads to another machine, which must not be waited for. */
  readonly isFar: (path: string) => boolean;
}

const THIS_MACHINE: MountLook = {
  roots: process.platform === 'win32' ? [] : MOUNT_ROOTS,
  deviceOf,
  isFar: (path) => farPlaceOf(treePath(path)) !== undefined,
};

/**
 * Where something should be mounted, such as `/mnt/nas`; undefined where something is mounted, and for directories
 * elsewhere.
 * @param directory absolute
 */
export function unmountedAt(directory: string, look: MountLook = THIS_MACHINE): string | undefined {
  const { roots, deviceOf: device, isFar } = look;
  const root = roots.find((one) => directory === one || directory.startsWith(`${one}/`));
  if (root === undefined || isFar(directory)) return undefined;
  const own = device(nearestThere(directory, root, device));
  // Some systems have a separate disk for the root itself, and mount nothing there.
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
