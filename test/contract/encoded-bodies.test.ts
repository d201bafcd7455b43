/** A body in a coding that neither service reads is refused as that, and the coding is named; not as a broken text. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openApiSite } from '../support/api-site.ts';
import { partnerApiSite } from '../support/partner-api-site.ts';

const CODINGS: readonly (readonly [given: string, named: string | undefined])[] = [
  ['gzip', 'gzip'],
  ['GZIP', 'GZIP'],
  ['identity, br', 'br'],
  ['gzip, zstd', 'gzip, zstd'],
  ['x'.repeat(2_000), 'x'.repeat(100)],
  ['identity', undefined],
  ['', undefined],
];

test('of the agent', async () => {
  await using site = await openApiSite();
  const token = await site.token();
  for (const [given, named] of CODINGS) {
    const headers = { 'content-type': 'application/json', 'content-encoding': given };
    const before = site.agent.requested.length;
    const reply = await site.call('/v1/backup', { method: 'POST', token, headers, body: '{"source":"/x"}' });
    expect(reply.status, given).toBe(named === undefined ? 202 : 415);
    if (named === undefined) continue;
    expect(reply.json.error?.code).toBe('UNSUPPORTED_MEDIA_TYPE');
    expect(reply.text).toContain(`The body is encoded (${named}). Send it as it is`);
    expect(site.agent.requested).toHaveLength(before);
  }
  const zipped = gzipSync('{"source":"/x"}');
  const chunked = await fetch(`http://${site.host}/v1/backup`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    },
    body: new Blob([zipped]).stream(),
    duplex: 'half',
  } as RequestInit);
  expect(chunked.status).toBe(415);
  // Without a body the header says nothing of one.
  const none = await site.call('/v1/status', { token, headers: { 'content-encoding': 'gzip' } });
  expect(none.status).toBe(200);
});

test('of the Partner service, its settings page included', async () => {
  await using site = await partnerApiSite();
  for (const [given, named] of CODINGS) {
    const headers = { 'content-encoding': given };
    const reply = await site.ask('POST', '/customers', { headers, body: { name: 'x' } });
    expect(reply.status, given).toBe(named === undefined ? 201 : 415);
    if (named !== undefined) expect(reply.text).toContain(`The body is encoded (${named}). Send it as it is`);
  }
  const page = await site.api.app.inject({
    method: 'POST',
    url: '/settings/sign-in',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'content-encoding': 'gzip',
      origin: 'http://localhost:80',
      host: 'localhost:80',
    },
    payload: gzipSync('email=a'),
  });
  expect(page.statusCode).toBe(415);
});
