/**
 * Work that takes much memory for a moment: one process or thread of this machine after the other, whoever runs it. A lock on
 * the program's own file, which the system gives up with the process: nothing has to be writable for it.
 */
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../base/clock.ts';
import { libc } from './libc.ts';

/** Of flock, on Linux and macOS alike. */
const LOCK_EX = 2;
const LOCK_NB = 4;
/** Milliseconds. */
const LOOK_MS = 25;
/** Somebody may hold the lock for no good reason: then the memory is risked. */
const PATIENCE_MS = 30_000;

/** Without such locks, as on Windows or a file system that has none, all goes on at once. */
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

/** True also where the system has no such lock: nothing will come of waiting. */
function locks(file: number): boolean {
  if (libc === null) return true;
  flock ??= libc.bind('flock', 'int', ['int', 'int']);
  if (flock(file, LOCK_EX | LOCK_NB) === 0) return true;
  return libc.errno() !== constants.errno.EWOULDBLOCK;
}

let flock: ((file: number, operation: number) => number) | undefined;
