/** The parts of the suite, in the order in which they run. */
import type { Part } from './bench.ts';
import { install } from './parts/install.ts';
import { mounts } from './parts/mounts.ts';
import { usb } from './parts/usb.ts';

export const PARTS: readonly Part[] = [install, mounts, usb];
