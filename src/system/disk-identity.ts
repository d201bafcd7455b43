/** Finds out which physical disks a path lies on, as far as the system tells: what shares a disk is lost together. */
import { readdirSync, realpathSync, statSync, type Stats } from 'node:fs';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const BLOCKS = '/sys/dev/block';
/** The most layers of volumes, encryption and RAID that are followed. */
const MOST_LAYERS = 8;

/** Names of disks, or of devices whose disks are unknown; empty where nothing can be found out. */
export function disksOf(path: string): ReadonlySet<string> {
  const stats = statOfNearest(path);
  if (stats === undefined) return new Set();
  const found = process.platform === 'linux' ? disksBelow(stats.dev) : [];
  return new Set([`device ${stats.dev}`, ...found]);
}

/** Undefined where nothing is known about one of them. */
export function areOnSameDisk(a: string, b: string): boolean | undefined {
  const [first, second] = [disksOf(a), disksOf(b)];
  if (first.size === 0 || second.size === 0) return undefined;
  return [...first].some((disk) => second.has(disk));
}

/** The stat of the nearest existing parent: a directory that is yet to be made will lie there. */
function statOfNearest(path: string): Stats | undefined {
  for (let at = path; ; at = dirname(at)) {
    const stats = statSync(at, { throwIfNoEntry: false });
    if (stats !== undefined) return stats;
    if (dirname(at) === at) return undefined;
  }
}

function disksBelow(dev: number): readonly string[] {
  const [major, minor] = numbersOf(dev);
  // File systems that span several volumes have a device number of their own without a device; the mount table names
  // one.
  const block = major === 0 ? deviceOfMount(major, minor) : `${major}:${minor}`;
  return block === undefined ? [] : disksOfBlock(block, MOST_LAYERS);
}

/** The disk of a partition, or the disks below a volume or encrypted device. */
function disksOfBlock(block: string, layers: number): readonly string[] {
  try {
    const place = realpathSync(join(BLOCKS, block));
    const below = namesIn(join(place, 'slaves'));
    if (below.length > 0 && layers > 0)
      return below.flatMap((name) => {
        const number = readFileSync(`/sys/class/block/${name}/dev`, 'utf8').trim();
        return disksOfBlock(number, layers - 1);
      });
    const isPartition = namesIn(place).includes('partition');
    return [`disk ${basename(isPartition ? dirname(place) : place)}`];
  } catch {
    // Not every system exposes its devices; only the device number remains then.
    return [];
  }
}

function deviceOfMount(major: number, minor: number): string | undefined {
  try {
    const line = readFileSync('/proc/self/mountinfo', 'latin1')
      .split('\n')
      .find((one) => one.split(' ')[2] === `${major}:${minor}`);
    const source = line?.split(' - ')[1]?.split(' ')[1];
    if (source === undefined || !source.startsWith('/dev/')) return undefined;
    return numbersOf(statSync(source).rdev).join(':');
  } catch {
    return undefined;
  }
}

/** Splits a device number as Linux packs it. */
function numbersOf(dev: number): readonly [number, number] {
  const whole = BigInt(dev);
  const major = Number(((whole >> 8n) & 0xfffn) | ((whole >> 32n) & 0xfffff000n));
  const minor = Number((whole & 0xffn) | ((whole >> 12n) & 0xffffff00n));
  return [major, minor];
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
