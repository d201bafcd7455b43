import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { DestinationError } from '../../../src/base/errors.ts';
import { openHttpSite, textOf } from '../../../src/destination/http-site.ts';
import type { HttpRequest, HttpSite } from '../../../src/destination/http-site.ts';

const live = new AbortController().signal;
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function siteOf(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
  credentials = {},
): Promise<HttpSite> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const site = openHttpSite({ origin, url: 'webdav://test', credentials, maxSockets: 2 });
  closing.push(async () => {
    site.close();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return site;
}

async function ask(site: HttpSite, request: Partial<HttpRequest> = {}, signal = live): Promise<string> {
  const whole = { method: 'GET', path: '/', op: 'read', key: 'a', accepts: [200], ...request };
  return await site.ask(
    whole,
    signal,
    async (reply, moving) => await textOf(reply, moving, 64 * 1024 * 1024),
  );
}

async function failureOf(call: Promise<unknown>): Promise<DestinationError> {
  const error = await call.then(
    () => 'no failure',
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DestinationError);
  return error as DestinationError;
}

test.each([
  [401, 'denied'],
  [403, 'denied'],
  [404, 'not-found'],
  [429, 'unreachable'],
  [500, 'unreachable'],
  [507, 'full'],
  [302, 'unsupported'],
])('status %i is a failure of kind %s', async (status, kind) => {
  const site = await siteOf((_, response) => void response.writeHead(status).end('<html>'));
  expect((await failureOf(ask(site))).kind).toBe(kind);
});

test('a server that wants to be asked later is told of with the time', async () => {
  const site = await siteOf((_, response) => void response.writeHead(503, { 'Retry-After': '7' }).end());
  expect((await failureOf(ask(site))).details).toMatchObject({ retryAfterMs: 7_000, status: 503 });
});

test.each([
  ['in the middle of a length', { 'Content-Length': '100' }],
  ['in the middle of chunks', { 'Transfer-Encoding': 'chunked' }],
])('an answer that ends %s is no answer', async (_, headers) => {
  const site = await siteOf((_request, response) => {
    response.writeHead(200, headers);
    response.write('begun', () => response.socket?.destroy());
  });
  expect(['corrupt-reply', 'unreachable']).toContain((await failureOf(ask(site))).kind);
});

test('what is no HTTP is no answer', async () => {
  const site = await siteOf((request) => void request.socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
  expect(['corrupt-reply', 'unreachable']).toContain((await failureOf(ask(site))).kind);
});

test('an answer that is larger than the memory for it is told for what it is', async () => {
  const site = await siteOf((_, response) => {
    const mebibyte = Buffer.alloc(1024 * 1024, 'x');
    for (let count = 0; count < 65; count += 1) response.write(mebibyte);
    response.end();
  });
  expect(await failureOf(ask(site))).toMatchObject({
    kind: 'corrupt-reply',
    retry: 'never',
    message: expect.stringContaining('the answer is larger than 64 MiB'),
  });
});

test('nobody who listens is unreachable', async () => {
  const site = openHttpSite({
    origin: 'http://127.0.0.1:1',
    url: 'webdav://test',
    credentials: {},
    maxSockets: 1,
  });
  expect((await failureOf(ask(site))).kind).toBe('unreachable');
  site.close();
});

test('a connection that the server closes while it is idle is no failure', async () => {
  const sockets: Socket[] = [];
  let requests = 0;
  const site = await siteOf((request, response) => {
    requests += 1;
    sockets.push(request.socket);
    // The second request on a connection finds it closed.
    if (sockets.filter((socket) => socket === request.socket).length > 1) request.socket.destroy();
    else response.end('good');
  });
  for (let round = 0; round < 5; round += 1) expect(await ask(site)).toBe('good');
  expect(requests).toBeGreaterThan(5);
});

test('a body in a frame arrives with it, whole and of the length that was said', async () => {
  const body = Buffer.alloc(700_000, 'b');
  const site = await siteOf(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    response.end(`${request.headers['content-length']} ${text.length} ${text.slice(0, 3)} ${text.slice(-3)}`);
  });
  const frame = { before: Buffer.from('<1>'), after: Buffer.from('<2>') };
  expect(await ask(site, { method: 'PUT', body, frame })).toBe('700006 700006 <1> <2>');
  expect(await ask(site, { method: 'PUT', body: Buffer.alloc(0) })).toBe('0 0  ');
});

test('the password is sent once it is asked for, with the body again, and a wrong one not for ever', async () => {
  const seen: (string | undefined)[] = [];
  const site = await siteOf(
    async (request, response) => {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      seen.push(request.headers.authorization);
      if (request.url === '/closed' || request.headers.authorization === undefined)
        response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="r"' }).end();
      else response.end(text);
    },
    { user: 'u', password: 'p' },
  );
  expect(await ask(site, { method: 'PUT', body: Buffer.from('body') })).toBe('body');
  expect(seen).toEqual([undefined, `Basic ${Buffer.from('u:p').toString('base64')}`]);
  const error = await failureOf(ask(site, { path: '/closed' }));
  expect(error.kind).toBe('denied');
  expect(seen).toHaveLength(3);
  expect(JSON.stringify([error.message, error.hint, error.details])).not.toContain('dTpw');
});

/** Refuses what is not signed with the nonce of the moment, once as many requests have come as are under way. */
function rotating(nonce: () => string, underWay: () => number, seen: string[]) {
  const waiting: (() => void)[] = [];
  return (request: IncomingMessage, response: ServerResponse): void => {
    const [, sent] = /nonce="([^"]*)"/.exec(request.headers.authorization ?? '') ?? [];
    seen.push(sent ?? 'none');
    waiting.push(() => {
      const challenge = `Digest realm="r", qop="auth", nonce="${nonce()}"${sent === undefined ? '' : ', stale=true'}`;
      if (sent === nonce()) response.end('good');
      else response.writeHead(401, { 'WWW-Authenticate': challenge }).end();
    });
    if (waiting.length >= underWay()) for (const answer of waiting.splice(0)) answer();
  };
}

