/** What is no HTTP, or comes too slowly, or breaks off: it is answered, or cut, and harms nothing. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiSite, type ApiSite } from '../support/api-site.ts';

let site: ApiSite;

beforeAll(async () => {
  site = await openApiSite({
    limits: {
      anonymous: { requests: 1_000_000, windowMs: 60_000 },
      headersTimeoutMs: 400,
      requestTimeoutMs: 600,
      timeoutCheckMs: 50,
      connectionTimeoutMs: 500,
      keepAliveTimeoutMs: 300,
      handlerTimeoutMs: 900,
      maxConnections: 60,
    },
    agent: { fullStatus: async () => await new Promise(() => undefined) },
  });
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

async function stillServes(): Promise<void> {
  expect((await site.call('/v1/status')).status).toBe(200);
}

/** The JSON body of a raw response. */
function bodyOf(reply: string): { readonly success: boolean; readonly error: { readonly code: string } } {
  return JSON.parse(reply.slice(reply.lastIndexOf('\r\n\r\n') + 4));
}

async function open(): Promise<Socket> {
  const socket = connect(site.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

describe('malformed HTTP', () => {
  test('L12: is answered in the envelope, with every header a response has', async () => {
    const host = `Host: ${site.host}`;
    const requests: [string, number, string][] = [
      ['rubbish\r\n\r\n', 400, 'INVALID_REQUEST'],
      [`GET /v1/status HTTP/9.9\r\n${host}\r\n\r\n`, 400, 'INVALID_REQUEST'],
      [`GET /v1/status\r\n\r\n`, 403, 'HOST_NOT_ALLOWED'],
      [`G\0T /v1/status HTTP/1.1\r\n${host}\r\n\r\n`, 400, 'INVALID_REQUEST'],
      [`GET /v1/sta tus HTTP/1.1\r\n${host}\r\n\r\n`, 400, 'INVALID_REQUEST'],
      [`GET /v1/status HTTP/1.1\r\n${host}\r\nbad header: x\r\n\r\n`, 400, 'INVALID_REQUEST'],
      [`GET /v1/status HTTP/1.1\r\n${host}\r\nX: a\0b\r\n\r\n`, 400, 'INVALID_REQUEST'],
      [
        `POST /v1/backup HTTP/1.1\r\n${host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx`,
        400,
        'INVALID_REQUEST',
      ],
      [`POST /v1/backup HTTP/1.1\r\n${host}\r\nContent-Length: -1\r\n\r\n`, 400, 'INVALID_REQUEST'],
      [
        `POST /v1/backup HTTP/1.1\r\n${host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
        400,
        'INVALID_REQUEST',
      ],
      [`GET /v1/status HTTP/1.1\r\n${host}\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
      [`GET /v1/${'x'.repeat(17_000)} HTTP/1.1\r\n${host}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
      [`GET /v1/status HTTP/1.1\r\n${host}\r\n${'a: bcd\r\n'.repeat(5_000)}\r\n`, 431, 'HEADERS_TOO_LARGE'],
    ];
    for (const [request, status, code] of requests) {
      const reply = await site.raw(request);
      const shown = JSON.stringify(request.slice(0, 80));
      expect(reply, shown).toContain(`HTTP/1.1 ${status} `);
      expect(bodyOf(reply), shown).toMatchObject({ success: false, error: { code, details: {} } });
      for (const name of [
        'x-request-id: req_',
        'x-ratelimit-limit: ',
        'x-ratelimit-remaining: ',
        'nosniff',
      ]) {
        expect(reply, shown).toContain(name);
      }
    }
    await stillServes();
  });

  test('after a good request leaves that one its answer', async () => {
    const reply = await site.raw(`GET /v1/status HTTP/1.1\r\nHost: ${site.host}\r\n\r\nrubbish\r\n\r\n`);
    expect(reply.startsWith('HTTP/1.1 200 ')).toBe(true);
    expect(bodyOf(reply).error.code).toBe('INVALID_REQUEST');
  });

  test('in the chunks of a body is answered too', async () => {
    const token = await site.token();
    const head = `POST /v1/backup HTTP/1.1\r\nHost: ${site.host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const reply = await site.raw(`${head}zz\r\n{}\r\n0\r\n\r\n`);
    expect(reply).toContain('HTTP/1.1 400 ');
    expect(bodyOf(reply).success).toBe(false);
    await stillServes();
  });

  test('many requests sent in one go are all answered, in their order', async () => {
    const one = (id: number): string =>
      `GET /healthz HTTP/1.1\r\nHost: ${site.host}\r\nX-Request-Id: n${id}\r\n\r\n`;
    const all = Array.from({ length: 50 }, (_, id) => one(id)).join('');
    const reply = await site.raw(all);
    expect([...reply.matchAll(/x-request-id: n(\d+)/g)].map(([, id]) => Number(id))).toEqual(
      Array.from({ length: 50 }, (_, id) => id),
    );
  });

  test('of any form never takes the server down or gets a 5xx', async () => {
    const lines = fc.constantFrom(
      'GET /v1/status HTTP/1.1\r\n',
      'POST /v1/backup HTTP/1.1\r\n',
      `Host: ${site.host}\r\n`,
      'Content-Length: 3\r\n',
      'Content-Length: 99999999999999999999\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Transfer-Encoding: gzip, chunked\r\n',
      'Expect: 100-continue\r\n',
      'Expect: something\r\n',
      'Connection: close\r\n',
      'Upgrade: websocket\r\n',
      'Content-Type: application/json\r\n',
      'Authorization: Bearer x.y.z\r\n',
      '\r\n',
      '\r\n\r\n',
      '{"source":"/x"}',
      '5\r\nhello\r\n0\r\n\r\n',
      'ffffffffffffffff\r\n',
    );
    const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array).toString('latin1'));
    const requests = fc.array(fc.oneof({ weight: 4, arbitrary: lines }, bytes), { maxLength: 14 });
    await fc.assert(
      fc.asyncProperty(fc.array(requests, { minLength: 20, maxLength: 20 }), async (together) => {
        const replies = await Promise.all(
          together.map(async (parts) => await exchangeAndEnd(Buffer.from(parts.join(''), 'latin1'))),
        );
        for (const reply of replies) {
          for (const [, status] of reply.matchAll(/HTTP\/1\.1 (\d{3})/g))
            expect(Number(status)).toBeLessThan(500);
          if (reply.includes('content-length')) expect(bodyOf(reply)).toHaveProperty('success');
        }
      }),
      { numRuns: 25 },
    );
    await stillServes();
  });
});

/** Sends bytes, and the end of the connection. */
async function exchangeAndEnd(bytes: Uint8Array): Promise<string> {
  const socket = await open();
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.end(bytes);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

describe('a request that takes too long', () => {
  test('L12: to send its headers or its body is ended with 408, or cut', async () => {
    for (const start of [
      'GET /v1/sta',
      `POST /v1/backup HTTP/1.1\r\nHost: ${site.host}\r\nContent-Length: 9\r\n\r\n{`,
    ]) {
      const socket = await open();
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.write(start);
      const drip = setInterval(() => socket.write('x'), 100);
      await once(socket, 'close');
      clearInterval(drip);
      const reply = Buffer.concat(chunks).toString();
      if (reply !== '') expect(reply).toMatch(/HTTP\/1\.1 4(08|01|00) /);
    }
    const silent = await open();
    const from = performance.now();
    silent.resume();
    await once(silent, 'close');
    expect(performance.now() - from).toBeLessThan(3_000);
  });

  test('L12: to be answered gets 503, and its connection is not cut before', async () => {
    const reply = await site.call('/v1/status', { token: await site.token() });
    expect([reply.status, reply.json.error?.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  });

  test('L12: may take its time where it follows events', async () => {
    const token = await site.token();
    const socket = await open();
    socket.resume();
    let closed = false;
    socket.once('close', () => {
      closed = true;
    });
    socket.write(`GET /v1/events HTTP/1.1\r\nHost: ${site.host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    await new Promise((resolve) => {
      setTimeout(resolve, 1_500);
    });
    expect(closed).toBe(false);
    socket.destroy();
  });
});

describe('too many connections', () => {
  test('L12: are refused, while those there are go on', async () => {
    const first = await open();
    const others = await Promise.all(Array.from({ length: 120 }, async () => await open()));
    const closed = others.map(async (socket) => {
      socket.resume();
      await once(socket, 'close');
    });
    first.write(`GET /healthz HTTP/1.1\r\nHost: ${site.host}\r\n\r\n`);
    const [answer] = await once(first, 'data');
    expect(String(answer)).toContain('HTTP/1.1 200 ');
    first.destroy();
    await Promise.all(closed);
    await stillServes();
  });
});

describe('the end of the server', () => {
  test('ends event streams and lets running requests finish', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const ending = await openApiSite({
      agent: {
        pause: async () => {
          await promise;
        },
      },
    });
    const token = await ending.token();
    const stream = connect(ending.port, '127.0.0.1');
    stream.on('error', () => undefined);
    stream.write(`GET /v1/events HTTP/1.1\r\nHost: ${ending.host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    await once(stream, 'data');
    const running = ending.call('/v1/pause', { method: 'POST', token, body: {} });
    await new Promise((wait) => {
      setTimeout(wait, 200);
    });
    const closed = ending.server.close(3_000);
    stream.resume();
    await once(stream, 'close');
    resolve(undefined);
    expect((await running).status).toBe(200);
    await closed;
    await ending[Symbol.asyncDispose]();
  });
});
