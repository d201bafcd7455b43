import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from './alive.ts';
import { makeDirectories } from './make-directories.ts';
import { systemClock } from './clock.ts';
import { causeText } from './errno-words.ts';
import { StateError, errnoOf } from './errors.ts';

/** Milliseconds between two tries while another process holds the lock. */
const POLL_MS = 20;
/**
 * Milliseconds, longer than any work under a lock. An older lock was left by a process that died, or whose id was
 * reused.
 */
const STALE_MS = 900_000;
/**
 * Milliseconds that a lock of that age is watched before it is broken. Its holder may have slept, and finishes quickly
 * once it is awake.
 */
const AWAKE_MS = 30_000;
/** Milliseconds that a lock may be empty: it is just being written, or its process died at that moment. */
const UNWRITTEN_MS = 10_000;
/** Marks of locks that this process has released but could not remove. */
const leftBehind = new Set<string>();

/**
 * Runs `work` while this process holds the lock file at `path`, waiting for other processes of this machine that hold
 * it. A lock whose process has died is broken.
 * @throws {StateError} when the file cannot be made
 */
export async function withLockFile<T>(path: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const mark = `${process.pid} ${randomBytes(8).toString('hex')}`;
  await acquire(path, mark, signal);
  try {
    return await work();
  } finally {
    await release(path, mark);
  }
}

/**
 * Removes the lock file. A failure does not undo the work: other processes find the lock dead once this one has ended.
 */
async function release(path: string, mark: string): Promise<void> {
  try {
    // If this process was stalled for long, another one may have broken the lock and taken it.
    if ((await readFile(path, 'utf8')) === mark) await rm(path, { force: true });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    if (errnoOf(error) !== 'ENOENT') leftBehind.add(mark);
  }
}

async function acquire(path: string, mark: string, signal: AbortSignal): Promise<void> {
  let seen = { mark, sinceMs: 0 };
  for (;;) {
    signal.throwIfAborted();
    if (await create(path, mark)) return;
    const holder = await readHolder(path);
    if (holder === undefined) continue;
    const nowMs = systemClock.monotonic();
    if (seen.mark !== holder.mark) seen = { mark: holder.mark, sinceMs: nowMs };
    if (holder.dead || nowMs - seen.sinceMs > patienceMs(holder)) await breakLock(path, holder.mark);
    else await delay(POLL_MS, undefined, { signal });
  }
}

/**
 * Milliseconds that a lock is watched before it counts as left behind. Its age alone is not enough: the clock may have
 * been set since.
 */
function patienceMs({ mark, ageMs }: Holder): number {
  if (mark === '') return UNWRITTEN_MS;
  return ageMs > STALE_MS ? AWAKE_MS : STALE_MS;
}

interface Holder {
  /** Empty until its process has written it. */
  readonly mark: string;
  /** By the wall clock. */
  readonly ageMs: number;
  /** No running process can hold it. */
  readonly dead: boolean;
}

/** False when somebody else has the lock. */
async function create(path: string, mark: string): Promise<boolean> {
  try {
    await makeDirectories(dirname(path));
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(mark);
    } catch (error) {
      // On a full disk the file can be created but not written; an empty lock that nobody holds must not block others.
      await Promise.allSettled([rm(path, { force: true })]);
      throw error;
    } finally {
      await file.close();
    }
    return true;
  } catch (cause) {
    if (errnoOf(cause) === 'EEXIST') return false;
    throw cannotLock(path, cause);
  }
}

function cannotLock(path: string, cause: unknown): StateError {
  return new StateError('WRITE_ERROR', `Cannot create the lock ${path}: ${causeText(cause)}`, {
    hint: 'Check that the directory is writable and that the disk has space, or set HOLDFAST_STATE_DIR to another directory.',
    cause,
  });
}

/** Undefined when the lock is free again. */
async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const mark = await readFile(path, 'utf8');
    const ageMs = systemClock.now() - (await stat(path)).mtimeMs;
    const pid = Number(mark.split(' ')[0]);
    if (mark === '') return { mark, ageMs, dead: ageMs > UNWRITTEN_MS };
    return { mark, ageMs, dead: leftBehind.has(mark) || !isAlive(pid) };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw cannotLock(path, error);
  }
}

/** Removes a dead lock. If it turns out to be a new one, it is put back. */
async function breakLock(path: string, mark: string): Promise<void> {
  const aside = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    throw cannotLock(path, error);
  }
  if ((await readFile(aside, 'utf8')) !== mark) await rename(aside, path);
  else await rm(aside, { force: true });
}
