/** Bodies, query strings and idempotency keys of the Desktop API. */
// Turn 6 of 8.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RequestError } from '../../src/base/errors.ts';
import type { Agent } from '../../src/jobs/agent.ts';
import { openApiSite, type ApiReply, type ApiSite, type CallOptions } from '../support/api-site.ts';

let site: ApiSite;
let token: string;
/** What the agent does before it queues a backup. */
let beforeBackup: () => Promise<void> = async () => undefined;

beforeAll(async () => {
  const queue: { requestBackup?: Agent['requestBackup'] } = {};
  site = await openApiSite({
    agent: {
      requestBackup: async (request, trigger) => {
        await beforeBackup();
        return (await queue.requestBackup?.(request, trigger)) ?? expect.fail('there is no queue');
      },
    },
  });
  const { testAgent } = await import('../support/api-site.ts');
  const plain = testAgent(site.clock);
  queue.requestBackup = async (request, trigger) => {
    made += 1;
    return await plain.requestBackup(request, trigger);
  };
  token = await site.token();
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

/** Backups that were queued. */
let made = 0;

async function post(
  body: unknown,
  options: CallOptions & { readonly key?: string; readonly path?: string } = {},
) {
  const { key, path = '/v1/backup', headers = {}, ...more } = options;
  const withKey = key === undefined ? headers : { ...headers, 'idempotency-key': key };
  return await site.inject(path, { method: 'POST', token, body, ...more, headers: withKey });
}

function outcome(reply: ApiReply): [number, string | undefined] {
  return [reply.status, reply.json.error?.code];
}

describe('a body', () => {
  test('with a misspelt field is refused, and the field that was meant is named', async () => {
    const nested = await post({ source: '/x', options: { encrpytion: false } });
    expect(outcome(nested)).toEqual([400, 'UNKNOWN_FIELD']);
    expect(nested.json.error?.details).toEqual({
      field: 'options.encrpytion',
      did_you_mean: 'options.encryption',
    });
    expect(nested.json.error?.message).toContain("Did you mean 'encryption'?");

    const top = await post({ sorce: '/x' });
    expect(top.json.error?.details).toEqual({ field: 'sorce', did_you_mean: 'source' });
    const far = await post({ source: '/x', colour: 'blue' });
    expect(far.json.error?.details).toEqual({ field: 'colour' });
    expect(made).toBe(0);
  });

  test('is never made to fit: types stay as they were sent', async () => {
    const wrong = [
      { source: 5 },
      { source: null },
      { source: ['/x'] },
      { source: '/x', options: { encryption: 'false' } },
      { source: '/x', options: { deduplication: 1 } },
      { source: '/x', options: { exclude: '*.tmp' } },
      { source: '/x', options: null },
    ];
    for (const body of wrong) {
      const reply = await post(body);
      expect(outcome(reply), JSON.stringify(body)).toEqual([400, 'INVALID_REQUEST']);
      expect(reply.json.error?.details['problems'], JSON.stringify(body)).not.toEqual([]);
    }
    expect(made).toBe(0);
  });

  test('without a field that is needed is told which', async () => {
    const reply = await post({});
    expect(outcome(reply)).toEqual([400, 'MISSING_FIELD']);
    expect(reply.json.error?.details).toEqual({ field: 'source' });
    const login = await site.inject('/v1/auth/token', { method: 'POST', body: { api_key: 'x' } });
    expect(outcome(login)).toEqual([400, 'MISSING_FIELD']);
  });

  test('that is no JSON, or not one object, is refused', async () => {
    const broken = [
      '{',
      '{"source":"/x"',
      "{'source':'/x'}",
      '{"source":"/x",}',
      'x',
      '{"source":"/x"}{}',
      '"\u0001"',
    ];
    for (const body of broken) expect(outcome(await post(body)), body).toEqual([400, 'INVALID_JSON']);
    const twice = ['{"source":"/a","source":"/b"}', String.raw`{"source":"/a","\u0073ource":"/b"}`];
    for (const body of twice) expect(outcome(await post(body)), body).toEqual([400, 'INVALID_JSON']);
    for (const body of ['{"__proto__":{"x":1},"source":"/x"}', String.raw`{"__pr\u006fto__":1}`]) {
      expect(outcome(await post(body)), body).toEqual([400, 'INVALID_JSON']);
    }
    for (const body of ['[]', '5', 'null', '"text"', 'true', '']) {
      expect(outcome(await post(body)), body).toEqual([400, 'INVALID_REQUEST']);
    }
    const deep = '['.repeat(500_000);
    expect((await post(`{"source":${deep}`)).status).toBe(400);
    expect((await post(`{"source":[${'0,'.repeat(400_000)}0]}`)).status).toBe(400);
    expect(
      outcome(await post(`{${Array.from({ length: 50_000 }, (_, n) => `"f${n}":1`).join(',')}}`)),
    ).toEqual([400, 'INVALID_REQUEST']);
    expect(made).toBe(0);
  });

  test('that may be left out is not left out by a null', async () => {
    for (const path of ['/v1/check', '/v1/prune', '/v1/pause'])
      for (const body of ['null', '[]', '5'])
        expect(outcome(await post(body, { path })), `${path} ${body}`).toEqual([400, 'INVALID_REQUEST']);
  });

  test('of bytes that are no UTF-8 is refused: they would become another path', async () => {
    const head = `POST /v1/backup HTTP/1.1\r\nHost: ${site.host}\r\nAuthorization: Bearer ${token}\r\n`;
    const body = Buffer.from('{"source":"/caf\xe9"}', 'latin1');
    const reply = await site.raw(
      Buffer.concat([
        Buffer.from(
          `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`,
        ),
        body,
      ]),
    );
    expect(reply).toContain('INVALID_JSON');
    expect(made).toBe(0);
  });

  test('where none is taken is refused as well', async () => {
    expect(outcome(await post({ x: 1 }, { path: '/v1/resume' }))).toEqual([400, 'UNKNOWN_FIELD']);
    expect((await post(undefined, { path: '/v1/resume' })).status).toBe(200);
    expect((await post({}, { path: '/v1/resume' })).status).toBe(200);
    const typed = { path: '/v1/resume', headers: { 'content-type': 'application/json' } };
    expect((await post(undefined, typed)).status).toBe(200);
  });

  test('L12: of more than a mebibyte is refused, however it is sent', async () => {
    const large = await post({ source: `/${'x'.repeat(1_048_576)}` });
    expect(outcome(large)).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const head = `POST /v1/backup HTTP/1.1\r\nHost: ${site.host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
    const announced = await site.raw(`${head}Content-Length: 1073741824\r\n\r\n{`);
    expect(announced).toContain('HTTP/1.1 413 ');
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const chunked = await site.raw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(20)}`);
    expect(chunked).toContain('HTTP/1.1 413 ');
    expect(made).toBe(0);
  });
});

describe('a query string', () => {
  test('is read as the types it stands for, and holds known parameters only', async () => {
    expect((await site.inject('/v1/backup?limit=5', { token })).status).toBe(200);
    const unknown = await site.inject('/v1/backup?limt=5', { token });
    expect(outcome(unknown)).toEqual([400, 'UNKNOWN_FIELD']);
    expect(unknown.json.error?.details).toEqual({ field: 'limt', did_you_mean: 'limit' });
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'limit=1.5', 'limit=1&limit=2', 'limit=']) {
      expect(outcome(await site.inject(`/v1/backup?${query}`, { token })), query).toEqual([
        400,
        'INVALID_REQUEST',
      ]);
    }
    expect(outcome(await site.inject('/v1/status?x=1'))).toEqual([400, 'UNKNOWN_FIELD']);
    expect(outcome(await site.inject('/v1/backup?__proto__=1', { token }))).toEqual([400, 'UNKNOWN_FIELD']);
  });

  test('with a cursor that was not given out for this list is refused', async () => {
    const { cursors } = site.server.app;
    const good = cursors.seal('/backup', {}, 'bkp_00000000000000000000000000');
    for (const cursor of [
      'x',
      'AAAA',
      `${good}A`,
      good.slice(1),
      good.toLowerCase(),
      '%00',
      good.replace(/.$/, '='),
    ]) {
      const reply = await site.inject(`/v1/backup?cursor=${cursor}`, { token });
      expect(outcome(reply), cursor).toEqual([400, 'INVALID_CURSOR']);
    }
    expect(outcome(await site.inject(`/v1/backup?status=queued&cursor=${good}`, { token }))).toEqual([
      400,
      'INVALID_CURSOR',
    ]);
    expect(outcome(await site.inject(`/v1/restore?cursor=${good}`, { token }))).toEqual([
      400,
      'INVALID_CURSOR',
    ]);
    expect((await site.inject(`/v1/backup?cursor=${good}`, { token })).status).toBe(200);
  });
});

