/** Attempts to deliver, against real https servers on loopback, with a test authority. */
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { Secret } from '../../../../src/config/secret.ts';
import {
  attemptDelivery,
  type AttemptContext,
  type AttemptResult,
} from '../../../../src/partner/webhooks/attempt.ts';
import { httpsPost } from '../../../../src/partner/webhooks/https-post.ts';
import { newWebhookSecret } from '../../../../src/partner/webhooks/secrets.ts';
import { makeCertificates, type TestCertificates } from '../../../support/test-certificates.ts';
import { startSilentServer } from '../../../support/silent-server.ts';
import { answerWith, startWebhookReceiver, type WebhookReceiver } from '../../../support/webhook-receiver.ts';

let certificates: TestCertificates;
beforeAll(async () => {
  certificates = await makeCertificates();
});

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startWebhookReceiver(certificates.good);
});
afterEach(async () => {
  await receiver[Symbol.asyncDispose]();
});

const { signal } = new AbortController();
const secret = newWebhookSecret();
const event = {
  id: 'evt_01JD0K7W3V8X5Q2N6M4T9R1B0C',
  kind: 'backup.failed',
  at: 1_763_743_200_000,
  data: { customer_id: 'cus_01JD0K7W3V8X5Q2N6M4T9R1B0C', name: 'Bäckerei Ü' },
};
const body = {
  type: 'backup.failed',
  timestamp: '2025-11-21T16:40:00.000Z',
  data: event.data,
};

const STANDING = 1_763_743_200_000;
const clock = { ...systemClock, now: () => STANDING };

interface Trial {
  readonly url?: string;
  readonly port?: number;
  readonly secrets?: readonly Secret[];
  readonly context?: Partial<AttemptContext>;
  readonly until?: AbortSignal;
}

async function attempt(trial: Trial = {}): Promise<AttemptResult> {
  const port = trial.port ?? receiver.port;
  const testTargets = [{ host: 'localhost', port, authority: certificates.authority }];
  return await attemptDelivery(
    event,
    { url: trial.url ?? `https://localhost:${port}/hook?key=1`, secrets: trial.secrets ?? [secret] },
    { clock: systemClock, testTargets, ...trial.context },
    trial.until ?? signal,
  );
}

describe('a delivery', () => {
  it('posts type, time and data as JSON, signed, to the path of the endpoint', async () => {
    expect(await attempt()).toEqual({ outcome: 'delivered', status: 200, durationMs: expect.any(Number) });
    const [first] = receiver.received;
    expect(first).toMatchObject({
      method: 'POST',
      path: '/hook?key=1',
      serverName: 'localhost',
      headers: {
        host: `localhost:${receiver.port}`,
        'content-type': 'application/json',
        'webhook-id': event.id,
        'user-agent': 'Holdfast',
      },
    });
    expect(JSON.parse(first?.body ?? '')).toEqual(body);
  });

  it('is accepted by a receiver of Standard Webhooks, by either secret of a rotation', async () => {
    const replaced = newWebhookSecret();
    await attempt({ secrets: [secret, replaced] });
    const [first] = receiver.received;
    const headers = Object.fromEntries(
      Object.entries(first?.headers ?? {}).map(([name, value]) => [name, String(value)]),
    );
    for (const one of [secret, replaced]) {
      expect(new Webhook(one.reveal()).verify(first?.body ?? '', headers)).toEqual(body);
    }
    expect(() => new Webhook(newWebhookSecret().reveal()).verify(first?.body ?? '', headers)).toThrow();
  });

  it('is the same to the byte each time, and signed anew', async () => {
    await attempt({ context: { clock } });
    const later = { ...systemClock, now: () => STANDING + 5000 };
    await attempt({ context: { clock: later } });
    const [first, second] = receiver.received;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect([first, second].map((one) => one?.headers['webhook-timestamp'])).toEqual([
      '1763743200',
      '1763743205',
    ]);
    expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature']);
  });

  it.each([200, 201, 202, 204, 299])('is done when the receiver answers with %i', async (status) => {
    receiver.answer = answerWith(status);
    expect(await attempt()).toMatchObject({ outcome: 'delivered', status });
  });

  it('is given up when the receiver answers with 410', async () => {
    receiver.answer = answerWith(410, { 'retry-after': '5' });
    expect(await attempt()).toEqual({ outcome: 'gone', status: 410, durationMs: expect.any(Number) });
  });
});

