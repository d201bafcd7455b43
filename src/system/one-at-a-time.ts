/**
 * Serialises work that briefly takes much memory across all processes and threads of this machine. It uses a lock on
 * the program's own file: the system releases it when the process ends, and nothing needs to be writable.
 */
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../base/clock.ts';
import { libc } from './libc.ts';

/** Operations of flock, the same on Linux and macOS. */
const LOCK_EX = 2;
const LOCK_NB = 4;
/** Milliseconds between two tries. */
const LOOK_MS = 25;
/** Milliseconds. Another process may hold the lock without good reason, so after this time the work runs anyway. */
const PATIENCE_MS = 30_000;

/**
 * Runs `work` while holding the lock. Without such locks, as on Windows and some file systems, everything runs at once.
 */
export async function oneAtATime<T>(work: () => Promise<T>, patienceMs: number = PATIENCE_MS): Promise<T> {
  const file = openLock();
  try {
    if (file !== undefined) await take(file, patienceMs);
    return await work();
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function openLock(): number | undefined {
  if (libc?.has('flock') !== true) return undefined;
  try {
    return openSync(fileURLToPath(import.meta.url), 'r');
  } catch {
    return undefined;
  }
}

async function take(file: number, patienceMs: number): Promise<void> {
  const untilMs = systemClock.monotonic() + patienceMs;
  while (!locks(file) && systemClock.monotonic() < untilMs) await delay(LOOK_MS);
}

/** Whether waiting is over: the lock is taken, or the system does not support it. */
function locks(file: number): boolean {
  if (libc === null) return true;
  flock ??= libc.bind('flock', 'int', ['int', 'int']);
  if (flock(file, LOCK_EX | LOCK_NB) === 0) return true;
  return libc.errno() !== constants.errno.EWOULDBLOCK;
}

let flock: ((file: number, operation: number) => number) | undefined;
