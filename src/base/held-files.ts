/**
 * On Windows a file cannot be replaced or removed while a program has it open, and scanners open every new file for a
 * moment. Such a call is tried again for a bounded time.
 */
import { setTimeout } from 'node:timers/promises';
import { errnoOf } from './errors.ts';

/** Milliseconds between the attempts: 0.6 s in all. */
const PAUSES = [5, 15, 30, 50, 100, 150, 250] as const;
const HELD: ReadonlySet<string | undefined> = new Set(['EPERM', 'EACCES', 'EBUSY']);
/** Elsewhere these errors do not pass by themselves. */
const IS_TRIED = process.platform === 'win32';

/** Whether the error may mean that another program has the file open. */
export function mayBeHeld(error: unknown): boolean {
  return HELD.has(errnoOf(error));
}

export async function despiteHolders<T>(act: () => Promise<T>, isTried = IS_TRIED): Promise<T> {
  for (const pause of isTried ? PAUSES : []) {
    try {
      return await act();
    } catch (error) {
      if (!mayBeHeld(error)) throw error;
      await setTimeout(pause);
    }
  }
  return await act();
}

/** The same for calls that block. */
export function despiteHoldersSync<T>(act: () => T, isTried = IS_TRIED): T {
  for (const pause of isTried ? PAUSES : []) {
    try {
      return act();
    } catch (error) {
      if (!mayBeHeld(error)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
    }
  }
  return act();
}
