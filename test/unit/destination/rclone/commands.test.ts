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

const THROTTLED = { kind: 'unreachable', retry: 'later', details: { throttled: true } };

test.each([
  [
    "googleapi: Error 403: Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service 'drive.googleapis.com'., rateLimitExceeded",
    THROTTLED,
  ],
  ['googleapi: Error 403: User rate limit exceeded., userRateLimitExceeded', THROTTLED],
  ['googleapi: Error 403: Rate Limit Exceeded, rateLimitExceeded', THROTTLED],
  ['too_many_requests/...: Too many requests', THROTTLED],
  ['HTTP error 429 (429 ) returned body: ""', THROTTLED],
  ["googleapi: Error 403: Quota exceeded for quota metric 'Writes'", { kind: 'denied' }],
  [
    "googleapi: Error 403: The user's Drive storage quota has been exceeded., storageQuotaExceeded",
    { kind: 'full' },
  ],
  ['write /mnt/a: disk quota exceeded', { kind: 'full' }],
  ['quotaLimitReached: Quota limit reached', { kind: 'full' }],
  ['path/insufficient_space/.', { kind: 'full' }],
  ['dial tcp 192.0.2.14:401: connect: connection refused', { kind: 'unreachable' }],
  [
    'googleapi: Error 403: The caller may not, insufficientFilePermissions',
    { kind: 'denied', retry: 'never' },
  ],
  ['unexpected status code 401', { kind: 'denied' }],
  ['open /mnt/a: read-only file system', { kind: 'denied' }],
])('"%s" is told for what it is', async (error, expected) => {
  answer = (response) => response.writeHead(500).end(JSON.stringify({ error, status: 500 }));
  await expect(commands.move('a', 'b', live)).rejects.toMatchObject(expected);
});
