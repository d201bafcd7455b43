/**
 * Whether a file system that is mounted from elsewhere answers. A process of its own touches it, for whoever touches what
 * does not answer waits for ever; and as long as that process waits, nobody has to ask again.
 */
import { spawn } from 'node:child_process';
import { bytesOfText, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import { farPlaceOf } from './far-mounts.ts';

/** Milliseconds. Disks that have to be woken and links that are slow answer in less. */
export const FAR_PATIENCE_MS = 20_000;
/** Only the server of a network file system knows how much room there is: a stat alone may come from memory. */
const TOUCH = `const fs = require('node:fs');
const path = Buffer.from(process.argv[1], 'base64');
try {
  fs.lstatSync(path);
  fs.statfsSync(path);
} catch (error) {
  process.exitCode = ['ENOENT', 'ENOTDIR'].includes(error.code) ? 2 : 1;
}`;
const NOTHING_THERE = 2;

/** `unanswered`: not in time. `there` is also what may not be looked at. */
export type FarAnswer = 'there' | 'absent' | 'unanswered';

interface Touch {
  readonly mount: ByteString | undefined;
  readonly answer: Promise<FarAnswer>;
  /** As performance.now() tells. */
  readonly sinceMs: number;
}

/** Of this process: what this machine waits for is the same for all who ask. */
const touches = new Map<ByteString, Touch>();
const children = new Set<{ kill(signal: 'SIGKILL'): boolean }>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/**
 * At once where the path leads to no file system from elsewhere, or to one that somebody has been waiting for as long.
 * @throws the signal's reason
 */
export async function answersFrom(
  path: string,
  signal: AbortSignal,
  patienceMs = FAR_PATIENCE_MS,
): Promise<boolean> {
  const far = farPlaceOf(bytesOfText(path));
  return (
    far === undefined || (await touchFar(far.path, signal, { mount: far.mount, patienceMs })) !== 'unanswered'
  );
}

/** Touches the path, wherever it lies; `mount` is what is known not to answer together. */
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

/** Undefined when no process can be started, which says nothing of the file system. */
function beginIfPossible(path: ByteString, mount: ByteString | undefined): Touch | undefined {
  try {
    return begin(path, mount);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

function begin(path: ByteString, mount: ByteString | undefined): Touch {
  const child = spawn(process.execPath, ['-e', TOUCH, Buffer.from(path, 'latin1').toString('base64')], {
    stdio: 'ignore',
    // Whatever secrets it holds are for others.
    env: {},
  });
  const ended = Promise.withResolvers<FarAnswer>();
  const end = (answer: FarAnswer): void => {
    touches.delete(path);
    children.delete(child);
    ended.resolve(answer);
  };
  // As above: some failures to start are told so.
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
