/** The HTTP server below the routes: its limits, its timeouts, and how it handles input that is not a valid request. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { REQUEST_LATE } from './malformed-requests.ts';
import type { ConnectionShares } from './shares.ts';
import type { ServerLimits } from '../wire/limits.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface ConnectionEvents {
  readonly handle: Handler;
  /** Answers what the HTTP parser refused, and closes the connection. */
  readonly malformed: (error: Error, socket: Duplex) => void;
  /** Answers CONNECT, and closes the connection. */
  readonly tunnel: (request: IncomingMessage, socket: Duplex) => void;
}

/** Responses that may be silent for any length of time. */
export type PatientResponses = WeakSet<ServerResponse>;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export function createHttpServer(
  limits: ServerLimits,
  patient: PatientResponses,
  shares: ConnectionShares,
  { handle, malformed, tunnel }: ConnectionEvents,
): Server {
  const latest = new WeakMap<Duplex, Exchange>();
  const refused = new WeakSet<Duplex>();
  /** Bytes that a connection had sent when its latest exchange ended. More belong to a request that has begun. */
  const settledBytes = new WeakMap<Duplex, number>();
  const server = createServer(
    {
      // The host guard answers a missing Host like a wrong one.
      requireHostHeader: false,
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
    },
    accept,
  );
  // The size of headers is limited already. With a limit on their count, Node would silently drop the excess.
  server.maxHeadersCount = 0;
  server.setTimeout(limits.connectionTimeoutMs);
  server.on('connection', (socket) => shares.add(socket, () => waits(socket)));
  server.on('timeout', endSilent);
  server.on('clientError', refuse);
  server.on('checkExpectation', accept);
  server.on('connect', tunnel);
  return server;

  function accept(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    latest.set(socket, { request, response });
    response.once('finish', () => settledBytes.set(socket, socket.bytesRead));
    shares.touch(socket);
    handle(request, response);
  }

  /** Whether the connection waits for its client, which has not sent a whole request yet or has received its response. */
  function waits(socket: Socket): boolean {
    const exchange = latest.get(socket);
    return exchange === undefined || !exchange.request.complete || exchange.response.writableFinished;
  }

  /**
   * Ends a silent connection, and says so to a client that stopped in the middle of a request; unless the server is the one to act: the request is complete, the response is not, and it
   * is a patient one, has not begun, or the client has taken everything written so far.
   */
  function endSilent(socket: Socket): void {
    const exchange = latest.get(socket);
    const ours =
      exchange !== undefined &&
      exchange.request.complete &&
      !exchange.response.writableFinished &&
      (patient.has(exchange.response) || !exchange.response.headersSent || isIdle(exchange.response));
    if (ours) socket.setTimeout(limits.connectionTimeoutMs);
    else if (hasBegun(socket)) refuse(tooLate(), socket);
    else socket.destroy();
  }

  /** Whether the client has begun a request that has not arrived completely. */
  function hasBegun(socket: Socket): boolean {
    const exchange = latest.get(socket);
    if (exchange === undefined) return socket.bytesRead > 0;
    if (!exchange.request.complete) return true;
    return (
      exchange.response.writableFinished && socket.bytesRead > (settledBytes.get(socket) ?? socket.bytesRead)
    );
  }

  function isIdle({ writableEnded, writableLength }: ServerResponse): boolean {
    return !writableEnded && writableLength === 0;
  }

  function refuse(error: Error, socket: Duplex): void {
    // The parser reports each further piece that a refused client sends.
    if (refused.has(socket)) return;
    refused.add(socket);
    const exchange = latest.get(socket);
    if (exchange === undefined || exchange.response.writableFinished) {
      malformed(error, socket);
    } else if (exchange.request.complete) {
      // Malformed data after a valid request: the valid request is answered first.
      exchange.response.once('close', () => malformed(error, socket));
    } else if (exchange.response.headersSent) {
      socket.destroy();
    } else {
      malformed(error, socket);
    }
  }
}

/** As the HTTP server itself reports a request that takes too long in all. */
function tooLate(): Error {
  return Object.assign(new Error('the request stopped arriving'), { code: REQUEST_LATE });
}
