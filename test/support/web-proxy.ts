/** An HTTP proxy of this process that leads every name to this machine, whatever is asked for. */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export interface WebProxy extends AsyncDisposable {
  readonly port: number;
  /** What it was asked for, as `CONNECT name:443` or `GET http://name/…`. */
  readonly asked: string[];
  /** What it answers in place of doing it. */
  status: number | undefined;
}

/** @param login `name:password` that it asks for */
export async function startWebProxy(login?: string): Promise<WebProxy> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const state: { status: number | undefined } = { status: undefined };
  const refusal = ({ headers }: IncomingMessage): number | undefined => {
    const wanted = `Basic ${Buffer.from(login ?? '').toString('base64')}`;
    if (login !== undefined && headers['proxy-authorization'] !== wanted) return 407;
    return state.status;
  };
  const server = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method ?? ''} ${incoming.url ?? ''}`);
    const status = refusal(incoming);
    if (status !== undefined) return void outgoing.writeHead(status).end();
    const url = new URL(incoming.url ?? '');
    const { method, headers } = incoming;
    const path = url.pathname + url.search;
    const onward = request({ host: '127.0.0.1', port: url.port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    asked.push(`CONNECT ${incoming.url ?? ''}`);
    const status = refusal(incoming);
    if (status !== undefined) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const onward = connect(Number((incoming.url ?? '').split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    for (const one of [socket, onward]) {
      sockets.add(one);
      one.on('error', () => {});
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    get status() {
      return state.status;
    },
    set status(status) {
      state.status = status;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      server.close();
      await Promise.resolve();
    },
  };
}
