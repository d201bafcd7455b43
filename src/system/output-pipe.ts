/**
 * A pipe for another program's output, read into a single reused buffer. For its own pipes Node.js allocates 64 KB for
 * each read, so a program that prints gigabytes would make this process grow by a hundred megabytes.
 */
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { libc, systemError } from './libc.ts';

export interface OutputPipe {
  /** For the other program; to be closed here once that program has inherited it. */
  readonly writeFd: number;
  /** Resolves when all write ends are closed. */
  readonly ended: Promise<void>;
  /** Lets this process end even if the write end is still open somewhere. */
  unref(): void;
}

const BUFFER_BYTES = 65_536;
/** Capacity of the pipe; the largest that Linux allows users by default. */
const PIPE_BYTES = 1_048_576;

/**
 * Opens a pipe and calls `take` with each piece, whose memory is reused when it returns. Undefined where the system
 * does not support it.
 * @throws the system's error, such as when too many files are open
 */
export function openOutputPipe(take: (bytes: Buffer) => void): OutputPipe | undefined {
  calls ??= linuxCalls();
  if (calls === null) return undefined;
  const { pipe, control, ends } = calls;
  if (pipe(ends.address, O_CLOEXEC) !== 0) throw systemError('pipe2', libc?.errno() ?? 0);
  const [readFd, writeFd] = [ends.bytes.readInt32LE(0), ends.bytes.readInt32LE(4)];
  // If the system refuses this, the capacity stays as it was, and the writer waits for this process more often.
  control(readFd, F_SETPIPE_SZ, 'int', PIPE_BYTES);
  try {
    const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    const callback = (length: number): boolean => {
      take(buffer.subarray(0, length));
      return true;
    };
    const socket = new Socket({ fd: readFd, readable: true, writable: false, onread: { buffer, callback } });
    const { promise, resolve } = Promise.withResolvers<undefined>();
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(undefined));
    socket.resume();
    return { writeFd, ended: promise.then(() => undefined), unref: () => void socket.unref() };
  } catch (error) {
    closeSync(readFd);
    closeSync(writeFd);
    throw error;
  }
}

/** The same on Linux for every architecture that Node.js supports. */
const O_CLOEXEC = 0o2000000;
const F_SETPIPE_SZ = 1031;

let calls: ReturnType<typeof linuxCalls> | undefined;

/** Other systems lack pipe2, so that programs started at the same moment could inherit the pipe. */
function linuxCalls() {
  if (libc?.platform.system !== 'linux' || !libc.has('pipe2')) return null;
  return {
    pipe: libc.bind('pipe2', 'int', ['address', 'int']),
    control: libc.bind('fcntl', 'int', ['int', 'int', '...']),
    ends: libc.memory(8),
  };
}
