/** A web server on loopback that keeps what it is sent and answers as it is told. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface HttpReceiver {
  readonly url: string;
  readonly received: Received[];
  /** Called for each request, which counts from 1. Without it, or when it does nothing: 200 `OK`. */
  answer: (count: number, response: ServerResponse) => void;
  close(): Promise<void>;
}

export async function httpReceiver(): Promise<HttpReceiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      received.push({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body,
      });
      receiver.answer(received.length, response);
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: HttpReceiver = {
    url: `http://127.0.0.1:${port}`,
    received,
    answer: (_count, response) => {
      response.end('OK');
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** An answer for `receiver.answer`. */
export function answerWith(
  status: number,
  headers: Readonly<Record<string, string>> = {},
): (count: number, response: ServerResponse) => void {
  return (_count, response) => {
    response.writeHead(status, headers).end('no');
  };
}
