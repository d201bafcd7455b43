/** How to call the program in texts for the person who typed the current command. */
import { programFor } from '../../base/program-call.ts';
import type { Context } from './context.ts';

/**
 * At a terminal the call may depend on the working directory, where the reader still is. Other output is read later and
 * elsewhere.
 */
export function programAtTerminal({ env, out, stderr }: Pick<Context, 'env' | 'out' | 'stderr'>): string {
  const isWatched = out.stream.isTTY || stderr.isTTY;
  return programFor(isWatched ? { at: 'terminal', directory: process.cwd() } : { at: 'anywhere' }, env);
}
