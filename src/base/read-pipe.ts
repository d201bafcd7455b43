/** Reading what may be a pipe with a name: opening one waits for who writes to it, in a way that nothing ends. */
import { constants, createReadStream, lstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';

/** The bytes of a file, or of a pipe until its writer has closed it. @throws what the file system answers; the signal's reason */
export function readFileOrPipe(path: string | Buffer, signal: AbortSignal): Readable {
  signal.throwIfAborted();
  // Not what is behind a link, as /dev/stdin: that is open already, and may have no writer any more.
  if (process.platform === 'win32' || !lstatSync(path).isFIFO()) return createReadStream(path);
  // It is open at once, and a socket waits for the first writer.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return addAbortSignal(signal, new Socket({ fd, readable: true, writable: false }));
}
