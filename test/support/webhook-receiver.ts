/** An https server on loopback that keeps what it is sent, to the byte, and answers as it is told. */
import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { TLSSocket } from 'node:tls';
import type { KeyAndCertificate } from './test-certificates.ts';

export interface ReceivedWebhook {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The name that the client asked for in TLS; false when it asked for none. */
  readonly serverName: string | false | null;
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly port: number;
  readonly received: ReceivedWebhook[];
  /** Connections that came, whatever became of them. */
  readonly connections: () => number;
  /** Called for each request, which counts from 1. 200 `OK` when it is not set. */
  answer: (count: number, response: ServerResponse) => void;
}

export async function startWebhookReceiver(pair: KeyAndCertificate): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  let connections = 0;
  const server = createServer({ ...pair }, (request, response) => {
    void (async () => {
      const { socket } = request;
      received.push({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: await text(request),
        serverName:
          socket instanceof TLSSocket
            ? ((socket as { servername?: string | false }).servername ?? null)
            : null,
      });
      receiver.answer(received.length, response);
    })();
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: WebhookReceiver = {
    port: (server.address() as AddressInfo).port,
    received,
    connections: () => connections,
    answer: (_count, response) => {
      response.end('OK');
    },
    async [Symbol.asyncDispose]() {
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
  reply = 'no',
): WebhookReceiver['answer'] {
  return (_count, response) => {
    response.writeHead(status, headers).end(reply);
  };
}
