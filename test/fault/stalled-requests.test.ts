/** A client that stops in the middle of a request is told so before its connection ends, by both services. */
// Turn 3 of 8.
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiSite, type ApiSite } from '../support/api-site.ts';
import { partnerApiSite, type PartnerApiSite } from '../support/partner-api-site.ts';
import { PARTNER_LIMITS } from '../../src/partner/request/limits.ts';

/** Silence is noticed before the request as a whole is late, as it is with the limits of a release. */
const LIMITS = {
  headersTimeoutMs: 60_000,
  requestTimeoutMs: 60_000,
  timeoutCheckMs: 50,
  connectionTimeoutMs: 400,
  keepAliveTimeoutMs: 400,
};

let agent: ApiSite;
let partner: PartnerApiSite;
const ports = { agent: 0, partner: 0 };

beforeAll(async () => {
  agent = await openApiSite({ limits: LIMITS });
  ports.agent = agent.port;
  partner = await partnerApiSite({ ...PARTNER_LIMITS, ...LIMITS });
  partner.api.server.listen(0, '127.0.0.1');
  await once(partner.api.server, 'listening');
  ports.partner = (partner.api.server.address() as AddressInfo).port;
});

afterAll(async () => {
  const closed = once(partner.api.server, 'close');
  partner.api.server.close();
  await closed;
  await partner[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
});

describe.each(['agent', 'partner'] as const)('of the %s', (service) => {
  /** Sends the text and nothing more; everything that comes back until the connection ends. */
  async function replyTo(text: string): Promise<string> {
    const socket = connect(ports[service], '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.write(text.replaceAll('HOST', `127.0.0.1:${ports[service]}`));
    await once(socket, 'close');
    return Buffer.concat(chunks).toString();
  }

  const POST = { agent: 'POST /v1/auth/token', partner: 'POST /api/partner/v1/enroll' }[service];
  const BODY = `${POST} HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n`;
  const WHOLE = 'GET /healthz HTTP/1.1\r\nHost: HOST\r\n\r\n';

  test.each([
    ['the request line', 'GE'],
    ['the headers', 'GET /healthz HTTP/1.1\r\nHost: 127'],
    ['the body', `${BODY}Content-Length: 50\r\n\r\n{"sou`],
    ['the body, of which nothing came', `${BODY}Content-Length: 50\r\n\r\n`],
    ['a chunked body', `${BODY}Transfer-Encoding: chunked\r\n\r\n5\r\n{"sou\r\n`],
  ])('%s', async (_what, text) => {
    const reply = await replyTo(text);
    expect(reply).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(reply).toContain('"REQUEST_TIMEOUT"');
    expect(reply.toLowerCase()).toContain('connection: close');
  });

  test('the second request of a connection', async () => {
    const socket = connect(ports[service], '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.write(WHOLE.replace('HOST', `127.0.0.1:${ports[service]}`));
    await once(socket, 'data');
    socket.write('GET /hea');
    await once(socket, 'close');
    const replies = Buffer.concat(chunks).toString();
    expect(replies).toMatch(/^HTTP\/1\.1 200 /);
    expect(replies).toContain('HTTP/1.1 408 ');
  });

  test('what has sent nothing, or nothing more, is only closed', async () => {
    expect(await replyTo('')).toBe('');
    expect(await replyTo(WHOLE)).not.toContain('408');
  });
});
