import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeDirectories } from './make-directories.ts';
import { systemClock } from './clock.ts';
import { StateError, errnoOf } from './errors.ts';

/** Milliseconds between two looks at a lock that somebody else holds. */
const POLL_MS = 20;
/** Longer than anything that is done under a lock: what is older was left by a process that died, or a reused id. */
const STALE_MS = 900_000;
/** How long a lock that is that old is watched still: its holder may have slept meanwhile, and needs no time once it is awake. */
const AWAKE_MS = 30_000;
/** A lock without content is one that is just being written, or was left by a process that died right then. */
const UNWRITTEN_MS = 10_000;
/** Marks of locks that this process has given up and could not remove. */
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

/** What was done under the lock stands, whatever becomes of the file: others find it dead when this process has ended. */
async function release(path: string, mark: string): Promise<void> {
  try {
    // A process that was held up for long may have lost it to another one.
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

/** How long a lock is watched before it counts as left behind. The age alone says nothing: the clock may have been set since. */
function patienceMs({ mark, ageMs }: Holder): number {
  if (mark === '') return UNWRITTEN_MS;
  return ageMs > STALE_MS ? AWAKE_MS : STALE_MS;
}

interface Holder {
  /** Empty until its process has written it. */
  readonly mark: string;
  /** By the clock on the wall. */
  readonly ageMs: number;
  /** Nobody can hold it any more. */
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
      // On a full disk there is room for a name: what nobody holds must hold up nobody.
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
  return new StateError(
    'WRITE_ERROR',
    `Cannot create the lock ${path} (${errnoOf(cause) ?? 'unknown error'})`,
    {
      hint: 'Check that the directory is writable and that the disk has space, or name another state directory in HOLDFAST_STATE_DIR.',
      cause,
    },
  );
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

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}

/** Takes a dead lock away; when it turns out to be a new one, puts that back. */
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
