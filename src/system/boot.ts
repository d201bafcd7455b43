/** Which start of the machine this is. */
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** Where the system does not number its starts, they are told apart by their time: two within ten minutes may be taken for one. */
const APART_MS = 600_000;

/** The same text from the start of the machine to its end, in all processes. */
export function bootOfMachine(nowMs: number): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return String(Math.round((nowMs - uptime() * 1000) / APART_MS));
  }
}
