/** Reading what may be a pipe with a name: opening one waits for who writes to it, in a way that nothing ends. */
import { constants, createReadStream, lstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';

/** The bytes of a file, or of a pipe until its writer has closed it. @throws what the file system answers; the signal's reason */
function readFileOrPipe(path: string | Buffer, signal: AbortSignal): Readable {
  signal.throwIfAborted();
  // Not what is behind a link, as /dev/stdin: that is open already, and may have no writer any more.
  if (process.platform === 'win32' || !lstatSync(path).isFIFO()) return createReadStream(path);
  // It is open at once, and a socket waits for the first writer.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return addAbortSignal(signal, new Socket({ fd, readable: true, writable: false }));
}

/** The same in memory; undefined where there is more than `most` bytes, as of a device that never ends. */
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
