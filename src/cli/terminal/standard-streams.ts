/**
 * Standard input and output of any kind of file. Node.js replaces the kinds that it does not know (a block device, a
 * directory) by an empty stream, and does not notice when a full disk takes only part of a write.
 */
import {
  constants,
  createReadStream,
  createWriteStream,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  type Stats,
  statSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { devNull } from 'node:os';
import { addAbortSignal, type Readable, Writable } from 'node:stream';
import { causeText } from '../../base/errno-words.ts';
import { RequestError, SourceError } from '../../base/errors.ts';
import type { DataStream } from './output.ts';

const OUTPUT = 1;

/** Set by the scripts of the packages, which see it before Node.js opens the null device in its place. */
const CLOSED = 'HOLDFAST_OUTPUT_CLOSED';

/** A stream that writes each byte or fails. Children are not told that the output of this process is closed. */
export function standardOutput(env: NodeJS.ProcessEnv): DataStream {
  const isClosed = env[CLOSED] !== undefined;
  delete env[CLOSED];
  if (isClosed) return closedOutput();
  const stats = fstatSync(OUTPUT);
  return isConversation(stats) || process.platform === 'win32' || process.stdout.isTTY
    ? process.stdout
    : createWriteStream('', { fd: OUTPUT, autoClose: false });
}

function closedOutput(): DataStream {
  return new Writable({
    write(content: Uint8Array, _encoding, done) {
      // An empty write only asks whether all before it was written.
      if (content.length === 0) done();
      else
        done(
          Object.assign(new Error('EBADF: bad file descriptor, write'), { code: 'EBADF', syscall: 'write' }),
        );
    },
  });
}

/**
 * Makes a block device report write errors that it held back, by having it store everything. To be called after the
 * last write.
 */
export function settleOutput(): void {
  if (fstatSync(OUTPUT).isBlockDevice()) fsyncSync(OUTPUT);
}

/** A pipe or a socket, which Node.js reads and writes without blocking a thread. */
function isConversation(stats: Stats): boolean {
  return stats.isFIFO() || stats.isSocket();
}

/** Standard input of a process. The substitute in a test has no descriptor. */
export type StandardInput = Readable & { readonly fd?: number; readonly isTTY?: boolean };

/** Refuses a standard input that has nothing to save. @throws {RequestError} */
export function requireContent(stdin: StandardInput, example: string): void {
  if (stdin.isTTY === true)
    throw unusable('Standard input is a terminal', `Pipe something into it: ${example}`);
  if (stdin.fd === undefined) return;
  const stats = fstatSync(stdin.fd);
  if (stats.isDirectory())
    throw unusable('Standard input is a directory', 'To back up a directory, name it without --stdin-name.');
  // A closed descriptor looks like this device as well: Node.js opens the null device in its place.
  if (isNullDevice(stats))
    throw unusable(`Standard input is closed, or ${devNull}`, `Pipe something into it: ${example}`);
}

function unusable(message: string, hint: string): RequestError {
  return new RequestError('USAGE', message, { hint });
}

function isNullDevice(stats: Stats): boolean {
  return stats.isCharacterDevice() && stats.rdev === statSync(devNull).rdev;
}

/** Everything that comes from standard input. @throws {SourceError} INPUT_UNREADABLE, and the signal's reason */
export async function* standardInput(
  stdin: StandardInput,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stream = addAbortSignal(signal, opened(stdin));
  try {
    yield* stream as AsyncIterable<Uint8Array>;
  } catch (cause) {
    signal.throwIfAborted();
    throw new SourceError('INPUT_UNREADABLE', `Standard input cannot be read: ${causeText(cause)}`, {
      hint: 'No snapshot was made. Check the program that feeds it.',
      cause,
    });
  }
}

function opened(stdin: StandardInput): Readable {
  const { fd } = stdin;
  if (fd === undefined || process.platform === 'win32' || isConversation(fstatSync(fd))) return stdin;
  return createReadStream('', { fd, autoClose: false, highWaterMark: 1_048_576 });
}

/**
 * The bytes of a file, or of a pipe until its writer closes it. @throws the file system's error; the signal's reason
 */
function readFileOrPipe(path: string | Buffer, signal: AbortSignal): Readable {
  signal.throwIfAborted();
  // Links such as /dev/stdin are not followed: such a pipe is already open, and may have no writer any more.
  if (process.platform === 'win32' || !lstatSync(path).isFIFO()) return createReadStream(path);
  // A non-blocking open returns at once, and the socket then waits for the first writer.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return addAbortSignal(signal, new Socket({ fd, readable: true, writable: false }));
}

/**
 * Reads what may be a named pipe. Opening one normally blocks until somebody writes to it, and cannot be interrupted.
 * The content in memory; undefined where there are more than `most` bytes, as in an endless device.
 */
export async function readAtMost(
  path: string | Buffer,
  most: number,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of readFileOrPipe(path, signal) as AsyncIterable<Buffer>) {
    pieces.push(piece);
    size += piece.length;
    if (size > most) return undefined;
  }
  return Buffer.concat(pieces);
}
