/** Tells systemd that the agent is ready, alive or stopping. Does nothing without systemd. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Clock } from '../base/clock.ts';
import { StateError, isAbort } from '../base/errors.ts';

export interface SystemNotifier extends AsyncDisposable {
  /** The agent is ready. Also begins the messages for the watchdog. `status` is one line for people. */
  ready(status: string): Promise<void>;
  stopping(): Promise<void>;
  /** Ends the messages for the watchdog, and waits for pending ones. */
  close(): Promise<void>;
}

export interface SystemNotifierParts {
  readonly clock: Clock;
  /** Receives the error of a message that could not be sent. The agent goes on. */
  readonly trouble: (error: unknown) => void;
}

type Environment = Readonly<Record<string, string | undefined>>;

const PROGRAM = 'systemd-notify';
/** The longest time for one message, in milliseconds: later messages and the end of the agent wait for it. */
const LONGEST_MS = 20_000;
/** Tries for a message without which systemd would end the agent, as a single one may fail on a busy machine. */
const TRIES = 2;

/** Never throws and never rejects: errors go to `trouble`. */
export function createSystemNotifier(environment: Environment, parts: SystemNotifierParts): SystemNotifier {
  const { clock, trouble } = parts;
  const watched = watchdogMs(environment);
  // All tries together must fit into the half of the watchdog time that the pause between messages leaves.
  const longestMs = Math.min(LONGEST_MS, Math.ceil((watched ?? Number.POSITIVE_INFINITY) / (2 * TRIES)));
  const ended = new AbortController();
  let last: Promise<void> = Promise.resolve();
  let watching: Promise<void> | undefined;

  const attempt = async (words: readonly string[], tries: number): Promise<void> => {
    try {
      await notify(words, environment, longestMs);
    } catch (error) {
      if (tries > 1 && !ended.signal.aborted) await attempt(words, tries - 1);
      else trouble(error);
    }
  };
  /** Sends one message after the other, so that they arrive in order. */
  const send = async (words: readonly string[], tries = 1): Promise<void> => {
    if ((environment['NOTIFY_SOCKET'] ?? '') === '') return;
    last = last.then(async () => await attempt(words, tries));
    await last;
  };
  const watch = async (everyMs: number): Promise<void> => {
    try {
      for (;;) {
        await clock.sleep(everyMs, ended.signal);
        await send(['WATCHDOG=1'], TRIES);
      }
    } catch (error) {
      if (!isAbort(error)) trouble(error);
    }
  };
  const close = async (): Promise<void> => {
    ended.abort();
    await watching;
    await last;
  };
  return {
    async ready(status) {
      await send(['--ready', `--status=${oneLine(status)}`, `--pid=${process.pid}`], TRIES);
      // Half of the time that systemd allows, as it recommends.
      if (watched !== undefined && !ended.signal.aborted) watching ??= watch(watched / 2);
    },
    async stopping() {
      await send(['STOPPING=1']);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Milliseconds without a message after which systemd ends the agent; undefined when it does not watch this process. */
function watchdogMs(environment: Environment): number | undefined {
  const microseconds = Number(environment['WATCHDOG_USEC']);
  if (!Number.isSafeInteger(microseconds) || microseconds <= 0) return undefined;
  const meant = environment['WATCHDOG_PID'] ?? '';
  // The process that systemd started may be the launcher, this process's parent.
  const isOurs = meant === '' || [process.pid, process.ppid].includes(Number(meant));
  return isOurs ? microseconds / 1000 : undefined;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Asynchronous, as the program waits until systemd has accepted the message, which may take seconds. */
async function notify(words: readonly string[], environment: Environment, longestMs: number): Promise<void> {
  const { NOTIFY_SOCKET, PATH } = environment;
  try {
    const options = { stdio: 'ignore', env: { NOTIFY_SOCKET, PATH }, timeout: longestMs } as const;
    const child = spawn(PROGRAM, words, { ...options, killSignal: 'SIGKILL' });
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`${PROGRAM} ended with ${code}`);
  } catch (cause) {
    throw new StateError('NOTIFY_FAILED', 'The agent could not report its state to systemd', {
      hint: 'Install the program systemd-notify; it is part of systemd.',
      cause,
    });
  }
}
