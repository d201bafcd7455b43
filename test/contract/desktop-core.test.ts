/** What every request to the Desktop API meets, whatever it asks for. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiSite, type ApiReply, type ApiSite } from '../support/api-site.ts';
import type { desktopDocument } from '../support/openapi-judge.ts';

let site: ApiSite;

beforeAll(async () => {
  site = await openApiSite({ limits: { anonymous: { requests: 100_000, windowMs: 60_000 } } });
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

function codeOf(reply: ApiReply): string | undefined {
  return reply.json.error?.code;
}

function outcomeOf(reply: ApiReply): [number, string | undefined] {
  return [reply.status, codeOf(reply)];
}

describe('who may ask', () => {
  test('L13: figures need a token, and are absent where none are kept', async () => {
    const metrics = async () => ({ type: 'text/plain; version=0.0.4', text: 'up 1\n' });
    await using counting = await openApiSite({ metrics });
    expect(outcomeOf(await counting.call('/metrics'))).toEqual([401, 'UNAUTHORIZED']);
    const reply = await counting.call('/metrics', { token: await counting.token() });
    expect([reply.status, reply.text, reply.headers['content-type']]).toEqual([
      200,
      'up 1\n',
      'text/plain; version=0.0.4',
    ]);
    expect(outcomeOf(await site.call('/metrics'))).toEqual([404, 'NOT_FOUND']);
  });

  test('/status shows more to whoever has a token, and refuses one that is no good', async () => {
    const anonymous = await site.call('/v1/status');
    expect(anonymous.status).toBe(200);
    expect(Object.keys(anonymous.json.data ?? {}).sort()).toEqual(
      [
        'api_version',
        'checks',
        'headline',
        'jobs',
        'last_backup',
        'next_run_at',
        'status',
        'time',
        'uptime_seconds',
        'version',
      ].sort(),
    );
    expect(anonymous.text).not.toContain('/home/ana');

    const full = await site.call('/api/v1/status', { token: await site.token() });
    expect(full.json.data).toMatchObject({
      plan: 'business',
      rate_limit: { limit: 10_000, window_seconds: 3_600 },
      sources: [{ path: '/home/ana', last_good_backup_at: '2020-09-13T12:26:40.000Z' }],
      destinations: [{ name: 'default', reachable: true }],
    });
    expect(codeOf(await site.call('/v1/status', { token: 'rubbish' }))).toBe('INVALID_TOKEN');
  });
});

describe('every response', () => {
  test('L06: carries the security headers, a request id and the rate limit, errors of every kind too', async () => {
    const token = await site.token();
    const json = { method: 'POST', token } as const;
    const replies = [
      await site.call('/v1/status'),
      await site.call('/v1/backup', { token }),
      await site.call('/v1/backup', { ...json, body: { source: '/x' } }),
      await site.call('/v1/backup'),
      await site.call('/v1/nowhere'),
      await site.call('/v1/%zz'),
      await site.call('/v1/backup', { ...json, body: '{' }),
      await site.call('/v1/backup', { ...json, body: { nothing: 1 } }),
      await site.call('/v1/status', { method: 'DELETE' }),
      await site.call('/v1/status', { headers: { host: 'evil.example' } }),
      await site.call('/v1/status', { headers: { origin: 'null' } }),
      await site.call('/healthz'),
      await site.call('/readyz'),
      await site.call('/openapi.json'),
      await site.call('/docs'),
    ];
    for (const { headers, status } of replies) {
      expect(headers['content-security-policy'], String(status)).toContain(
        "default-src 'self'; frame-ancestors 'none'",
      );
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['x-request-id']).toMatch(/^req_[0-9A-Z]{26}$/);
      for (const name of ['limit', 'remaining', 'reset']) {
        expect(headers[`x-ratelimit-${name}`], `${status} ${name}`).toMatch(/^\d+$/);
      }
    }
  });

  test('L06: file names that look like markup come back as JSON text', async () => {
    const token = await site.token();
    const name = `/x/<script>alert(1)</script>\u202e\u001b[31m\n"'`;
    const reply = await site.call('/v1/backup', { method: 'POST', token, body: { source: name } });
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(reply.json.data?.['source']).toBe(name);
    expect(reply.text).not.toMatch(/[\p{Cc}&&[\0-~]]/v);
  });

  test('is an envelope that names the request', async () => {
    for (const id of ['abc', 'A-b_c.9', 'x'.repeat(64)]) {
      const reply = await site.call('/v1/nowhere', { headers: { 'x-request-id': id } });
      expect(reply.headers['x-request-id']).toBe(id);
      expect(reply.json.meta?.request_id).toBe(id);
    }
    for (const id of ['', 'x'.repeat(65), 'a b', '<b>', 'a/b', 'é']) {
      const reply = await site.call('/v1/status', { headers: { 'x-request-id': id } });
      expect(reply.headers['x-request-id'], id).toMatch(/^req_/);
      expect(reply.json.meta?.request_id).toBe(reply.headers['x-request-id']);
    }
    const { json } = await site.call('/v1/status');
    expect(json).toMatchObject({
      success: true,
      meta: { timestamp: new Date(site.clock.now()).toISOString() },
    });
    expect(Object.keys(json)).toEqual(['success', 'data', 'meta']);
    const failed = (await site.call('/v1/nowhere')).json;
    expect(Object.keys(failed)).toEqual(['success', 'error', 'meta']);
    expect(failed.error?.details).toEqual({});
  });

  test('is the same under both prefixes, and Location keeps the one that was asked', async () => {
    const token = await site.token();
    for (const prefix of ['/v1', '/api/v1']) {
      const made = await site.call(`${prefix}/backup`, { method: 'POST', token, body: { source: '/x' } });
      expect(made.status).toBe(202);
      expect(made.headers['location']).toBe(`${prefix}/backup/${String(made.json.data?.['id'])}`);
      expect((await site.call(String(made.headers['location']), { token })).json.data).toEqual(
        made.json.data,
      );
    }
    const [short, long] = [await site.call('/v1/status'), await site.call('/api/v1/status')];
    expect(long.json.data).toEqual(short.json.data);
  });

  test('to an unknown route or method says which there are', async () => {
    for (const path of [
      '/v1',
      '/v1/',
      '/v2/status',
      '/v1/backup/',
      '/v1/statu',
      '/v1/backup/a/b/c',
      '/.not-a-path',
    ]) {
      const reply = await site.call(path, {
        method: 'POST',
        body: '{{{',
        headers: { 'content-type': 'text/x' },
      });
      expect([reply.status, codeOf(reply)], path).toEqual([404, 'NOT_FOUND']);
    }
    const wrong = await site.call('/v1/status', { method: 'PATCH' });
    expect([wrong.status, codeOf(wrong), wrong.headers['allow']]).toEqual([
      405,
      'METHOD_NOT_ALLOWED',
      'GET, HEAD',
    ]);
    const other = await site.call('/api/v1/auth/token', { method: 'PROPFIND' });
    expect([other.status, other.headers['allow']]).toEqual([405, 'POST']);
  });
});

describe('the API description', () => {
  test('is shown on a page that needs nothing from elsewhere, with all of its operations', async () => {
    const document = JSON.parse((await site.call('/openapi.json')).text) as typeof desktopDocument;
    const page = await site.call('/docs');
    expect(page.headers['content-type']).toContain('text/html');
    for (const [path, item] of Object.entries(document.paths))
      for (const { summary } of [item.get, item.post, item.put, item.delete].filter(
        (one) => one !== undefined,
      ))
        expect(page.text).toContain(`<code>${path}</code>\n<span class="what">${summary}</span>`);
    // What is said by reference is shown, too: parameters of paths, bodies, data of replies.
    for (const name of ['If-Match', 'in_place', 'options.compression', 'items[].stored_by.key', '9.8.7'])
      expect(page.text.replaceAll('<wbr>', '')).toContain(name);
    // And what the document leaves to the schema of the settings, and what one begins with.
    for (const name of ['destinations.NAME.access.sftp.password', 'credentials create', 'data.access_token'])
      expect(page.text.replaceAll('<wbr>', '')).toContain(name);
    expect(page.text).toContain('&#34;target&#34;: &#34;/home/ana/restored&#34;');
    expect(page.text).not.toMatch(
      /<style|<script(?! type="module" src="\/docs\/)|src="(?!\/docs\/)|href="https?:|\$ref/,
    );
    expect(page.headers['content-security-policy']).toContain("trusted-types 'none'");
    const used = [...page.text.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map((match) => match[1] ?? '');
    expect(new Set(used.map((file) => /\w+$/.exec(file)?.[0]))).toEqual(new Set(['svg', 'css', 'js']));
    for (const file of used) expect((await fetch(`http://${site.host}${file}`)).status, file).toBe(200);
  });

  test('health says that the process answers, readiness that the agent has started, backups or none', async () => {
    expect((await site.call('/healthz')).text).toBe('{"status":"ok"}');
    expect((await site.call('/readyz')).status).toBe(200);
    await using fresh = await openApiSite({
      agent: { publicStatus: () => ({ ...site.agent.publicStatus(), status: 'starting' }) },
    });
    expect((await fresh.call('/readyz')).status).toBe(200);
    expect((await fresh.call('/healthz')).status).toBe(200);
  });
});
