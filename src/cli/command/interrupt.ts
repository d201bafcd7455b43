/** Stops a command on a signal: the first one ends the work cleanly, the second ends it at once. */
import { EXIT } from './exit-codes.ts';
import { outputFailed, type DataStream } from '../terminal/output.ts';
import { isTerminal } from '../terminal/terminal.ts';

/**
 * Signals within this time are taken for one. A single Ctrl-C can arrive twice: from the terminal, and passed on by the
 * process that started this one. Nobody presses it twice this fast.
 */
const ONE_STROKE_MS = 300;

/** As shells report a program that wrote to a pipe nobody reads: 128 + 13. */
export const EXIT_OUTPUT_CLOSED = 141;

/** Set by the launcher in a runtime that it started. */
const LAUNCHED = 'HOLDFAST_LAUNCHED';

export interface Interrupts {
  readonly signal: AbortSignal;
  /** Nobody reads the output any more. */
  readonly outputClosed: boolean;
  /** From this call on, the work goes on even if its output cannot be written. */
  outputIsDispensable(): void;
}

/** Ends the work by its abort signal at SIGINT, SIGTERM, the death of the launcher, or a closed output. */
export function watchInterrupts(now: () => number, output: DataStream): Interrupts {
  const controller = new AbortController();
  let outputClosed = false;
  let outputNeeded = true;
  let first: number | undefined;
  const interrupted = (): void => {
    const time = now();
    if (first !== undefined && time - first < ONE_STROKE_MS) return;
    if (first !== undefined) process.exit(EXIT.interrupted);
    first = time;
    if (isTerminal(process.stderr, process.env))
      process.stderr.write('\r\u001b[JStopping. Press Ctrl-C again to quit at once.\n');
    controller.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupted);
  if (process.env[LAUNCHED] !== undefined) {
    delete process.env[LAUNCHED];
    process.on('disconnect', interrupted);
    process.channel?.unref();
  }
  output.on('error', (error: NodeJS.ErrnoException) => {
    outputClosed = error.code === 'EPIPE';
    if (outputClosed) controller.abort();
    else if (outputNeeded) controller.abort(outputFailed(error));
  });
  // The work goes on even if nobody can read its messages.
  process.stderr.on('error', () => {});
  return {
    signal: controller.signal,
    get outputClosed() {
      return outputClosed;
    },
    outputIsDispensable() {
      outputNeeded = false;
    },
  };
}
