/** What is no HTTP, or comes too slowly, or breaks off: it is answered, or cut, and harms nothing. */
// Turn 2 of 8.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiSite, type ApiSite } from '../support/api-site.ts';
import { repliesIn } from '../support/http-replies.ts';
import { judge, type JudgedReply } from '../support/openapi-judge.ts';

/** 20,000 connections with HOLDFAST_LONG=1. */
const LONG = process.env['HOLDFAST_LONG'] === '1';
const EXCHANGES = LONG ? 20_000 : 500;

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
    agent: {
      fullStatus: async () => await new Promise(() => undefined),
      content: async () => await Promise.resolve({ name: 'slow', size: PIECE * 3, read: slowly }),
    },
  });
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

const PIECE = 4_000_000;

/** As what comes from a destination that says nothing for longer than a connection may be silent. */
async function* slowly(): AsyncGenerator<Buffer> {
  for (let i = 0; i < 3; i += 1) {
    yield Buffer.alloc(PIECE);
    await delay(1_200);
  }
}

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

  test(
    `of any form never takes the server down or gets a 5xx: ${EXCHANGES.toLocaleString('en')} connections`,
    async () => {
      const seen = new Map<number, number>();
      await fc.assert(
        fc.asyncProperty(fc.array(connectionText(), { minLength: 20, maxLength: 20 }), async (together) => {
          const replies = await Promise.all(
            together.map(
              async ({ text, pieces }) => await exchangeAndEnd(Buffer.from(text, 'latin1'), pieces),
            ),
          );
          for (const [index, bytes] of replies.entries()) {
            for (const reply of repliesIn(bytes)) {
              seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1);
              const sent = JSON.stringify(together[index]?.text.slice(0, 300));
              expect(reply.status, sent).toBeLessThan(500);
              judgeRaw(reply);
            }
          }
        }),
        { numRuns: EXCHANGES / 20 },
      );
      if (LONG) process.stdout.write(`${JSON.stringify(Object.fromEntries(seen))}\n`);
      for (const status of [200, 400, 403]) expect(seen.get(status), String(status)).toBeGreaterThan(0);
      await stillServes();
    },
    LONG ? 3_600_000 : 120_000,
  );
});

/** By the document, as far as it can be known what the request was. */
function judgeRaw(reply: JudgedReply): void {
  if (reply.status === 200) {
    expect(reply.headers['x-request-id']).toBeDefined();
    return;
  }
  // A reply to HEAD has a length and no body, so there is no HEAD among the requests.
  judge('GET', '/not/a/route', reply);
}

interface ConnectionText {
  readonly text: string;
  /** Sent in so many parts. */
  readonly pieces: number;
}

/** Lines of HTTP in any order, whole requests that were damaged, and bytes. */
function connectionText(): fc.Arbitrary<ConnectionText> {
  const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array).toString('latin1'));
  const shuffled = fc.array(fc.oneof({ weight: 6, arbitrary: LINES }, bytes), { maxLength: 14 });
  /** The first as often as all others together. */
  const mostly = (right: string, ...others: string[]): fc.Arbitrary<string> =>
    fc.oneof(fc.constant(right), fc.constantFrom(...others));
  const whole = fc
    .record({
      method: fc.oneof(
        { weight: 6, arbitrary: mostly('GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT') },
        { weight: 1, arbitrary: fc.constantFrom('get', 'PRI', 'M-SEARCH', '') },
        { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
      ),
      target: mostly(
        '/v1/status',
        '/v1/backup',
        '/v1/status?a=%00',
        '*',
        '//',
        'http://localhost/v1/status',
        '/\u00e9',
        '/%zz',
        `/${'a'.repeat(9_000)}`,
        '',
      ),
      version: fc.oneof(
        { weight: 4, arbitrary: fc.constant('HTTP/1.1') },
        fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.1 ', 'http/1.1', 'X', ''),
      ),
      host: mostly('Host: HOST\r\n', ''),
      fields: fc.oneof(fc.constant([]), fc.array(LINES, { maxLength: 4 })),
      body: fc.oneof(
        fc.constant(''),
        fc.constantFrom('{"source":"/x"}', '3\r\nabc\r\n0\r\n\r\n', '5;x=y\r\nhello\r\n0\r\nT: v\r\n\r\n'),
        bytes,
      ),
    })
    .map(
      ({ method, target, version, host, fields, body }) =>
        `${method} ${target} ${version}\r\n${host}${fields.join('')}\r\n${body}`,
    );
  const damaged = fc
    .tuple(
      whole,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }),
      fc.option(fc.nat(), { nil: undefined, freq: 4 }),
    )
    .map(([text, changes, cut]) => {
      const changed = Buffer.from(text, 'latin1');
      for (const [place, value] of changes) if (changed.length > 0) changed[place % changed.length] = value;
      return changed
        .subarray(0, cut === undefined ? changed.length : cut % (changed.length + 1))
        .toString('latin1');
    });
  const one = fc.oneof(
    shuffled.map((parts) => parts.join('')),
    whole,
    damaged,
  );
  return fc.record({
    text: fc
      .array(one, { minLength: 1, maxLength: 3 })
      .map((all) => all.join('').replaceAll('HOST', site.host)),
    pieces: fc.constantFrom(1, 1, 1, 2, 5),
  });
}

