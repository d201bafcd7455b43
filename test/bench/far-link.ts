/** A line to a server that is far away: a TCP proxy that delays what passes, at the rate of one line for all connections. */

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface FarLink extends AsyncDisposable {
  readonly port: number;
  /** Bytes that went to the server and came from it. */
  readonly passed: { readonly up: number; readonly down: number };
}

export interface FarLinkSetup {
  /** On this machine. */
  readonly target: number;
  /** Milliseconds there and back. */
  readonly roundTripMs: number;
  /** Of each direction. */
  readonly bitsPerSecond: number;
}

/** What waits in one direction before the sender is held up: as much as the line carries in this time. */
const QUEUE_MS = 100;

/** One direction: bytes leave one after the other at the line's rate, and arrive half a round trip later. */
class Direction {
  readonly #bytesPerMs: number;
  readonly #delayMs: number;
  readonly #queue: { readonly atMs: number; readonly deliver: () => void }[] = [];
  #freeAtMs = 0;
  #waits = false;
  passed = 0;

  constructor(bytesPerMs: number, delayMs: number) {
    this.#bytesPerMs = bytesPerMs;
    this.#delayMs = delayMs;
  }

  /** Milliseconds for which the line has enough to do. */
  send(bytes: number, extraMs: number, deliver: () => void): number {
    const nowMs = performance.now();
    this.passed += bytes;
    this.#freeAtMs = Math.max(nowMs, this.#freeAtMs) + bytes / this.#bytesPerMs;
    this.#queue.push({ atMs: this.#freeAtMs + this.#delayMs + extraMs, deliver });
    if (!this.#waits) this.#deliverIn(this.#delayMs);
    return this.#freeAtMs - nowMs;
  }

  #deliver(): void {
    const nowMs = performance.now();
    let first = this.#queue[0];
    for (; first !== undefined && first.atMs <= nowMs; first = this.#queue[0]) {
      this.#queue.shift();
      first.deliver();
    }
    this.#waits = false;
    if (first !== undefined) this.#deliverIn(Math.max(0, first.atMs - nowMs));
  }

  #deliverIn(ms: number): void {
    this.#waits = true;
    setTimeout(() => this.#deliver(), ms);
  }
}

/** Starts the line. A new connection costs a round trip before its first bytes move, as the real one does. */
export async function farLink({ target, roundTripMs, bitsPerSecond }: FarLinkSetup): Promise<FarLink> {
  const make = (): Direction => new Direction(bitsPerSecond / 8_000, roundTripMs / 2);
  const [up, down] = [make(), make()];
  const sockets = new Set<Socket>();

  const forward = (from: Socket, to: Socket, direction: Direction, firstMs: number): void => {
    let extraMs = firstMs;
    from.on('data', (bytes: Buffer) => {
      const busyMs = direction.send(bytes.length, extraMs, () => void (to.destroyed || to.write(bytes)));
      extraMs = 0;
      if (busyMs <= QUEUE_MS) return;
      from.pause();
      setTimeout(() => from.resume(), busyMs - QUEUE_MS / 2);
    });
    from.on('end', () => direction.send(0, 0, () => void (to.destroyed || to.end())));
    from.on('error', () => direction.send(0, 0, () => void to.destroy()));
    from.on('close', () => sockets.delete(from));
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    for (const socket of [near, far]) sockets.add(socket.setNoDelay(true));
    forward(near, far, up, roundTripMs);
    forward(far, near, down, 0);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get passed() {
      return { up: up.passed, down: down.passed };
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
