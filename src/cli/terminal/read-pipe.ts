/**
 * Reads what may be a named pipe. Opening one normally blocks until somebody writes to it, and cannot be interrupted.
 */
import { constants, createReadStream, lstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';

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

/** The content in memory; undefined where there are more than `most` bytes, as in an endless device. */
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