const LINES = fc.constantFrom(
  'GET /v1/status HTTP/1.1\r\n',
  'POST /v1/backup HTTP/1.1\r\n',
  'Host: HOST\r\n',
  'Host: evil.example\r\n',
  'Host:\r\n',
  'Content-Length: 3\r\n',
  'Content-Length: 0x3\r\n',
  'Content-Length: 3, 3\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Transfer-Encoding : chunked\r\n',
  'Expect: 100-continue\r\n',
  'Expect: something\r\n',
  'Connection: close\r\n',
  'Connection: keep-alive, Upgrade\r\n',
  'Upgrade: websocket\r\n',
  'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n',
  'Content-Type: application/json\r\n',
  'Content-Encoding: gzip\r\n',
  'Authorization: Bearer x.y.z\r\n',
  ' folded: line\r\n',
  '\tfolded\r\n',
  'No-Colon\r\n',
  ': no name\r\n',
  'X: \u0001\r\n',
  'X: a\n',
  'X: a\r',
  `X: ${'y'.repeat(9_000)}\r\n`,
  '\r\n',
  '\r\n\r\n',
  '\n\n',
  '{"source":"/x"}',
  '5\r\nhello\r\n0\r\n\r\n',
  'ffffffffffffffff\r\n',
  '-1\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\u0016\u0003\u0001\u0002\u0000\u0001\u0000',
);

/** Sends bytes in pieces, and the end of the connection; gives what comes back. */
async function exchangeAndEnd(bytes: Buffer, pieces: number): Promise<Buffer> {
  const socket = await open();
  // A server that has answered may close before it was sent everything, which is an error here.
  const { promise: closed, resolve } = Promise.withResolvers<unknown>();
  socket.once('close', resolve);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const size = Math.ceil(bytes.length / pieces);
  for (let piece = 1; piece < pieces; piece += 1) {
    socket.write(bytes.subarray((piece - 1) * size, piece * size));
    await setImmediate();
  }
  socket.end(bytes.subarray((pieces - 1) * size));
  await closed;
  return Buffer.concat(chunks);
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

  test('L12: to take what it has asked for is cut, and not where it waits for the agent', async () => {
    const authorization = `Bearer ${await site.token()}`;
    const address = `http://${site.host}/v1/files/content?path=/slow`;
    const whole = await fetch(address, { headers: { authorization } });
    expect((await whole.arrayBuffer()).byteLength).toBe(3 * PIECE);

    const idle = await open();
    const closed = once(idle, 'close');
    idle.pause();
    idle.write(
      `GET /v1/files/content?path=/slow HTTP/1.1\r\nHost: ${site.host}\r\nAuthorization: ${authorization}\r\n\r\n`,
    );
    await delay(4_000);
    idle.resume();
    let received = 0;
    idle.on('data', (bytes: Buffer) => (received += bytes.length));
    await closed;
    expect(received).toBeLessThan(3 * PIECE);
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
  test('L12: cost those that have waited for longest, and new ones are served all the time', async () => {
    const others = await Promise.all(Array.from({ length: 120 }, async () => await open()));
    const closed = others.slice(0, 60).map(async (socket) => {
      socket.resume();
      await once(socket, 'close');
    });
    await stillServes();
    await Promise.all(closed);
    await stillServes();
    for (const socket of others) socket.destroy();
  });
});

describe('the end of the server', () => {
  test('ends event streams and lets running requests finish', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const { promise: runs, resolve: tellRuns } = Promise.withResolvers<undefined>();
    const ending = await openApiSite({
      agent: {
        pause: async () => {
          tellRuns(undefined);
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
    await runs;
    const closed = ending.server.close(3_000);
    stream.resume();
    await once(stream, 'close');
    resolve(undefined);
    expect((await running).status).toBe(200);
    await closed;
    await ending[Symbol.asyncDispose]();
  });
});
