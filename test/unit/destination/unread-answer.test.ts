/** Libraries refuse some answers by their header and leave the body unread. */
import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { onLiveConnection } from '../../../src/destination/kept-connections.ts';

const live = new AbortController().signal;

test('an answer whose body nobody reads does not keep its connection', async () => {
  const server = createServer((_, response) => {
    response.on('error', () => {});
    response.writeHead(206);
    response.write('and on and on');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { port } = server.address() as AddressInfo;
  const refused = new Error('it has no length');
  const call = onLiveConnection(live, undefined, async () => {
    await once(get({ host: '127.0.0.1', port, agent }), 'response');
    throw refused;
  });
  await expect(call).rejects.toBe(refused);
  const next = get({ host: '127.0.0.1', port, agent });
  const [answer] = (await once(next, 'response', { signal: AbortSignal.timeout(5_000) })) as [
    IncomingMessage,
  ];
  expect(answer.statusCode).toBe(206);
  next.destroy();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});
