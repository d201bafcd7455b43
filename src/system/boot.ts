/** Identifies the current boot of the machine. */
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/**
 * Milliseconds. Where the system has no boot id, boots are told apart by their time, and two within ten minutes may be
 * taken for one.
 */
const APART_MS = 600_000;

/** A text that stays the same until the machine restarts, in all processes. */
export function bootOfMachine(nowMs: number): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return String(Math.round((nowMs - uptime() * 1000) / APART_MS));
  }
}