test('a nonce that runs out while several requests are under way costs none of them', async () => {
  const seen: string[] = [];
  let [nonce, underWay] = ['one', 1];
  const someone = { user: 'u', password: 'p' };
  const site = await siteOf(
    rotating(
      () => nonce,
      () => underWay,
      seen,
    ),
    someone,
  );
  expect(await ask(site)).toBe('good');
  [nonce, underWay] = ['two', 2];
  expect(await Promise.all([ask(site), ask(site)])).toEqual(['good', 'good']);
  expect(seen).toEqual(['none', 'one', 'one', 'one', 'two', 'two']);
});

test.each(['Digest realm="r", qop="auth", nonce="n"', 'Basic realm="r"'])(
  'several requests that are asked at once who one is all get through: %s',
  async (challenge) => {
    const waiting: (() => void)[] = [];
    const site = await siteOf(
      (request, response) => {
        if (request.headers.authorization !== undefined) response.end('good');
        else waiting.push(() => response.writeHead(401, { 'WWW-Authenticate': challenge }).end());
        if (waiting.length === 2) for (const answer of waiting.splice(0)) answer();
      },
      { user: 'u', password: 'p' },
    );
    expect(await Promise.all([ask(site), ask(site)])).toEqual(['good', 'good']);
  },
);

test('a body is sent no further once the server has refused its nonce, and once more as a whole', async () => {
  const puts: { bytes: number; isOver: boolean }[] = [];
  const site = await siteOf(
    (request, response) => {
      const [, nonce] = /nonce="([^"]*)"/.exec(request.headers.authorization ?? '') ?? [];
      const refuse = (next: string): void => {
        const challenge = `Digest realm="r", qop="auth", nonce="${next}"${nonce === undefined ? '' : ', stale=true'}`;
        response.writeHead(401, { 'WWW-Authenticate': challenge }).end('once more');
      };
      if (request.method === 'GET') {
        if (nonce === undefined) refuse('old');
        else response.end('good');
        return;
      }
      const put = { bytes: 0, isOver: false };
      puts.push(put);
      request.on('data', (data: Buffer) => (put.bytes += data.length));
      const end = (): void => void (put.isOver = true);
      request.once('end', end);
      request.socket.once('close', end);
      if (nonce === 'old') refuse('new');
      else request.once('end', () => response.end('good'));
    },
    { user: 'u', password: 'p' },
  );
  expect(await ask(site)).toBe('good');
  const length = 4_000_000;
  // Slow at first, so that the answer comes before much is sent.
  const next = async (_key: string, wanted: number): Promise<number> => {
    await delay(puts.length > 1 ? 0 : 10);
    return wanted;
  };
  const request = { method: 'PUT', body: Buffer.alloc(length), pace: { limited: true, next } };
  expect(await ask(site, request)).toBe('good');
  await expect.poll(() => puts.every(({ isOver }) => isOver)).toBe(true);
  expect(puts.map(({ bytes }) => bytes)).toEqual([expect.any(Number), length]);
  expect(puts[0]?.bytes).toBeLessThan(length / 4);
});

test('a server that takes every nonce for stale is not asked for ever', async () => {
  let requests = 0;
  const site = await siteOf(
    (_, response) => {
      requests += 1;
      const challenge = `Digest realm="r", qop="auth", nonce="${requests}", stale=true`;
      response.writeHead(401, { 'WWW-Authenticate': challenge }).end();
    },
    { user: 'u', password: 'p' },
  );
  expect((await failureOf(ask(site))).kind).toBe('denied');
  expect(requests).toBeLessThan(6);
});

test('a wrong password is tried once for each request, though each refusal has a nonce of its own', async () => {
  const seen: (string | undefined)[] = [];
  const site = await siteOf(
    ({ headers }, response) => {
      seen.push(headers.authorization);
      const challenge = `Digest realm="r", qop="auth", nonce="${seen.length}"`;
      response.writeHead(401, { 'WWW-Authenticate': challenge }).end();
    },
    { user: 'u', password: 'p' },
  );
  expect((await failureOf(ask(site))).kind).toBe('denied');
  expect(seen.filter((sent) => sent !== undefined)).toHaveLength(1);
});

test('an abort rejects with the very reason while the server says nothing', async () => {
  const controller = new AbortController();
  const reason = new Error('stopped by the test');
  const site = await siteOf(() => controller.abort(reason));
  await expect(ask(site, {}, controller.signal)).rejects.toBe(reason);
});
