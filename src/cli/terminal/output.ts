/** Standard output: text in large pieces, at the pace of whoever reads it. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { StateError, errnoOf, isAbort } from '../../base/errors.ts';
import { jsonLine } from './terminal.ts';

/** The usual size of a pipe: fewer calls than one per line, while a listing still appears at once. */
const PIECE = 65_536;

/** A terminal, or whatever takes bytes. */
export type DataStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export class Output {
  readonly stream: DataStream;
  readonly #signal: AbortSignal;
  readonly #onDispensable: () => void;
  #isNeeded = true;
  #waiting = '';

  /** @param onDispensable called when failed writes are no longer a reason to end */
  constructor(stream: DataStream, signal: AbortSignal, onDispensable: () => void = () => undefined) {
    this.stream = stream;
    this.#signal = signal;
    this.#onDispensable = onDispensable;
  }

  /** Lets the work go on even if its output cannot be written. */
  goOnWithout(): void {
    this.#isNeeded = false;
    this.#onDispensable();
  }

  /** Adds text; resolves once there is room for more. */
  async write(text: string): Promise<void> {
    this.#waiting += text;
    if (this.#waiting.length >= PIECE || this.stream.isTTY === true) await this.flush();
  }

  /** Adds text for callers that cannot wait for room; a pipe takes it at once. */
  push(text: string): void {
    this.#waiting += text;
    if (this.#waiting.length >= PIECE || this.stream.isTTY === true) this.pushNow('');
  }

  /** The same, but written at once, for readers who follow the output live. */
  pushNow(text: string): void {
    const all = this.#waiting + text;
    this.#waiting = '';
    if (!this.#isGivenUp()) this.stream.write(all);
  }

  async line(text = ''): Promise<void> {
    await this.write(`${text}\n`);
  }

  /** One object as a line of NDJSON. */
  async json(value: unknown): Promise<void> {
    await this.write(jsonLine(value));
  }

  async bytes(chunk: Uint8Array): Promise<void> {
    await this.flush();
    await this.#send(chunk);
  }

  async flush(): Promise<void> {
    const text = this.#waiting;
    this.#waiting = '';
    if (text !== '') await this.#send(text);
  }

  async #send(content: string | Uint8Array): Promise<void> {
    if (this.#isGivenUp()) return;
    this.#requireWhole();
    if (!this.stream.write(content)) await this.#drained();
  }

  /** Throws if the stream has failed: it would silently take more, and never report that as written. */
  #requireWhole(): void {
    if (this.stream.errored !== null) throw this.#reasonOf(this.stream.errored);
  }

  #reasonOf(failure: Error): Error {
    return this.#signal.aborted ? (this.#signal.reason as Error) : outputFailed(failure);
  }

  #isGivenUp(): boolean {
    return !this.#isNeeded && this.stream.errored !== null;
  }

  /** Resolves once all output has left this process. @throws the reason of the signal, or {StateError} WRITE_ERROR */
  async finish(): Promise<void> {
    await this.flush();
    if (this.#isGivenUp()) return;
    this.#requireWhole();
    await new Promise<void>((resolve, reject) => {
      this.stream.write('', (error) => {
        if (error === null || error === undefined || !this.#isNeeded) resolve();
        else reject(this.#reasonOf(error));
      });
    });
  }

  async #drained(): Promise<void> {
    try {
      await once(this.stream, 'drain', { signal: this.#signal });
    } catch (error) {
      if (!this.#isGivenUp()) throw isAbort(error) ? this.#signal.reason : error;
    }
  }
}

export function outputFailed(cause: unknown): StateError {
  if (errnoOf(cause) === 'EBADF')
    return new StateError('WRITE_ERROR', 'The output cannot be written: standard output is closed', {
      hint: 'Nothing was written. To throw it away, send it to /dev/null.',
    });
  return new StateError('WRITE_ERROR', 'The output cannot be written', {
    hint: 'It is incomplete. Check that there is enough space where it is written.',
    cause,
  });
}
