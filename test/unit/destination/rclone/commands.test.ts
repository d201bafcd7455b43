/** What rclone answers, and how long it may take. */
// Turn 6 of 8.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DestinationError } from '../../../../src/base/errors.ts';
import { openHttpSite, type HttpSite } from '../../../../src/destination/http-site.ts';
import { commandsOf, statOf, type Commands } from '../../../../src/destination/rclone/commands.ts';
import { ItemListReader } from '../../../../src/destination/rclone/item-list.ts';

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

/** As rclone writes it. */
function listed(paths: readonly string[]): string {
  const items = paths.map((path) => ({
    Path: path,
    Name: path.slice(path.lastIndexOf('/') + 1),
    Size: 33_554_432,
    ModTime: '2026-11-01T10:00:00.000000000Z',
    IsDir: false,
  }));
  return `${JSON.stringify({ list: items }, undefined, '\t')}\n`;
}

describe('a list', () => {
  test('of more than 64 MiB is whole', async () => {
    const count = 260_000;
    const nameOf = (index: number): string => index.toString(16).padStart(64, '0');
    const [entry = ''] = /\{[^{]*?\}/.exec(listed(['packs/00/NAME'])) ?? [];
    answer = (response) => {
      response.write('{\n\t"list": [\n\t\t');
      for (let from = 0; from < count; from += 1000) {
        const page = Array.from({ length: 1000 }, (_, at) => entry.replaceAll('NAME', nameOf(from + at)));
        response.write(`${from === 0 ? '' : ',\n\t\t'}${page.join(',\n\t\t')}`);
      }
      response.end('\n\t]\n}\n');
    };
    const items = (await commands.list('packs', live)) ?? [];
    expect(items).toHaveLength(count);
    expect(new Set(items.map(({ path }) => path)).size).toBe(count);
    expect(items.at(-1)).toEqual({
      path: `packs/00/${nameOf(count - 1)}`,
      size: 33_554_432,
      modifiedMs: Date.UTC(2026, 10, 1, 10),
      isFolder: false,
    });
  });

  test('without an end is told for what it is before it fills the memory', () => {
    const reader = new ItemListReader(() => {}, 2 * 1024 * 1024);
    const entries = Buffer.from('{"Path":"a"},'.repeat(1000));
    reader.push(Buffer.from('{"list":['));
    expect(() => {
      for (let count = 0; count < 1000; count += 1) reader.push(entries);
    }).toThrow('larger than 2 MiB');
    const endless = new ItemListReader(() => {});
    endless.push(Buffer.from('{"list":[{"Path":"'));
    expect(() => {
      for (let count = 0; count < 1000; count += 1) endless.push(entries);
    }).toThrow('larger than 1 MiB');
  });

  test('has names as they are, whatever is in them', async () => {
    const names = ['{"list":[{', '}]', '\\', '\\"', 'caf\u00e9 \u{1f600}', '\u2028,', '0'];
    for (const pieces of [1, 7, 10_000]) {
      answer = (response) => {
        const bytes = Buffer.from(listed(names));
        for (let at = 0; at < bytes.length; at += pieces) response.write(bytes.subarray(at, at + pieces));
        response.end();
      };
      expect((await commands.list('', live))?.map(({ path }) => path)).toEqual(names);
    }
  });

  test('that ends too early, wherever that is, is none', async () => {
    const whole = listed(['a', 'b']).trimEnd();
    for (let length = 0; length < whole.length; length += 1) {
      answer = (response) => response.end(whole.slice(0, length));
      await expect(commands.list('', live), `${length}`).rejects.toBeInstanceOf(DestinationError);
    }
  });

  test.each([
    ['{"list":[{}]}'],
    ['{"list":[null]}'],
    ['{"list":[0]}'],
    ['{"list":{}}'],
    ['{"list":[{"Path":"a"]}'],
    ['{"list":[]}{"list":[]}'],
    [listed(['a']).replace('[', '[null,')],
    [listed(['a', 'b']).replace(/\},\s*\{/, '} {')],
  ])('that has something else in it is none: %s', async (text) => {
    answer = (response) => response.end(text);
    await expect(commands.list('', live)).rejects.toBeInstanceOf(DestinationError);
  });

  test('of nothing is empty, and of no folder none', async () => {
    answer = (response) => response.end('{"list":null}');
    expect(await commands.list('', live)).toEqual([]);
    const error = { error: 'directory not found', input: { opt: [{ recurse: true }] }, status: 404 };
    answer = (response) => response.writeHead(404).end(JSON.stringify(error));
    expect(await commands.list('a', live)).toBeUndefined();
  });
});

test('a document of somebody else that has no size is passed over, and one of ours is named', async () => {
  const items = [
    { Path: 'My report.docx', Size: -1, ModTime: '2026-11-29T00:00:00Z', IsDir: false },
    { Path: 'packs/a', Size: -1, ModTime: '2026-11-29T00:00:00Z', IsDir: false },
  ];
  answer = (response) => response.end(JSON.stringify({ list: items }));
  const [strange, ours] = (await commands.list('', live)) ?? [];
  expect(strange).toMatchObject({ path: 'My report.docx' });
  expect(() =>
    statOf(ours ?? { path: '', size: 0, modifiedMs: 0, isFolder: false }, 'rclone:drive:'),
  ).toThrow(/does not say of packs\/a in rclone:drive: how large it is/);
});

test('one that hangs while it is waited for is found out within two minutes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  answer = () => vi.advanceTimersByTime(61_000);
  const watched = commandsOf(async () => site, 'rclone:drive:', { aliveEveryMs: 50 });
  await expect(watched.list('', live)).rejects.toMatchObject({ kind: 'unreachable' });
});
