/** A server that takes connections and never says a word. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

export interface SilentServer extends AsyncDisposable {
  readonly port: number;
  /** Resolves with the next connection, or one that nobody has waited for yet. */
  connected(): Promise<void>;
  /** Resolves once the other side has closed all connections. */
  deserted(): Promise<void>;
}

export async function startSilentServer(): Promise<SilentServer> {
  const open = new Set<Socket>();
  const waiting: (() => void)[] = [];
  let unseen = 0;
  const empty: (() => void)[] = [];
  const server = createServer((socket) => {
    open.add(socket);
    // Without it the end of the other side is not noticed.
    socket.resume();
    socket.on('error', () => {});
    socket.once('close', () => {
      open.delete(socket);
      if (open.size === 0) for (const resolve of empty.splice(0)) resolve();
    });
    const next = waiting.shift();
    if (next === undefined) unseen += 1;
    else next();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async connected() {
      if (unseen > 0) unseen -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    async deserted() {
      if (open.size > 0) await new Promise<void>((resolve) => empty.push(resolve));
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
