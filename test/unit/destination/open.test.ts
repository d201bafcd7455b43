import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import type { DestinationAccess } from '../../../src/destination/access.ts';
import { openDestination, personOf } from '../../../src/destination/open/open.ts';
import { startSilentServer } from '../../support/silent-server.ts';

describe('opening a destination', () => {
  test('opens the directory that the location names, creating it only when asked to', async () => {
    const base = await mkdtemp(join(tmpdir(), 'holdfast-open-'));
    try {
      const directory = join(base, 'my backup');
      const { href } = pathToFileURL(directory);
      await expect(openDestination(href)).rejects.toMatchObject({ kind: 'not-found' });
      expect(existsSync(directory)).toBe(false);
      await (await openDestination(href, { create: true })).close();
      await writeFile(join(directory, 'a'), 'here');
      const destination = await openDestination(directory);
      expect((await destination.get('a', undefined, new AbortController().signal)).toString()).toBe('here');
      await destination.close();
    } finally {
      await rm(base, { recursive: true });
    }
  });

  test('rejects, rather than throws, a location it does not know', async () => {
    await expect(openDestination('b2://bucket')).rejects.toMatchObject({ code: 'INVALID_DESTINATION' });
  });
});

describe('opening a place that does not answer', () => {
  const key = Buffer.alloc(32, 1).toString('base64');
  const access: DestinationAccess = {
    s3: { accessKeyId: 'AKTEST', secretAccessKey: 'secret' },
    azblob: { accountKey: key },
    sftp: { password: 'secret' },
    webdav: { user: 'keeper', password: 'secret' },
  };

  test.each([
    ['s3', (port: number) => `s3://bucket/x?endpoint=http://127.0.0.1:${port}`],
    ['azblob', (port: number) => `azblob://container/x?account=keeper&endpoint=http://127.0.0.1:${port}`],
    ['sftp', (port: number) => `sftp://keeper@127.0.0.1:${port}/x`],
    ['webdav', (port: number) => `webdav://127.0.0.1:${port}/x`],
  ] as const)('ends at once over %s when it is aborted, and hangs up', async (_, urlAt) => {
    await using server = await startSilentServer();
    const abort = new AbortController();
    const reason = new Error('enough');
    const opening = openDestination(urlAt(server.port), { access }, abort.signal);
    opening.catch(() => {});
    await Promise.race([server.connected(), opening]);
    abort.abort(reason);
    await expect(opening).rejects.toBe(reason);
    await server.deserted();
  });

  test('ends at once by rclone when it is aborted, and the program with it', async () => {
    const base = await mkdtemp(join(tmpdir(), 'holdfast-open-'));
    try {
      const [program, started] = [join(base, 'rclone'), join(base, 'started')];
      await writeFile(program, `#!/bin/sh\necho $$ > ${started}\nexec sleep 1000\n`, { mode: 0o700 });
      const abort = new AbortController();
      const reason = new Error('enough');
      const opening = openDestination('rclone:remote:x', { access: { rclone: { program } } }, abort.signal);
      opening.catch(() => {});
      const pid = await vi.waitFor(
        () => {
          const text = existsSync(started) ? readFileSync(started, 'utf8') : '';
          if (!text.endsWith('\n')) throw new Error('not started yet');
          return Number(text);
        },
        { timeout: 30_000 },
      );
      abort.abort(reason);
      await expect(opening).rejects.toBe(reason);
      expect(() => process.kill(pid, 0)).toThrow();
    } finally {
      await rm(base, { recursive: true });
    }
  });

  test('does not begin when it is aborted before', async () => {
    const reason = new Error('enough');
    await expect(openDestination('/nowhere', {}, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

test('of a person’s variables those are handed on that say how a destination is reached', () => {
  const env = { AZURE_STORAGE_KEY: 'a', SSH_AUTH_SOCK: 'b', HOLDFAST_PASSWORD: 'c', HOME: 'd' };
  expect(personOf({ env, home: '/home/me' })).toEqual({
    env: { AZURE_STORAGE_KEY: 'a', SSH_AUTH_SOCK: 'b' },
    home: '/home/me',
  });
});

describe('what rclone is given of a person’s variables', () => {
  test.each([
    ['where its configuration is', { XDG_CONFIG_HOME: '/cfg', RCLONE_CONFIG: '/c' }],
    [
      'where Windows keeps it',
      { APPDATA: 'C:/a', USERPROFILE: 'C:/u', SystemRoot: 'C:/Windows', Path: 'C:/b' },
    ],
    [
      'through which proxy it goes',
      { HTTPS_PROXY: 'http://proxy:3128', no_proxy: 'nas', ALL_PROXY: 'socks5://p' },
    ],
    ['whom it trusts', { SSL_CERT_FILE: '/ca.pem', SSL_CERT_DIR: '/ca' }],
    [
      'who it is, by "env_auth"',
      { AWS_PROFILE: 'x', GOOGLE_APPLICATION_CREDENTIALS: '/k', OS_USERNAME: 'u' },
    ],
  ])('says %s, as it does to a command', (_, env) => {
    expect(personOf({ env, home: '/home/me' }).env).toEqual(env);
  });

  test('does not hold what others may not have: what is none of its business, and what settings name as secrets', () => {
    const env = { HOLDFAST_PASSPHRASE: 'a', GITHUB_TOKEN: 'b', AWS_SECRET_ACCESS_KEY: 'c', AWS_REGION: 'd' };
    const childEnv = { GITHUB_TOKEN: 'b', AWS_REGION: 'd' };
    expect(personOf({ env, childEnv, home: '/home/me' }).env).toEqual({ AWS_REGION: 'd' });
  });
});
