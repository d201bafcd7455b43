/** The HTTP servers below the routes: their limits, their clocks, and what to do about requests that are none. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionShares } from './shares.ts';
import type { ServerLimits } from '../wire/limits.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface ConnectionEvents {
  readonly handle: Handler;
  /** To answer what the parser of requests refused, and close the connection. */
  readonly malformed: (error: Error, socket: Duplex) => void;
  /** To answer CONNECT, and close the connection. */
  readonly tunnel: (request: IncomingMessage, socket: Duplex) => void;
}

/** Responses that may be silent for as long as they like. */
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
  const server = createServer(
    {
      // A missing Host is answered like a wrong one, by the guard.
      requireHostHeader: false,
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
    },
    accept,
  );
  // Their size is limited already; above a number, Node would leave headers out without a word.
  server.maxHeadersCount = 0;
  server.setTimeout(limits.connectionTimeoutMs);
  server.on('connection', (socket) => shares.add(socket, () => waits(socket)));
  server.on('timeout', endSilent);
  server.on('clientError', refuse);
  server.on('checkExpectation', accept);
  server.on('connect', tunnel);
  return server;

  function accept(request: IncomingMessage, response: ServerResponse): void {
    latest.set(request.socket, { request, response });
    shares.touch(request.socket);
    handle(request, response);
  }

  /** For the client, which has not asked for anything, or has its answer. */
  function waits(socket: Socket): boolean {
    const exchange = latest.get(socket);
    return exchange === undefined || !exchange.request.complete || exchange.response.writableFinished;
  }

  /**
   * Silence is the client's unless its request is whole and it waits for us: we have not begun to answer, or it has taken
   * all that there was so far.
   */
  function endSilent(socket: Socket): void {
    const exchange = latest.get(socket);
    const ours =
      exchange !== undefined &&
      exchange.request.complete &&
      !exchange.response.writableFinished &&
      (patient.has(exchange.response) || !exchange.response.headersSent || isIdle(exchange.response));
    if (ours) socket.setTimeout(limits.connectionTimeoutMs);
    else socket.destroy();
  }

  function isIdle({ writableEnded, writableLength }: ServerResponse): boolean {
    return !writableEnded && writableLength === 0;
  }

  function refuse(error: Error, socket: Duplex): void {
    // What a client goes on sending after it was refused is refused again and again.
    if (refused.has(socket)) return;
    refused.add(socket);
    const exchange = latest.get(socket);
    if (exchange === undefined || exchange.response.writableFinished) {
      malformed(error, socket);
    } else if (exchange.request.complete) {
      // Rubbish after a good request: that one gets its answer first.
      exchange.response.once('close', () => malformed(error, socket));
    } else if (exchange.response.headersSent) {
      socket.destroy();
    } else {
      malformed(error, socket);
    }
  }
}
