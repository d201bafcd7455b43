/** Collects the output of a short command and how it ended. */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Milliseconds to wait for output that is still in the pipe when the command has ended. Processes that it left running
 * may keep the pipe open for ever.
 */
const DRAIN_MS = 200;

export interface ChildOutput {
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
  /** The first `most` bytes. */
  readonly bytes: Buffer;
  readonly hasMore: boolean;
}

/**
 * Resolves when the child has exited, or once its output exceeds `most` bytes. Its output does not keep this process
 * from ending after that. @throws when it cannot be started
 */
export async function outputUntilExit(
  child: ChildProcess & { readonly stdout: Readable },
  most: number,
): Promise<ChildOutput> {
  const { stdout } = child;
  const kept: Buffer[] = [];
  let size = 0;
  const tooMuch = Promise.withResolvers<undefined>();
  stdout.on('data', (bytes: Buffer) => {
    if (size < most) kept.push(bytes.subarray(0, most - size));
    size += bytes.length;
    if (size > most) tooMuch.resolve(undefined);
  });
  stdout.on('error', () => undefined);
  const closed = once(stdout, 'close');
  closed.catch(() => undefined);
  try {
    const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    exit.catch(() => undefined);
    const end = await Promise.race([exit, tooMuch.promise]);
    if (end !== undefined) await drained(closed);
    const [code, killedBy] = end ?? [null, null];
    return { code, killedBy, bytes: Buffer.concat(kept), hasMore: size > most };
  } finally {
    stdout.destroy();
  }
}

async function drained(closed: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), DRAIN_MS);
  await Promise.race([closed, late.promise]);
  clearTimeout(timer);
  // If this process was busy for long, unread output is delivered in these turns of the event loop.
  await nextTurn();
  await nextTurn();
}

/** Milliseconds. */
const PATIENCE_MS = 5_000;

/** The program of Windows that does it, with its words. By its full path: a directory of the search path may have another. */
function endTreeCommand(
  pid: number,
  systemRoot = process.env['SystemRoot'] ?? String.raw`C:\Windows`,
): readonly [program: string, words: readonly string[]] {
  return [join(systemRoot, 'System32', 'taskkill.exe'), ['/T', '/F', '/PID', String(pid)]];
}

/** Does nothing when the process has ended already. */
export function endTree(pid: number): void {
  const [program, words] = endTreeCommand(pid);
  spawnSync(program, words, { stdio: 'ignore', windowsHide: true, timeout: PATIENCE_MS });
}
