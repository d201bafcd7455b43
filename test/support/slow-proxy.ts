/** A TCP connection that is as slow as is wanted, all that go through it taken together: as an uplink is. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface SlowProxy extends AsyncDisposable {
  readonly port: number;
  /** Bytes that came through towards the target. */
  readonly sent: number;
}

/** What one connection gets before it is the next one's turn. */
const PIECE_BYTES = 16_384;

/** @param bytesPerSecond towards the target; undefined for as fast as it goes */
export async function slowProxy(target: number, bytesPerSecond: number | undefined): Promise<SlowProxy> {
  const sockets = new Set<Socket>();
  let sent = 0;
  let turn: Promise<unknown> = Promise.resolve();
  let freeAtMs = performance.now();

  /** Waits until so many bytes may go, after all that asked before. */
  async function takeTurn(bytes: number): Promise<void> {
    if (bytesPerSecond === undefined) return;
    const before = turn;
    const mine = (async (): Promise<void> => {
      await before;
      freeAtMs = Math.max(freeAtMs, performance.now() - 100) + (bytes / bytesPerSecond) * 1_000;
      await delay(Math.max(0, freeAtMs - performance.now()));
    })();
    turn = mine;
    await mine;
  }

  async function forward(near: Socket, far: Socket): Promise<void> {
    for await (const chunk of near as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES) {
        const piece = chunk.subarray(at, at + PIECE_BYTES);
        await takeTurn(piece.byteLength);
        sent += piece.byteLength;
        if (!far.write(piece)) await once(far, 'drain');
      }
    }
  }

  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    far.pipe(near);
    forward(near, far).then(
      () => far.end(),
      () => far.destroy(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get sent() {
      return sent;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
