/** A proxy that does not come to an end of its answer harms nobody; one that takes its time is waited for. */
import { once } from 'node:events';
import { request } from 'node:https';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { TunnelAgent } from '../../../src/base/web/proxy-tunnel.ts';
import { processEnvironment } from '../../../src/base/web/process-environment.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
  vi.unstubAllEnvs();
});

async function proxyThat(answers: (socket: Socket) => void): Promise<void> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.once('data', () => answers(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = processEnvironment as Record<string, string | undefined>;
  const before = env['https_proxy'];
  env['https_proxy'] = address;
  ends.push(() => {
    if (before === undefined) delete env['https_proxy'];
    else env['https_proxy'] = before;
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

async function failure(longestMs?: number): Promise<unknown> {
  const agent = new TunnelAgent({ keepAlive: false }, longestMs);
  const asked = request('https://store.example.org/', { agent });
  asked.end();
  const [error] = (await once(asked, 'error')) as [unknown];
  return error;
}

test('headers without end', async () => {
  let sent = 0;
  await proxyThat((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const more = (): void => {
      while (!socket.destroyed && sent < 300_000_000) {
        sent += 65_536;
        if (!socket.write(`X-Filler: ${'a'.repeat(65_524)}`)) return void socket.once('drain', more);
      }
    };
    more();
  });
  expect(await failure()).toMatchObject({ code: 'ERR_PROXY_TUNNEL' });
  expect(sent).toBeLessThan(16_000_000);
});

test('an answer in many small pieces, whatever comes of it', async () => {
  await proxyThat((socket) => {
    const pieces = 'HTTP/1.1 503 Not at the moment, and this goes on for a while\r\n\r\n'.split('');
    const next = (): void => {
      const piece = pieces.shift();
      if (piece === undefined || socket.destroyed) return;
      socket.write(piece, () => setImmediate(next));
    };
    next();
  });
  expect(await failure()).toMatchObject({ code: 'ERR_PROXY_TUNNEL', statusCode: 503 });
});

test('one that says nothing', async () => {
  await proxyThat(() => {});
  const stillAsking = sleep(20_000, 'still asking', { ref: false });
  expect(await Promise.race([failure(100), stillAsking])).toMatchObject({ code: 'ERR_PROXY_TUNNEL' });
});
