/** A server that answers as a test says, and remembers what it was asked. */
import { once } from 'node:events';
import { type IncomingHttpHeaders, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AskedRequest {
  /** As `GET /v1/status`. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ScriptedReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON; a list of texts as a stream, whose connection then breaks off unless it is held. */
  readonly body?: object | string | readonly string[];
  readonly hold?: boolean;
}

export interface ScriptedServer extends AsyncDisposable {
  readonly address: string;
  readonly asked: readonly AskedRequest[];
}

export async function startScriptedServer(
  answer: (request: AskedRequest, count: number) => ScriptedReply,
): Promise<ScriptedServer> {
  const asked: AskedRequest[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const seen = { target: `${request.method} ${request.url}`, headers: request.headers, body };
      asked.push(seen);
      const count = asked.filter(({ target }) => target === seen.target).length;
      reply(response, answer(seen, count));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function reply(response: ServerResponse, { status = 200, headers, body = '', hold }: ScriptedReply): void {
  const isText = typeof body === 'string';
  const isStream = Array.isArray(body);
  const type = isStream ? 'text/event-stream' : isText ? 'text/plain' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers });
  if (!isStream) {
    response.end(isText ? body : JSON.stringify(body));
    return;
  }
  response.write(body.join(''), () => {
    if (hold !== true) response.socket?.destroy();
  });
}
