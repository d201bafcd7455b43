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

/** All that came until it ended. Nothing keeps this process from ending then. @throws when it cannot be started */
export async function outputUntilExit(
  child: ChildProcess & { readonly stdout: Readable },
  most: number,
): Promise<ChildOutput> {
  const { stdout } = child;
  const kept: Buffer[] = [];
  let size = 0;
  stdout.on('data', (bytes: Buffer) => {
    if (size < most) kept.push(bytes.subarray(0, most - size));
    size += bytes.length;
  });
  stdout.on('error', () => undefined);
  const closed = once(stdout, 'close');
  closed.catch(() => undefined);
  try {
    const [code, killedBy] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    await drained(closed);
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
