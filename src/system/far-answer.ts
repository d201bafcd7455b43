/**
 * Finds out whether a remote file system answers. A separate process touches it, as a call to one that does not answer
 * blocks for ever. While that process waits, nobody needs to ask again.
 */
import { spawn } from 'node:child_process';
import { type ByteString } from '../base/byte-path.ts';
import { fsPath, treePath } from '../base/tree-path.ts';
import { errnoOf } from '../base/errors.ts';
import { farPlaceOf } from './far-mounts.ts';

/** Milliseconds. Disks that must spin up and slow links answer in less. */
export const FAR_PATIENCE_MS = 20_000;
/**
 * statfs is included because only a network file system's server knows its free space: a stat may be answered from a
 * cache.
 */
const TOUCH = `const fs = require('node:fs');
const path = Buffer.from(process.argv[1], 'base64');
try {
  fs.lstatSync(path);
  fs.statfsSync(path);
} catch (error) {
  process.exitCode = ['ENOENT', 'ENOTDIR'].includes(error.code) ? 2 : 1;
}`;
const NOTHING_THERE = 2;

/** `unanswered`: no answer in time. `there` includes paths that may not be accessed. */
export type FarAnswer = 'there' | 'absent' | 'unanswered';

interface Touch {
  readonly mount: ByteString | undefined;
  readonly answer: Promise<FarAnswer>;
  /** By performance.now(). */
  readonly sinceMs: number;
}

/** Pending touches, shared by all callers of this process. */
const touches = new Map<ByteString, Touch>();
const children = new Set<{ kill(signal: 'SIGKILL'): boolean }>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/**
 * Resolves at once for a path on a local file system, and for a remote one that somebody has already been waiting for
 * as long.
 * @throws the signal's reason
 */
export async function answersFrom(
  path: string,
  signal: AbortSignal,
  patienceMs = FAR_PATIENCE_MS,
): Promise<boolean> {
  const far = farPlaceOf(treePath(path));
  return (
    far === undefined || (await touchFar(far.path, signal, { mount: far.mount, patienceMs })) !== 'unanswered'
  );
}

/**
 * Touches the path, whatever file system it is on. Paths with the same `mount` are assumed to stop answering together.
 */
export async function touchFar(
  path: ByteString,
  signal: AbortSignal,
  { mount, patienceMs = FAR_PATIENCE_MS }: { readonly mount?: ByteString; readonly patienceMs?: number } = {},
): Promise<FarAnswer> {
  signal.throwIfAborted();
  const alike = [...touches.values()].filter((touch) => mount !== undefined && touch.mount === mount);
  const oldest = Math.min(...alike.map(({ sinceMs }) => sinceMs));
  if (performance.now() - oldest >= patienceMs) return 'unanswered';
  const touch = touches.get(path) ?? beginIfPossible(path, mount);
  if (touch === undefined) return 'there';
  return await within(touch.answer, touch.sinceMs + patienceMs - performance.now(), signal);
}

/** Undefined when no process can be started, which says nothing about the file system. */
function beginIfPossible(path: ByteString, mount: ByteString | undefined): Touch | undefined {
  try {
    return begin(path, mount);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

function begin(path: ByteString, mount: ByteString | undefined): Touch {
  const place = Buffer.from(fsPath(path)).toString('base64');
  const child = spawn(process.execPath, ['-e', TOUCH, place], {
    stdio: 'ignore',
    // An empty environment, so that the child gets no secrets.
    env: {},
  });
  const ended = Promise.withResolvers<FarAnswer>();
  const end = (answer: FarAnswer): void => {
    touches.delete(path);
    children.delete(child);
    ended.resolve(answer);
  };
  // Some failures to start are reported by this event; they say nothing about the file system either.
  child.once('error', () => end('there'));
  child.once('exit', (code) => end(code === NOTHING_THERE ? 'absent' : 'there'));
  const touch: Touch = { mount, answer: ended.promise, sinceMs: performance.now() };
  touches.set(path, touch);
  children.add(child);
  child.unref();
  return touch;
}

async function within(answer: Promise<FarAnswer>, ms: number, signal: AbortSignal): Promise<FarAnswer> {
  const enough = Promise.withResolvers<FarAnswer>();
  const timer = setTimeout(() => enough.resolve('unanswered'), Math.max(0, ms));
  const abort = (): void => enough.reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([answer, enough.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
