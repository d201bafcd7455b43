/**
 * How bytes reach an SSH server: directly, through other servers (`ProxyJump`), or through a program (`ProxyCommand`).
 */
import { spawn } from 'node:child_process';
import { connect as connectSocket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Client } from 'ssh2';
import { systemClock } from '../../base/clock.ts';
import { DestinationError } from '../../base/errors.ts';
import { waitsForAnswer } from '../../base/waits.ts';

/** The connection of the first hop, which all bytes pass. */
export interface Wire {
  readonly bytesRead: number;
  readonly bytesWritten: number;
  readonly writableLength: number;
  destroy(): void;
}

export interface Way {
  readonly stream: Duplex;
  readonly wire: Wire;
}

export function straight(host: string, port: number): Way {
  const socket = connectSocket({ host, port, noDelay: true });
  return { stream: socket, wire: socket };
}

/** @throws {DestinationError} unreachable */
export async function through(
  via: { readonly client: Client; readonly wire: Wire; readonly shown: string },
  host: string,
  port: number,
  { url, patienceMs }: { readonly url: string; readonly patienceMs: number },
): Promise<Way> {
  const since = systemClock.monotonic();
  const answered = waitsForAnswer(
    'store',
    () => since,
    () => patienceMs,
  );
  const opened = Promise.withResolvers<Duplex>();
  const lost = (): void => opened.reject(new Error('the connection was closed'));
  via.client.once('close', lost);
  // A server in between that is alive may still never say whether it leads on.
  const patience = setTimeout(() => opened.reject(new Error('no answer')), patienceMs);
  via.client.forwardOut('127.0.0.1', 0, host, port, (error, stream) => {
    if (error === undefined) opened.resolve(stream);
    else opened.reject(error);
  });
  try {
    return { stream: await opened.promise, wire: via.wire };
  } catch (cause) {
    via.wire.destroy();
    throw new DestinationError('unreachable', `${url}: ${via.shown} cannot connect to ${host}:${port}`, {
      op: 'connect',
      hint: 'Check ProxyJump in the ssh configuration: the server in between must be able to reach the other one, and allow forwarding (AllowTcpForwarding).',
      details: { url },
      retry: 'later',
      cause,
    });
  } finally {
    answered();
    clearTimeout(patience);
    via.client.off('close', lost);
  }
}

/** Runs the command in a shell, as ssh does. Its error output is discarded. */
export function byCommand(command: string, environment: Readonly<Record<string, string | undefined>>): Way {
  const child = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'ignore'], env: { ...environment } });
  const { stdin, stdout } = child;
  const stream = Duplex.from({ readable: stdout, writable: stdin });
  const end = (): void => {
    child.kill();
    stream.destroy();
  };
  child.once('error', (error) => stream.destroy(error));
  child.once('exit', () => stdin.destroy());
  return {
    stream,
    wire: {
      get bytesRead() {
        return countOf(stdout, 'bytesRead');
      },
      get bytesWritten() {
        return countOf(stdin, 'bytesWritten');
      },
      get writableLength() {
        return stdin.writableLength;
      },
      destroy: end,
    },
  };
}

/** Byte counts of a child's pipe. These are sockets, although their declared type does not say so. */
function countOf(stream: object, name: 'bytesRead' | 'bytesWritten'): number {
  const count: unknown = Reflect.get(stream, name);
  return typeof count === 'number' ? count : 0;
}
