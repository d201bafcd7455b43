/**
 * A pipe for what another program prints, whose end of this process is read into memory of its own. Node.js gives its own
 * pipes 64 KB of new memory for each read: a program that prints gigabytes makes it grow by a hundred megabytes.
 */
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { libc } from './libc.ts';
import { systemError } from './system-error.ts';

export interface OutputPipe {
  /** For the other program; to be closed here once that has it. */
  readonly writeFd: number;
  /** Resolves when nobody can write any more. */
  readonly ended: Promise<void>;
  /** Whatever holds the other end does not keep this process from ending. */
  unref(): void;
}

const BUFFER_BYTES = 65_536;
/** That may wait to be read; a system gives its users as much unless it was told otherwise. */
const PIPE_BYTES = 1_048_576;

/**
 * `take` gets each piece, whose memory is used again when it returns. Undefined where the system has no such call.
 * @throws what the system says, as when too many files are open
 */
export function openOutputPipe(take: (bytes: Buffer) => void): OutputPipe | undefined {
  calls ??= linuxCalls();
  if (calls === null) return undefined;
  const { pipe, control, ends } = calls;
  if (pipe(ends.address, O_CLOEXEC) !== 0) throw systemError('pipe2', libc?.errno() ?? 0);
  const [readFd, writeFd] = [ends.bytes.readInt32LE(0), ends.bytes.readInt32LE(4)];
  // As it was when the system allows no more: a writer then waits for this process more often.
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

/** Of Linux on every machine that Node.js runs on. */
const O_CLOEXEC = 0o2000000;
const F_SETPIPE_SZ = 1031;

let calls: ReturnType<typeof linuxCalls> | undefined;

/** Elsewhere a pipe cannot be kept from programs that are started in the same moment. */
function linuxCalls() {
  if (libc?.platform.system !== 'linux' || !libc.has('pipe2')) return null;
  return {
    pipe: libc.bind('pipe2', 'int', ['address', 'int']),
    control: libc.bind('fcntl', 'int', ['int', 'int', '...']),
    ends: libc.memory(8),
  };
}
