import { setFlagsFromString } from 'node:v8';

/**
 * Makes this process return memory early, at the cost of more work for the garbage collector. Threads made later do so
 * too. Otherwise the young generation alone grows to 50 MB, and with the entries of a million files the old one grows
 * to four times the live data: the measured peak of an incremental backup was 597 MB, and 450 MB with this.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=100');
}