describe('an idempotency key', () => {
  test('makes a repeated request have one effect and one response, under either prefix', async () => {
    made = 0;
    const first = await post({ source: '/x', options: { tags: ['a'] } }, { key: 'once' });
    expect([first.status, first.headers['idempotent-replayed'], made]).toEqual([202, undefined, 1]);
    const again = await post({ options: { tags: ['a'] }, source: '/x' }, { key: 'once' });
    expect([again.status, again.headers['idempotent-replayed'], made]).toEqual([202, 'true', 1]);
    expect(again.text).toBe(first.text);
    expect(again.headers['location']).toBe(first.headers['location']);
    expect(again.headers['x-request-id']).toBe(again.json.meta?.request_id);

    const other = await post(
      { source: '/x', options: { tags: ['a'] } },
      { key: 'once', path: '/api/v1/backup' },
    );
    expect(other.text).toBe(first.text);
    expect(other.headers['location']).toBe(`/api${String(first.headers['location'])}`);
    expect(made).toBe(1);
  });

  test('cannot be used for another request, but by another caller, and again after a day', async () => {
    made = 0;
    await post({ source: '/x' }, { key: 'mine' });
    expect(outcome(await post({ source: '/y' }, { key: 'mine' }))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    const theirs = await post({ source: '/y' }, { key: 'mine', token: await site.token() });
    expect([theirs.status, made]).toEqual([202, 2]);
    await site.clock.advance(86_400_001);
    token = await site.token();
  });

  test('of a request that is still being answered is refused with 409', async () => {
    made = 0;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const begun = Promise.withResolvers<undefined>();
    beforeBackup = async () => {
      begun.resolve(undefined);
      await promise;
    };
    const first = post({ source: '/x' }, { key: 'slow' });
    // Two requests on their way may overtake each other.
    await begun.promise;
    const second = await post({ source: '/x' }, { key: 'slow' });
    expect(outcome(second)).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
    resolve(undefined);
    beforeBackup = async () => undefined;
    expect((await first).status).toBe(202);
    expect((await post({ source: '/x' }, { key: 'slow' })).headers['idempotent-replayed']).toBe('true');
    expect(made).toBe(1);
  });

  test('has a thousand requests at once make one backup for each key', async () => {
    made = 0;
    const keys = Array.from({ length: 1_000 }, (_, index) => `key ${(index * 7) % 100}`);
    const replies = await Promise.all(keys.map(async (key) => await post({ source: '/x' }, { key })));
    expect(made).toBe(100);
    for (const { status } of replies) expect([202, 409]).toContain(status);
  });

  test('keeps a refusal that will not change, and lets the request be repeated after one that may', async () => {
    const fail = (code: string) => {
      beforeBackup = async () => {
        throw new RequestError(code, 'That did not work', { hint: 'Try otherwise.' });
      };
    };
    fail('INVALID_SOURCE');
    expect(outcome(await post({ source: '/x' }, { key: 'final' }))).toEqual([400, 'INVALID_SOURCE']);
    fail('QUEUE_FULL');
    expect(outcome(await post({ source: '/x' }, { key: 'later' }))).toEqual([409, 'QUEUE_FULL']);
    fail('OF_NO_REGISTRY');
    expect(outcome(await post({ source: '/x' }, { key: 'broken' }))).toEqual([500, 'INTERNAL_ERROR']);
    beforeBackup = async () => undefined;
    const replayed = await post({ source: '/x' }, { key: 'final' });
    expect([outcome(replayed), replayed.headers['idempotent-replayed']]).toEqual([
      [400, 'INVALID_SOURCE'],
      'true',
    ]);
    expect((await post({ source: '/x' }, { key: 'later' })).status).toBe(202);
    expect((await post({ source: '/x' }, { key: 'broken' })).status).toBe(202);
  });

  test('has 1 to 255 printable characters', async () => {
    for (const key of ['', ' ', 'x'.repeat(256), 'é']) {
      expect(outcome(await post({ source: '/x' }, { key })), key).toEqual([400, 'INVALID_REQUEST']);
    }
    expect((await post({ source: '/x' }, { key: 'x'.repeat(255) })).status).toBe(202);
  });

  test('is not looked at for a token: each login gets its own', async () => {
    const { api_key, secret } = site.credential();
    const options = { path: '/v1/auth/token', key: 'login' };
    const first = await post({ api_key, secret }, options);
    const second = await post({ api_key, secret }, options);
    expect(second.headers['idempotent-replayed']).toBeUndefined();
    expect(second.json.data?.['token']).not.toBe(first.json.data?.['token']);
  });
});
