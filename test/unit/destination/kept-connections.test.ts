/** A balancer that forgets kept connections: what comes as the second request on one is reset, done or not. */
// Turn 4 of 8.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createLine, type AddressInfo, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { onLiveConnection } from '../../../src/destination/kept-connections.ts';
import { openGoogleDestination } from '../../../src/destination/gcs/gcs.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { withRetry } from '../../../src/destination/retry.ts';
import { openS3Destination } from '../../../src/destination/s3/s3.ts';
import { startGoogleStore } from '../../support/google-store.ts';
import { startS3Store } from '../../support/s3-store.ts';

const live = new AbortController().signal;
/** Nothing is tried again that counts. */
const AT_ONCE = { attempts: 1, firstDelayMs: 0, maxDelayMs: 0, random: () => 0 };
const patience = { policy: AT_ONCE, sleep: async () => {} };

interface Balancer extends AsyncDisposable {
  readonly endpoint: string;
  /** Requests that got no answer. */
  resets: number;
}

/** @param passesOn the store gets the request, and its answer is lost */
async function startBalancer(store: string, passesOn: boolean): Promise<Balancer> {
  const sockets = new Set<Socket>();
  const balancer = { endpoint: '', resets: 0 };
  const server = createLine((socket) => {
    sockets.add(socket);
    const onward = connect(Number(new URL(store).port), '127.0.0.1');
    sockets.add(onward);
    let [isAnswered, isForgotten] = [false, false];
    socket.on('data', (bytes) => {
      if (isAnswered && !isForgotten) {
        isForgotten = true;
        balancer.resets += 1;
        if (!passesOn) return void socket.resetAndDestroy();
      }
      onward.write(bytes);
    });
    onward.on('data', (bytes) => {
      isAnswered = true;
      if (isForgotten) socket.resetAndDestroy();
      else socket.write(bytes);
    });
    for (const one of [socket, onward]) one.on('error', () => {});
    socket.on('close', () => onward.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  balancer.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(balancer, {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await Promise.resolve();
    },
  });
}

async function cycle(opened: Destination): Promise<void> {
  const destination = withRetry(opened, AT_ONCE);
  for (const key of ['packs/a', 'packs/b', 'packs/c']) {
    await destination.put(key, Buffer.from(key), live);
    expect((await destination.get(key, undefined, live)).toString()).toBe(key);
  }
  await destination.delete('packs/a', live);
  await destination.close();
}

test.each([false, true])(
  'S3 goes on at once on a new connection; done all the same: %s',
  async (passesOn) => {
    await using store = await startS3Store();
    await using balancer = await startBalancer(store.endpoint, passesOn);
    const { endpoint } = balancer;
    const place = {
      kind: 's3',
      bucket: 'bucket',
      prefix: 'p',
      endpoint,
      region: 'x',
      pathStyle: true,
    } as const;
    const keys = { accessKeyId: 'AK', secretAccessKey: 'SK' };
    await cycle(await openS3Destination(place, keys, { create: true, patience }));
    expect(balancer.resets).toBeGreaterThan(5);
  },
);

test.each([false, true])('so does Google; done all the same: %s', async (passesOn) => {
  await using store = await startGoogleStore();
  await using balancer = await startBalancer(store.endpoint, passesOn);
  const { endpoint } = balancer;
  await cycle(await openGoogleDestination({ kind: 'gs', bucket: 'bucket', prefix: 'p', endpoint }));
  expect(balancer.resets).toBeGreaterThan(0);
});

test('a connection that is new and reset is a failure, once', async () => {
  let requests = 0;
  const server = createServer((incoming: IncomingMessage, _response: ServerResponse) => {
    requests += 1;
    incoming.socket.resetAndDestroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(onLiveConnection(live, 1_000, async () => await fetchBy(address))).rejects.toMatchObject({
    code: 'ECONNRESET',
  });
  expect(requests).toBe(1);
  server.close();
});

async function fetchBy(address: string): Promise<void> {
  const { request } = await import('node:http');
  await new Promise((resolve, reject) => {
    request(address).on('error', reject).on('response', resolve).end();
  });
}
