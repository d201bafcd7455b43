/** Stands before a store of HTTP: hands on what is asked, or answers in a manner of its own. */
import { once } from 'node:events';
import {
  createServer,
  request as ask,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a request is about. */
export type Subject = 'list' | 'look' | 'object' | 'pack' | 'other';

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** In place of the answer, to requests of one kind. */
export type Misbehave = (asked: Asked, response: ServerResponse) => void;

export interface Front extends AsyncDisposable {
  readonly origin: string;
  /** Undefined while everything is handed on. */
  misbehave: { readonly on: readonly Subject[]; readonly by: Misbehave } | undefined;
  /** When the first request was answered badly, by the monotonic clock; undefined before. */
  firstMs: number | undefined;
  /** How many were. */
  count: number;
}

/** @param backend where what is handed on goes */
export async function startFront(backend: string, subjectOf: (asked: Asked) => Subject): Promise<Front> {
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    request.on('error', () => {});
    response.on('error', () => {});
    const asked = { method, url, headers };
    if (front.misbehave?.on.includes(subjectOf(asked)) !== true) return handOn(backend, request, response);
    front.firstMs ??= performance.now();
    front.count += 1;
    request.resume();
    front.misbehave.by(asked, response);
  });
  // What a client waits for is for it to say.
  Object.assign(server, { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0, timeout: 0 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const front: Front = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    misbehave: undefined,
    firstMs: undefined,
    count: 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return front;
}

function handOn(backend: string, request: IncomingMessage, response: ServerResponse): void {
  const { method, url = '', headers } = request;
  const { host, port } = new URL(backend);
  const there = { host: host.split(':')[0], port, method, path: url, headers };
  const onward = ask(there, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.rawHeaders);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
}
