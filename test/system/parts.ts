/** The parts of the suite, in the order in which they run. */
import type { Part } from './bench.ts';
import { clock, fullDisk, memory, suspend, watches } from './parts/conditions.ts';
import { install } from './parts/install.ts';
import { powercut } from './parts/powercut.ts';
import { mounts } from './parts/mounts.ts';
import { remove, upgrade } from './parts/package.ts';
import { usb } from './parts/usb.ts';

export const PARTS: readonly Part[] = [
  install,
  mounts,
  usb,
  upgrade,
  remove,
  suspend,
  clock,
  memory,
  fullDisk,
  watches,
  powercut,
];
