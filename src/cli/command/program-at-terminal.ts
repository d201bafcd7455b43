/** How the program is called for who typed the command that runs. */
import { programFor } from '../../base/program-call.ts';
import type { Context } from './context.ts';

/** What a person reads who is still where the command was typed; what programs collect is read later, and elsewhere. */
export function programAtTerminal({ env, out, stderr }: Pick<Context, 'env' | 'out' | 'stderr'>): string {
  const isWatched = out.stream.isTTY || stderr.isTTY;
  return programFor(isWatched ? { at: 'terminal', directory: process.cwd() } : { at: 'anywhere' }, env);
}
