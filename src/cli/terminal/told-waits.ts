/** Reports what a command without a progress display waits for, so that users know that it goes on. */
import { longListText, tellWaits, toldWait, waitedText } from '../../base/waits.ts';
import {
  isTerminal,
  printable,
  terminalWidth,
  truncateEnd,
  type Environment,
  type OutputStream,
} from './terminal.ts';

/** Milliseconds between two looks at what is waited for. */
const LOOK_MS = 500;
/** Milliseconds between two lines where none can be redrawn. */
const LINE_EVERY_MS = 10_000;
const LOG_EVERY_MS = 60_000;

export interface WaitTeller {
  /** Stops the reports and clears what is drawn, so that something else can be written. */
  readonly end: () => void;
}

/** Draws one changing line on a terminal, and writes a line now and then elsewhere. Silent with --quiet. */
export function startTellingWaits(
  stream: OutputStream,
  env: Environment,
  words: readonly string[],
  now: () => number,
): WaitTeller {
  if (isQuiet(words)) return { end: () => undefined };
  const teller = tellWaits();
  const redraws = isTerminal(stream, env);
  let drawn = '';
  let toldAt = Number.NEGATIVE_INFINITY;
  const clear = (): void => {
    if (drawn !== '') stream.write('\r\u001b[K');
    drawn = '';
  };
  const look = (): void => {
    const text = teller.isTurn() ? heldUpText() : undefined;
    if (text === undefined) {
      clear();
      return;
    }
    const line = printable(`${text.charAt(0).toUpperCase()}${text.slice(1)}`);
    if (redraws) {
      const shown = truncateEnd(line, (terminalWidth(stream) ?? 0) - 1);
      if (shown !== drawn) stream.write(`\r${shown}\u001b[K`);
      drawn = shown;
    } else if (now() - toldAt >= LINE_EVERY_MS) {
      toldAt = now();
      stream.write(`${line}\n`);
    }
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return {
    end: () => {
      clearInterval(timer);
      clear();
      teller.end();
    },
  };
}

function heldUpText(): string | undefined {
  const wait = toldWait();
  return wait === undefined ? longListText() : waitedText(wait);
}

/** Writes waits into the log of an agent, while no other part of this process reports them. */
export function startLoggingWaits(log: (text: string) => void, now: () => number): WaitTeller {
  const teller = tellWaits();
  let toldAt = Number.NEGATIVE_INFINITY;
  const timer = setInterval(() => {
    const wait = now() - toldAt < LOG_EVERY_MS || !teller.isTurn() ? undefined : toldWait();
    const text = wait && waitedText(wait);
    if (text === undefined) return;
    toldAt = now();
    log(text);
  }, LOOK_MS);
  timer.unref();
  return {
    end: () => {
      clearInterval(timer);
      teller.end();
    },
  };
}

/** Looks at the raw words, as the options are not parsed yet. */
function isQuiet(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  const options = words.slice(0, end === -1 ? undefined : end);
  return options.some((word) => word === '--quiet' || /^-[a-z]*q/.test(word));
}
