/** The output of a command as the content of a backup. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { addAbortSignal } from 'node:stream';
import { SourceError } from '../base/errors.ts';
import { startable } from '../base/shell-words.ts';
import { endWithChildren } from '../system/end-process.ts';

/** Milliseconds to wait for the end of the output after the command has exited, as a process it started may keep it open. */
const LEFT_RUNNING_MS = 30_000;

/**
 * The standard output of a command. Throws when the command fails, so that half a dump never becomes a snapshot. When
 * the signal aborts, or the consumer stops early, the command and everything it started are ended.
 *
 * @throws {SourceError} COMMAND_FAILED, and the signal's reason
 */
export async function* commandOutput(
  words: readonly [string, ...string[]],
  signal: AbortSignal,
  leftRunningMs = LEFT_RUNNING_MS,
): AsyncGenerator<Uint8Array, void, undefined> {
  signal.throwIfAborted();
  // In this process's group, so that a command run from a terminal can ask for a password there.
  const [command] = words;
  const [program, ...parameters] = startable(words);
  const child = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  const output = addAbortSignal(signal, child.stdout);
  // Errors of the pipe after the last byte do not matter.
  output.on('error', () => undefined);
  let failure: SourceError | undefined;
  const fail = (error: SourceError): void => {
    failure ??= error;
    output.destroy(failure);
  };
  child.once('error', (cause) => fail(notStarted(command, cause)));
  const ended = once(child, 'exit', { signal });
  ended.catch(() => undefined);
  const patience = new Patience(leftRunningMs, () => fail(leftRunning(command)));
  child.once('exit', () => {
    const wrong = failed(command, child);
    if (wrong === undefined) patience.count();
    else fail(wrong);
  });
  try {
    for await (const data of output as AsyncIterable<Uint8Array>) {
      patience.pause();
      yield data;
      patience.goOn();
    }
    await ended;
    if (failure !== undefined) throw failure;
  } catch (error) {
    signal.throwIfAborted();
    throw failure ?? error;
  } finally {
    patience.end();
    await endWithChildren(child);
  }
}

/** A timeout that starts with `count` and only runs while the consumer is waiting for data. */
class Patience {
  readonly #ms: number;
  readonly #over: () => void;
  #counts = false;
  #waits = true;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, over: () => void) {
    this.#ms = ms;
    this.#over = over;
  }

  count(): void {
    this.#counts = true;
    this.#set();
  }

  pause(): void {
    this.#waits = false;
    this.#set();
  }

  goOn(): void {
    this.#waits = true;
    this.#set();
  }

  end(): void {
    this.#counts = false;
    this.#set();
  }

  #set(): void {
    clearTimeout(this.#timer);
    if (this.#counts && this.#waits) this.#timer = setTimeout(this.#over, this.#ms);
  }
}

function notStarted(command: string, cause: Error): SourceError {
  return new SourceError('COMMAND_FAILED', `${command} could not be started`, {
    hint: 'Check the command and its path. Nothing was stored as a snapshot.',
    cause,
  });
}

function failed(command: string, { exitCode, signalCode }: ChildProcess): SourceError | undefined {
  if (exitCode === 0) return undefined;
  return new SourceError('COMMAND_FAILED', `${command} ended with ${signalCode ?? `exit code ${exitCode}`}`, {
    hint: 'Its output may be incomplete, so no snapshot was made.',
  });
}

function leftRunning(command: string): SourceError {
  return new SourceError(
    'COMMAND_FAILED',
    `${command} has ended, but a process that it started keeps its output open`,
    {
      hint: 'Its output may be incomplete, so no snapshot was made. Redirect the output of background processes, for example with: >/dev/null 2>&1 &',
    },
  );
}
