/** Listens on the loopback addresses only. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { causeText } from '../../base/errno-words.ts';
import { StateError, errnoOf } from '../../base/errors.ts';

export interface Listening {
  readonly port: number;
  /** Host and port as written in URLs. */
  readonly hosts: readonly string[];
  /** Notes for the user, as sentences. */
  readonly notes: readonly string[];
}

/** Ports to try when any will do, since one that is free on 127.0.0.1 may be taken on ::1. */
const ATTEMPTS = 20;

/**
 * Makes `four` listen on 127.0.0.1 and `six` on ::1, at the same port; 0 for any that is free on both. On a machine
 * without IPv6, only `four` listens.
 * @throws {StateError} PORT_TAKEN, PORT_NOT_ALLOWED, LISTEN_FAILED
 */
export async function listenOnLoopback(four: Server, six: Server, port: number): Promise<Listening> {
  for (let attempt = 1; ; attempt += 1) {
    const chosen = await listenAt(four, '127.0.0.1', port);
    try {
      await listenAt(six, '::1', chosen);
      return { port: chosen, hosts: [`127.0.0.1:${chosen}`, `[::1]:${chosen}`], notes: [] };
    } catch (error) {
      if (isAbsent(error)) {
        const note = 'This machine has no IPv6 loopback address: the agent listens on 127.0.0.1 only.';
        return { port: chosen, hosts: [`127.0.0.1:${chosen}`], notes: [note] };
      }
      await close(four);
      if (port !== 0 || attempt === ATTEMPTS || causeCode(error) !== 'EADDRINUSE') throw error;
    }
  }
}

/**
 * Listens, and returns the port: the one that was requested, or a free one for 0.
 * @throws {StateError} PORT_TAKEN, PORT_NOT_ALLOWED, LISTEN_FAILED
 */
export async function listenAt(server: Server, host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const fail = (cause: Error): void => reject(cannotListen(cause, host, port));
  server.once('error', fail);
  server.listen({ host, port, exclusive: true, ipv6Only: host.includes(':') }, () => resolve(undefined));
  try {
    await promise;
  } finally {
    server.off('error', fail);
  }
  return (server.address() as AddressInfo).port;
}

function cannotListen(cause: Error, host: string, port: number): StateError {
  const code = errnoOf(cause);
  if (code === 'EADDRINUSE') {
    return new StateError('PORT_TAKEN', `Another program is already listening on port ${port} of ${host}`, {
      hint: 'If it is Holdfast, it is already running. If not, choose another port with --port.',
      details: { port },
      cause,
    });
  }
  if (code === 'EACCES') {
    return new StateError(
      'PORT_NOT_ALLOWED',
      `This user does not have permission to listen on port ${port}`,
      {
        hint: 'Choose a port above 1023 with --port.',
        details: { port },
        cause,
      },
    );
  }
  return new StateError('LISTEN_FAILED', `Holdfast cannot listen on ${host}: ${causeText(cause)}`, {
    hint: 'Check the address.',
    cause,
  });
}

function causeCode(error: unknown): string | undefined {
  return error instanceof Error ? errnoOf(error.cause) : undefined;
}

function isAbsent(error: unknown): boolean {
  return ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EPROTONOSUPPORT', 'EINVAL'].includes(causeCode(error) ?? '');
}

/** Milliseconds between two checks for connections that have become idle. */
const IDLE_CHECK_MS = 50;

/** Closes a server: it accepts no new connections, and closes each existing one when it is idle, or after `graceMs`. */
export async function endServer(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = close(server);
  server.closeIdleConnections();
  const again = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const force = setTimeout(() => server.closeAllConnections(), graceMs);
  try {
    await closed;
  } finally {
    clearInterval(again);
    clearTimeout(force);
  }
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
}
