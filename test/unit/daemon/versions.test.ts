import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { isNewerVersion, programVersion } from '../../../src/base/program-version.ts';
import { checkNewestVersion, checkRunningVersion } from '../../../src/daemon/doctor/versions.ts';

test.each([
  ['0.2.0', '0.1.0', true],
  ['0.10.0', '0.9.1', true],
  ['1.0.0', '0.99.99', true],
  ['0.1.0', '0.1.0', false],
  ['0.1.0', '0.2.0', false],
  ['0.2.0-rc.1', '0.1.0', true],
])('%s is newer than %s: %s', (version, than, expected) => {
  expect(isNewerVersion(version, than)).toBe(expected);
});

describe('the version that runs', () => {
  test('is fine as it is installed', () => {
    expect(checkRunningVersion('0.1.0', '0.1.0').status).toBe('ok');
  });

  test('has to be replaced when another one lies in its place', () => {
    const found = checkRunningVersion('0.1.0', '0.2.0');
    expect(found.status).toBe('warning');
    expect(found.message).toContain('0.1.0');
    expect(found.message).toContain('0.2.0');
    expect(found.hint).toContain('Restart');
  });
});

describe('the newest version', () => {
  async function answering(
    status: number,
    body: string,
  ): Promise<AsyncDisposable & { readonly url: string }> {
    const server = createServer((_request, reply) => reply.writeHead(status).end(body));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return {
      url: `http://127.0.0.1:${port}/newest`,
      [Symbol.asyncDispose]: async () => await new Promise<void>((resolve) => server.close(() => resolve())),
    };
  }
  const { signal } = new AbortController();

  test.each([
    ['text', 200, '99.0.0\n', 'warning', '99.0.0 is available'],
    ['an object', 200, '{ "version": "99.1.0", "more": 1 }', 'warning', '99.1.0 is available'],
    ['this version', 200, programVersion(), 'ok', 'is the newest'],
    ['an older version', 200, '0.0.1', 'ok', 'is the newest'],
    ['a page', 200, '<html>', 'warning', 'contains no version'],
    ['an object without it', 200, '{}', 'warning', 'contains no version'],
    ['a refusal', 404, 'no', 'warning', 'status 404'],
  ])('is read from %s', async (_what, status, body, expected, words) => {
    await using server = await answering(status, body);
    const found = await checkNewestVersion(server.url, signal);
    expect([found.status, found.message]).toEqual([expected, expect.stringContaining(words)]);
  });

  test('is not known when nobody answers', async () => {
    const found = await checkNewestVersion('http://127.0.0.1:1/newest', signal);
    expect(found).toMatchObject({ status: 'warning', message: expect.stringContaining('cannot be reached') });
  });
});
