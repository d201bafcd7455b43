/** A TCP connection that others look through: as far away as is wanted, and cut or silent when a test says so. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface LossyProxy extends AsyncDisposable {
  readonly port: number;
  /** Bytes that came through, both ways. */
  readonly passed: number;
  /** Connections that were made. */
  readonly connections: number;
  /** Cuts the connections that there are. */
  cut(): void;
  /** From now on nothing comes through, and nothing is said about it. */
  silence(): void;
  /** Silence ends for new connections. */
  speak(): void;
}

/** @param delayMs of each direction */
export async function lossyProxy(target: number, delayMs = 0): Promise<LossyProxy> {
  const sockets = new Set<Socket>();
  let silent = false;
  let passed = 0;
  let connections = 0;

  const forward = (from: Socket, to: Socket): void => {
    from.on('data', (bytes: Buffer) => {
      if (silent) return;
      passed += bytes.byteLength;
      if (delayMs === 0) to.write(bytes);
      else setTimeout(() => void to.write(bytes), delayMs);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      // What was under way arrives before the end does.
      if (delayMs === 0) to.destroy();
      else setTimeout(() => void to.destroy(), delayMs + 5);
    });
  };
  const server = createServer((near) => {
    connections += 1;
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.setNoDelay(true));
    forward(near, far);
    forward(far, near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get passed() {
      return passed;
    },
    get connections() {
      return connections;
    },
    cut,
    silence: () => {
      silent = true;
    },
    speak: () => {
      silent = false;
    },
    [Symbol.asyncDispose]: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
