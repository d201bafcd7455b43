/** What a short command of a person's says, and how it ended. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds for what is still in the pipe when the command has ended: what it left running may hold that open for ever. */
const DRAIN_MS = 200;

export interface ChildOutput {
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
  /** The first `most` bytes. */
  readonly bytes: Buffer;
  readonly hasMore: boolean;
}

/** All that came until it ended, or until it was more than `most`. Nothing keeps this process from ending then. @throws when it cannot be started */
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
  // Where this process was held up, what lies in the pipe is read in between.
  await nextTurn();
  await nextTurn();
}
