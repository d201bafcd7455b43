/** Progress in the form that suits the options and the terminal. */
import { longListText, tellWaits, toldWait } from '../../base/waits.ts';
import type { Context } from './context.ts';
import type { OutputOptions } from './options.ts';
import { createProgress, type Progress, type ProgressMode } from '../terminal/progress.ts';
import { isTerminal, wantsColor } from '../terminal/terminal.ts';

/** JSON goes to standard output with the data, everything else to standard error. */
export function openProgress(verb: string, options: OutputOptions, context: Context): Progress {
  const { stderr, env, clock } = context;
  const stream = options.json === true ? context.out.stream : stderr;
  const mode = progressMode(options, context);
  const teller = tellWaits();
  const progress = createProgress({
    stream,
    mode,
    now: () => clock.monotonic(),
    verb,
    color: wantsColor(stderr, env),
    waiting: () => (teller.isTurn() ? toldWait() : undefined),
    slow: () => (teller.isTurn() ? longListText() : undefined),
  });
  return {
    ...progress,
    finish: () => {
      teller.end();
      progress.finish();
    },
  };
}

export function progressMode(options: OutputOptions, { stderr, env }: Context): ProgressMode {
  if (options.quiet === true) return 'none';
  if (options.json === true) return 'json';
  return isTerminal(stderr, env) ? 'terminal' : 'plain';
}
