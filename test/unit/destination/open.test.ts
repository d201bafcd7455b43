import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RequestError } from '../../../src/base/errors.ts';
import { openDestination, parseLocation } from '../../../src/destination/open.ts';

function refusal(location: string): RequestError {
  try {
    parseLocation(location);
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
  throw new Error(`${location} was accepted`);
}

describe('a location', () => {
  test.each([
    ['/mnt/backup', '/mnt/backup'],
    ['/mnt/backup/', '/mnt/backup'],
    ['backup', resolve('backup')],
    ['./a:b', resolve('a:b')],
    ['../backup', resolve('../backup')],
    ['/mnt/x:y@z?token=1', '/mnt/x:y@z?token=1'],
    ['/mnt/~', '/mnt/~'],
    ['./~', resolve('~')],
    ['file:///mnt/backup', '/mnt/backup'],
    ['FILE:///mnt/backup', '/mnt/backup'],
    ['file:/mnt/backup', '/mnt/backup'],
    ['file://localhost/mnt/backup', '/mnt/backup'],
    ['file:///mnt/my%20backup%3F', '/mnt/my backup?'],
    ['file:///mnt/a:b@c', '/mnt/a:b@c'],
  ])('%j is the directory %j', (location, directory) => {
    expect(parseLocation(location)).toEqual({ kind: 'local', directory });
  });

  test('of any absolute path means the same as a path and as a URL', () => {
    const segment = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[\0/]/.test(text));
    const property = fc.property(fc.array(segment, { minLength: 1 }), (segments) => {
      const path = resolve(`/${segments.join('/')}`);
      expect(parseLocation(path).directory).toBe(path);
      expect(parseLocation(pathToFileURL(path).href).directory).toBe(path);
    });
    fc.assert(property);
  });

  test.each([
    '',
    '   ',
    '/mnt/\0',
    '~',
    '~/backup',
    '~user/backup',
    's3://bucket/prefix?endpoint=https://example.org&region=eu&path_style=true',
    'sftp://user@host:22/dir',
    'https://example.org:8443/a@b',
    'webdavs://[::1]:443/dir',
    'gs://bucket',
    'rclone:remote:path',
    'host:/backup',
    'user@host:/backup',
    '1:2',
    'file:backup',
    'file://server/share',
    'file://mnt/backup',
    'file:///mnt/backup?x=1',
    'file:///mnt/backup#x',
    'file:///mnt/a%2Fb',
    'file:///mnt/%00',
    'file:///mnt/%ff',
  ])('%j is refused as INVALID_DESTINATION, saying which kinds exist', (location) => {
    const error = refusal(location);
    expect(error.code).toBe('INVALID_DESTINATION');
    expect(error.hint).toContain('file:///');
    expect(error.message).toMatch(/\.$/);
  });

  test('of a kind that does not exist is named by its scheme', () => {
    expect(refusal('S3://bucket/prefix').message).toContain('"s3:"');
  });

  test.each([
    's3://canary:canary@bucket/prefix',
    'sftp://user:canary@host:22/dir',
    'sftp://user%3Acanary@host/dir',
    'sftp://:canary@host/dir',
    'sftp://user:can/ary@host/dir',
    'sftp://user:can?ary@host/dir',
    'sftp://user:c@n@ry@host/dir',
    'sftp://us@er:canary@host/dir',
    'file://user:canary@/dir',
    'https://host/dir?password=canary',
    's3://bucket/prefix?region=eu&secret_access_key=canary',
    's3://bucket/prefix?accessKeyId=canary',
    's3://bucket/prefix?X-Amz-Signature=canary',
    's3://bucket/prefix?X-Amz-Security-Token=canary',
    'azblob://container/prefix?sv=2024&sig=canary',
    'azblob://container/prefix?account_key=canary',
    'webdavs://host/dir?apikey=canary',
    'gs://bucket/prefix#token=canary',
    'file:///dir?passphrase=canary',
    'b2://bucket?KEY=canary',
  ])('%j is refused as SECRET_IN_URL without repeating the secret', (location) => {
    const error = refusal(location);
    expect(error.code).toBe('SECRET_IN_URL');
    expect(`${error.message} ${error.hint} ${JSON.stringify(error.details)}`).not.toMatch(
      /canary|c@n|can\/|can\?/,
    );
    expect(error.hint).not.toBe('');
  });
});

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
    await expect(openDestination('s3://bucket')).rejects.toMatchObject({ code: 'INVALID_DESTINATION' });
  });
});