describe('a failure', () => {
  it.each([400, 401, 404, 409, 429, 500, 503])('is an answer with %i', async (status) => {
    receiver.answer = answerWith(status, {}, 'canary-reply');
    const result = await attempt();
    expect(result).toMatchObject({
      outcome: 'failed',
      reason: 'status',
      status,
      error: `localhost:${receiver.port} answered with status ${status}`,
    });
    expect(JSON.stringify(result)).not.toContain('canary');
  });

  it.each([301, 302, 303, 307, 308])('is a redirect with %i, which is not followed', async (status) => {
    await using other = await startWebhookReceiver(certificates.good);
    receiver.answer = answerWith(status, { location: `https://localhost:${other.port}/` });
    const testTargets = [receiver.port, other.port].map((port) => ({
      host: 'localhost',
      port,
      authority: certificates.authority,
    }));
    expect(await attempt({ context: { testTargets } })).toMatchObject({
      outcome: 'failed',
      reason: 'redirect',
      status,
    });
    expect([receiver.received.length, other.connections()]).toEqual([1, 0]);
  });

  it('tells what the receiver asks for, up to an hour', async () => {
    const asked = async (header: string): Promise<number | null> => {
      receiver.answer = answerWith(503, { 'retry-after': header });
      const result = await attempt();
      return result.outcome === 'failed' ? result.retryAfterMs : NaN;
    };
    expect(await asked('120')).toBe(120_000);
    expect(await asked('86400')).toBe(3_600_000);
    expect(await asked('soon')).toBe(null);
    expect(await asked('-1')).toBe(null);
  });

  it('is a receiver that is not there', async () => {
    const { port } = receiver;
    await receiver[Symbol.asyncDispose]();
    expect(await attempt({ port })).toMatchObject({
      outcome: 'failed',
      reason: 'unreachable',
      status: null,
      error: `localhost:${port} cannot be reached: the connection was refused (ECONNREFUSED)`,
    });
    receiver = await startWebhookReceiver(certificates.good);
  });

  it.each([
    ['expired', 'CERT_HAS_EXPIRED'],
    ['otherHost', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['unknownAuthority', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['selfSigned', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ] as const)('is a certificate that is %s, before anything is sent', async (kind, code) => {
    await using other = await startWebhookReceiver(certificates[kind]);
    expect(await attempt({ port: other.port })).toMatchObject({
      outcome: 'failed',
      reason: 'certificate',
      error: `The certificate of localhost:${other.port} is not valid (${code})`,
    });
    expect(other.received).toEqual([]);
  });

  it('is a receiver that takes the connection and says nothing', async () => {
    await using silent = await startSilentServer();
    expect(await attempt({ port: silent.port, context: { timeoutMs: 300 } })).toMatchObject({
      outcome: 'failed',
      reason: 'timeout',
      error: `localhost:${silent.port} did not answer within 0.3 s`,
    });
    await silent.deserted();
  });

  it('is a receiver that takes the request and does not answer', async () => {
    receiver.answer = () => undefined;
    expect(await attempt({ context: { timeoutMs: 300 } })).toMatchObject({ reason: 'timeout' });
    expect(receiver.received).toHaveLength(1);
  });

  it('is a name server that does not answer', async () => {
    const result = await attempt({
      url: 'https://hooks.receiver.example/',
      context: { timeoutMs: 100, resolve: async () => await new Promise(() => {}) },
    });
    expect(result).toMatchObject({ reason: 'timeout', error: expect.stringContaining('within 0.1 s') });
  });

  it('is a name without an address, or that cannot be looked up', async () => {
    const url = 'https://hooks.receiver.example/canary?canary';
    const none = await attempt({ url, context: { resolve: async () => [] } });
    expect(none).toMatchObject({
      reason: 'name_not_found',
      error: 'hooks.receiver.example has no address',
    });
    const broken = Object.assign(new Error('query A ESERVFAIL'), { code: 'ESERVFAIL' });
    const failed = await attempt({ url, context: { resolve: async () => await Promise.reject(broken) } });
    expect(failed).toMatchObject({
      reason: 'unreachable',
      error: 'hooks.receiver.example cannot be reached: ESERVFAIL',
    });
  });

  it('is an answer that asks for another protocol, or is none', async () => {
    receiver.answer = (_count, response) => {
      response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    };
    expect(await attempt()).toMatchObject({ outcome: 'failed', reason: 'status', status: 101 });
    receiver.answer = (_count, response) => {
      response.socket?.end('HTTP/9 nonsense\r\n\r\n');
    };
    expect(await attempt()).toMatchObject({ outcome: 'failed', reason: 'unreachable' });
    receiver.answer = (_count, response) => {
      response.socket?.end(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`);
    };
    expect(await attempt()).toMatchObject({ outcome: 'failed', reason: 'unreachable' });
  });
});

describe('a reply', () => {
  it('without end costs 64 KiB of reading', async () => {
    let written = 0;
    const closed = Promise.withResolvers<undefined>();
    receiver.answer = (_count, response) => {
      const timer = setInterval(() => {
        written += 8192;
        response.write(Buffer.alloc(8192));
      }, 1);
      response.on('close', () => {
        clearInterval(timer);
        closed.resolve(undefined);
      });
    };
    expect(await attempt()).toMatchObject({ outcome: 'delivered', status: 200 });
    await closed.promise;
    expect(written).toBeLessThan(2_000_000);
  });

  it('that breaks off, or drags on until the end of the time, counts by its status', async () => {
    receiver.answer = (_count, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('x', () => response.destroy());
    };
    expect(await attempt()).toMatchObject({ outcome: 'delivered' });
    receiver.answer = (_count, response) => void response.writeHead(500).write('x');
    expect(await attempt({ context: { timeoutMs: 500 } })).toMatchObject({
      outcome: 'failed',
      reason: 'status',
      status: 500,
    });
  });
});

describe('the connection', () => {
  const post = async (name: string, addresses: readonly string[]): Promise<unknown> =>
    await httpsPost(
      {
        url: new URL(`https://${name}:${receiver.port}/hook`),
        headers: {},
        body: '{}',
        addresses,
        authority: certificates.authority,
      },
      signal,
    );

  it('goes to the address given, with certificate, SNI and Host of the name', async () => {
    await receiver[Symbol.asyncDispose]();
    receiver = await startWebhookReceiver(certificates.otherHost);
    // Nobody could find other.example, and its certificate is not for 127.0.0.1.
    expect(await post('other.example', ['127.0.0.1'])).toMatchObject({ status: 200 });
    expect(receiver.received).toMatchObject([
      { serverName: 'other.example', headers: { host: `other.example:${receiver.port}` } },
    ]);
    await expect(post('another.example', ['127.0.0.1'])).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  });

  it('tries one address after another', async () => {
    expect(await post('localhost', ['127.0.0.2', '::1', '127.0.0.1'])).toMatchObject({ status: 200 });
    await expect(post('localhost', ['127.0.0.2', '127.0.0.3'])).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
    await expect(post('localhost', [])).rejects.toThrow('no address');
  });

  it('tries eight addresses and no more', async () => {
    const deaf = Array.from({ length: 8 }, (_, index) => `127.0.0.${index + 2}`);
    expect(await post('localhost', [...deaf.slice(1), '127.0.0.1'])).toMatchObject({ status: 200 });
    await expect(post('localhost', [...deaf, '127.0.0.1'])).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('an attempt', () => {
  it('that the service ends does not count', async () => {
    receiver.answer = () => undefined;
    const stop = new AbortController();
    const reason = new Error('shutting down');
    setTimeout(() => stop.abort(reason), 50);
    await expect(attempt({ until: stop.signal })).rejects.toBe(reason);
    await expect(attempt({ until: stop.signal })).rejects.toBe(reason);
  });

  it('names neither path, query nor secret of the endpoint when it fails', async () => {
    receiver.answer = answerWith(302, { location: 'https://canary/' }, 'canary');
    const failures = [
      await attempt({ url: `https://localhost:${receiver.port}/canary?canary=canary` }),
      await attempt({ url: 'https://canary:canary@localhost/canary' }),
      await attempt({ url: 'nonsense canary' }),
    ];
    expect(failures.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'failed']);
    expect(JSON.stringify(failures)).not.toContain('canary');
    expect(JSON.stringify(failures)).not.toContain(secret.reveal());
  });
});
