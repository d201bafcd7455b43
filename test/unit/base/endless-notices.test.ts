/** A server that announces its answer without end is not waited for, whoever asks it. Stores: test/fault/endless-answers. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { callWeb, webTrouble } from '../../../src/base/web/web-call.ts';

const NOTICE = 'HTTP/1.1 102 Processing\r\n\r\n';

/** A server that sends this many notices, and then this. */
async function serverWith(notices: number, end: string): Promise<URL> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.write(NOTICE.repeat(notices) + end);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, 'listening');
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

const ask = async (url: URL): ReturnType<typeof callWeb> =>
  await callWeb(url, { method: 'GET', headers: {} }, AbortSignal.timeout(60_000));

test('a server may announce its answer while it works', async () => {
  expect((await ask(await serverWith(1_000, 'HTTP/1.1 204 No Content\r\n\r\n'))).status).toBe(204);
});

test('a server that does nothing else is told of as such', async () => {
  const error: unknown = await ask(await serverWith(1_001, '')).catch((reason: unknown) => reason);
  expect(webTrouble(error).what).toBe(
    'cannot be reached: its answer is announced more than 1000 times, and does not come',
  );
});
