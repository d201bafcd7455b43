/** What rclone answers, and how long it may take. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openHttpSite, type HttpSite } from '../../../../src/destination/http-site.ts';
import { commandsOf, type Commands } from '../../../../src/destination/rclone/commands.ts';

const live = new AbortController().signal;

let server: Server;
let site: HttpSite;
let commands: Commands;
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  server = createServer((request, response) => {
    request.resume().once('end', () => answer(response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  site = openHttpSite({ origin, url: 'rclone:drive:', credentials: {}, maxSockets: 2 });
  commands = commandsOf(async () => site, 'rclone:drive:');
});

afterEach(() => {
  vi.useRealTimers();
  site.close();
  server.closeAllConnections();
  server.close();
});

test.each([
  ['an upload', async () => await commands.upload('a', Buffer.alloc(1_000_000), undefined, 'a', live)],
  ['a move', async () => await commands.move('a', 'b', live)],
  ['a list', async () => await commands.list('', live)],
])('%s may take minutes in which rclone says nothing', async (_, call) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  answer = (response) => {
    vi.advanceTimersByTime(20 * 60_000);
    response.end('{"list":[]}');
  };
  await call();
});
