/** Stops a command on a signal: the first one ends the work cleanly, the second ends it at once. */
import { ignoresHangUp } from '../../system/hang-up.ts';
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
  /** What a command that was interrupted ends with. */
  readonly exitCode: number;
  /** Nobody reads the output any more. */
  readonly outputClosed: boolean;
  /** From this call on, the work goes on even if its output cannot be written. */
  outputIsDispensable(): void;
}

/** The end of the work at a signal. It is an `AbortError`, like that of any other abort. */
class EndBySignal extends DOMException {
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super(`Interrupted by ${signal}`, 'AbortError');
    this.signal = signal;
  }
}

function endBy(signal: NodeJS.Signals): EndBySignal {
  return new EndBySignal(signal);
}

/** Whether the work ends because its terminal was closed, or somebody sent the same signal. */
export function isHungUp(signal: AbortSignal): boolean {
  return signal.reason instanceof EndBySignal && signal.reason.signal === 'SIGHUP';
}

/** Ends the work by its abort signal at SIGINT, SIGTERM, SIGHUP, the death of the launcher, or a closed output. */
export function watchInterrupts(now: () => number, output: DataStream): Interrupts {
  const controller = new AbortController();
  let outputClosed = false;
  let outputNeeded = true;
  let first: number | undefined;
  const exitCode = (): number => (isHungUp(controller.signal) ? EXIT.hungUp : EXIT.interrupted);
  const interrupted = (name: NodeJS.Signals): void => {
    const time = now();
    if (first !== undefined && time - first < ONE_STROKE_MS) return;
    // Kernel and shell both tell of a terminal that is closed, so the second time says nothing new.
    if (first !== undefined && name === 'SIGHUP') return;
    if (first !== undefined) process.exit(exitCode());
    first = time;
    if (name !== 'SIGHUP' && isTerminal(process.stderr, process.env))
      process.stderr.write('\r\u001b[JStopping. Press Ctrl-C again to quit at once.\n');
    controller.abort(endBy(name));
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupted);
  // Without a listener the signal would end this process even where it is to be ignored.
  process.on('SIGHUP', ignoresHangUp(process.env) ? () => undefined : interrupted);
  if (process.env[LAUNCHED] !== undefined) {
    delete process.env[LAUNCHED];
    process.on('disconnect', () => interrupted('SIGTERM'));
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
    get exitCode() {
      return exitCode();
    },
    get outputClosed() {
      return outputClosed;
    },
    outputIsDispensable() {
      outputNeeded = false;
    },
  };
}
