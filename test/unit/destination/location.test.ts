import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RequestError } from '../../../src/base/errors.ts';
import { redactText } from '../../../src/base/redact.ts';
import {
  directoryOf,
  findPlace,
  openUrl,
  parseLocation,
  placeUrl,
  plainUrl,
  shownPlace,
  withUser,
  type Location,
} from '../../../src/destination/location.ts';

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
      expect(directoryOf(path)).toBe(path);
      expect(directoryOf(pathToFileURL(path).href)).toBe(path);
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
    'https://example.org:8443/a@b',
    'b2://bucket/prefix',
    's3:bucket',
    's3://',
    's3:///prefix',
    's3://user@bucket/prefix',
    's3://bucket/a/../b',
    's3://bucket/a%2Fb',
    's3://bucket/%ff',
    's3://bucket/a%00',
    's3://bucket#x',
    's3://bucket?size=1',
    's3://bucket?region=a&region=b',
    's3://bucket?region=a%20b',
    's3://bucket?path_style=yes',
    's3://bucket?endpoint=ftp://host',
    's3://bucket?endpoint=https://host/%3Fa',
    'sftp://host',
    'sftp:///dir',
    'sftp://host:0x1/dir',
    'sftp://host\\x/dir',
    'sftp://::1/dir',
    'sftp://host/dir?x=1',
    'webdav://example.org/dir',
    'webdavs:///dir',
    'azblob://Container/x',
    'azblob://con--tainer',
    'azblob://container?account=a.b',
    'gs://b',
    'rclone:remote',
    'rclone::sftp,host=h:path',
    'rclone:remote,user=u:path',
    'rclone:remote:a/../b',
    'rclone:remote:a?b',
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
    expect(refusal('B2://bucket/prefix').message).toContain('"b2:"');
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
    's3://bucket?endpoint=https://user:canary@host',
    's3://bucket?endpoint=https%3A%2F%2Fcanary%40host',
  ])('%j is refused as SECRET_IN_URL without repeating the secret', (location) => {
    const error = refusal(location);
    expect(error.code).toBe('SECRET_IN_URL');
    expect(`${error.message} ${error.hint} ${JSON.stringify(error.details)}`).not.toMatch(
      /canary|c@n|can\/|can\?/,
    );
    expect(error.hint).not.toBe('');
  });
});

describe('a place that is not on this machine', () => {
  test.each([
    [
      's3://bucket/a%20prefix/b/?endpoint=minio.example:9000&region=eu-1',
      {
        kind: 's3',
        bucket: 'bucket',
        prefix: 'a prefix/b',
        endpoint: 'https://minio.example:9000',
        region: 'eu-1',
        pathStyle: true,
      },
    ],
    [
      'S3://Bucket_1',
      {
        kind: 's3',
        bucket: 'Bucket_1',
        prefix: '',
        endpoint: undefined,
        region: undefined,
        pathStyle: false,
      },
    ],
    [
      's3://bucket?endpoint=http://127.0.0.1:9000/&path_style=false',
      {
        kind: 's3',
        bucket: 'bucket',
        prefix: '',
        endpoint: 'http://127.0.0.1:9000',
        region: undefined,
        pathStyle: false,
      },
    ],
    [
      'sftp://me@host.example/srv/backup/',
      { kind: 'sftp', user: 'me', host: 'host.example', port: 22, directory: '/srv/backup' },
    ],
    [
      'sftp://[::1]:2222/~/backup',
      { kind: 'sftp', user: undefined, host: '::1', port: 2222, directory: 'backup' },
    ],
    [
      // As ssh's own configuration may know it.
      'sftp://MyNas:2222/x',
      { kind: 'sftp', user: undefined, host: 'MyNas', port: 2222, directory: '/x' },
    ],
    ['sftp://12/x', { kind: 'sftp', user: undefined, host: '12', port: 22, directory: '/x' }],
    ['webdavs://me@HOST/remote.php/dav', { kind: 'webdav', url: 'https://host/remote.php/dav', user: 'me' }],
    ['webdav://localhost:8080/', { kind: 'webdav', url: 'http://localhost:8080', user: undefined }],
    ['webdavs://[::1]:443/dir', { kind: 'webdav', url: 'https://[::1]/dir', user: undefined }],
    [
      'azblob://container/prefix?account=name',
      { kind: 'azblob', container: 'container', prefix: 'prefix', account: 'name', endpoint: undefined },
    ],
    ['gs://bucket/prefix', { kind: 'gs', bucket: 'bucket', prefix: 'prefix', endpoint: undefined }],
    ['rclone:my remote:path/to', { kind: 'rclone', remote: 'my remote', path: 'path/to' }],
    ['rclone:remote:', { kind: 'rclone', remote: 'remote', path: '' }],
  ])('%j is understood', (location, place) => {
    expect(parseLocation(location)).toEqual(place);
    expect(directoryOf(location)).toBeUndefined();
  });

  test.each([
    ['s3://bucket/a%20b?region=eu-1', 's3://bucket/a%20b'],
    ['s3://bucket//a/?path_style=true&endpoint=host&region=x', 's3://bucket/a?endpoint=https%3A%2F%2Fhost'],
    ['sftp://me@host/dir/', 'sftp://me@host:22/dir'],
    ['sftp://host/~/my dir', 'sftp://host:22/~/my%20dir'],
    ['sftp://host/a%23b%3Fc%3Bd%25e@f', 'sftp://host:22/a%23b%3Fc;d%25e@f'],
    ['webdavs://me@host:443/dir/', 'webdavs://me@host/dir'],
    ['webdavs://me%40home@host/dir', 'webdavs://me%40home@host/dir'],
    ['webdav://[::1]:80/dir', 'webdav://[::1]/dir'],
    ['azblob://container?account=name', 'azblob://container?account=name'],
    ['gs://bucket/x/', 'gs://bucket/x'],
    ['rclone:remote:path/', 'rclone:remote:path'],
  ])('%j has the one spelling %j, which means the same place', (location, spelling) => {
    const place = parseLocation(location);
    expect(placeUrl(place)).toBe(spelling);
    expect(shownPlace(place)).toBe(spelling);
    expect(placeUrl(parseLocation(spelling))).toBe(spelling);
  });

  test('by SFTP is the same one however its host is written, and is shown and reached as it was', () => {
    const place = parseLocation('sftp://me@MyNas/dir');
    expect(placeUrl(place)).toBe('sftp://me@mynas:22/dir');
    expect(shownPlace(place)).toBe('sftp://me@MyNas:22/dir');
    expect(openUrl(place)).toBe('sftp://me@MyNas:22/dir');
    expect(plainUrl(place)).toBe('sftp://MyNas:22/dir');
    expect(placeUrl(parseLocation('sftp://[::0001]/dir'))).toBe('sftp://[::1]:22/dir');
    // As such places are remembered.
    expect(placeUrl(parseLocation('sftp://12/dir'))).toBe('sftp://0.0.0.12:22/dir');
    expect(openUrl(parseLocation('sftp://12/dir'))).toBe('sftp://12:22/dir');
    expect(placeUrl(parseLocation('sftp://M%C3%BCller/dir'))).toBe('sftp://xn--mller-kva:22/dir');
  });

  test('has a plain URL without user and query', () => {
    for (const location of [
      's3://bucket/a?endpoint=host',
      'sftp://me@host/dir',
      'webdavs://me@host/dir',
      'azblob://container/p?account=name',
      'gs://bucket',
      'rclone:remote:path',
    ]) {
      const url = new URL(plainUrl(parseLocation(location)));
      expect([url.username, url.password, url.search, url.hash]).toEqual(['', '', '', '']);
    }
  });
});

/** What a part of a name can be in any store. */
const part = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
  .filter((text) => !/[\p{Cc}/]/u.test(text) && text !== '.' && text !== '..');
const prefix = fc.array(part, { maxLength: 3 }).map((parts) => parts.join('/'));
const user = fc.option(
  part.filter((text) => !text.includes(':')),
  { nil: undefined },
);
const host = fc.constantFrom('host.example', 'MyNas', 'Müller', '10.0.0.5', '12', '::1', 'fd00::2');
const port = fc.integer({ min: 1, max: 65_535 });
const endpoint = fc.constantFrom(undefined, 'https://s3.example', 'http://[::1]:9000/below');

const places: Readonly<Record<Location['kind'], fc.Arbitrary<Location>>> = {
  local: fc.record({
    kind: fc.constant('local'),
    directory: prefix.map((path) => resolve(`/${path}`)),
  }),
  s3: fc.record({
    kind: fc.constant('s3'),
    bucket: fc.constant('bucket'),
    prefix,
    endpoint,
    region: fc.constantFrom(undefined, 'eu-1'),
    pathStyle: fc.boolean(),
  }),
  sftp: fc.record({
    kind: fc.constant('sftp'),
    user,
    host,
    port,
    directory: fc.oneof(
      prefix.filter((path) => path !== '' && !/^~(?:\/|$)/.test(path)).map((path) => `/${path}`),
      prefix,
    ),
  }),
  webdav: fc.record({
    kind: fc.constant('webdav'),
    user,
    url: prefix.map((path) =>
      ['https://host.example', ...path.split('/').filter(Boolean).map(encodeURIComponent)].join('/'),
    ),
  }),
  azblob: fc.record({
    kind: fc.constant('azblob'),
    container: fc.constant('container'),
    prefix,
    account: fc.constantFrom(undefined, 'account'),
    endpoint,
  }),
  gs: fc.record({ kind: fc.constant('gs'), bucket: fc.constant('bucket'), prefix, endpoint }),
  rclone: fc.record({
    kind: fc.constant('rclone'),
    remote: fc.constantFrom('remote', 'my remote'),
    path: prefix.filter((path) => !/[?#]/.test(path)),
  }),
};

const CANONICAL: Readonly<Record<string, string>> = {
  MyNas: 'mynas',
  Müller: 'xn--mller-kva',
  '12': '0.0.0.12',
};

/** As it is parsed from a URL that says no more than where it is. */
function withoutWay(place: Location): Location {
  switch (place.kind) {
    case 's3':
      return { ...place, region: undefined, pathStyle: place.endpoint !== undefined };
    case 'sftp':
      return { ...place, host: CANONICAL[place.host] ?? place.host };
    default:
      return place;
  }
}

describe.each(Object.entries(places))('any place of the kind %s', (_, arbitrary) => {
  test('is read back from its one spelling, and with how to reach it from the other', () => {
    const property = fc.property(arbitrary, (place) => {
      const parsed = parseLocation(openUrl(place));
      expect(parsed).toEqual(place);
      expect(parseLocation(placeUrl(place))).toEqual(withoutWay(place));
      expect(openUrl(parsed)).toBe(openUrl(place));
    });
    fc.assert(property);
  });
});

describe('a folder on a WebDAV server', () => {
  const folder = parseLocation('webdavs://host/dir');

  test('is another one for each user, whether the URL or the settings name the user', () => {
    expect(placeUrl(withUser(folder, 'ana'))).toBe('webdavs://ana@host/dir');
    expect(placeUrl(withUser(parseLocation('webdavs://bob@host/dir'), 'ana'))).toBe('webdavs://bob@host/dir');
    expect(placeUrl(withUser(folder, null))).toBe('webdavs://host/dir');
    expect(placeUrl(withUser(parseLocation('/srv'), 'ana'))).toBe('file:///srv');
  });

  test('has no user in its URL whom no URL can have', () => {
    expect(placeUrl(withUser(folder, 'a:b'))).toBe('webdavs://host/dir');
  });

  test.each([
    [
      'webdavs://bob@host/dir',
      ['webdavs://ana@host/dir', 'webdavs://bob@host/dir'],
      'webdavs://bob@host/dir',
    ],
    ['webdavs://bob@host/dir', ['webdavs://ana@host/dir', 'webdavs://host/dir'], undefined],
    ['webdavs://host/dir', ['webdavs://ana@host/dir', 'webdavs://host/dir'], 'webdavs://host/dir'],
    ['webdavs://host/dir', ['webdavs://ana@host/dir'], 'webdavs://ana@host/dir'],
    ['webdavs://host/dir', ['webdavs://ana@host/dir', 'webdavs://bob@host/dir'], undefined],
    ['sftp://host:22/dir', ['sftp://ana@host:22/dir'], undefined],
  ])('%s among %j is %s: who names no user means the only one that is there', (wanted, known, found) => {
    expect(findPlace(wanted, known, (url) => url)).toBe(found);
  });
});

test.each(['/srv/a\u001e', '/srv/a ', '/srv/a\u0085', '/srv/ b'])(
  'the directory %j has a URL of its own',
  (directory) => {
    expect(parseLocation(placeUrl({ kind: 'local', directory }))).toEqual({ kind: 'local', directory });
  },
);

test('what a destination can be is told without anything that would be taken for a secret', () => {
  const { hint } = refusal('gopher://host/x');
  expect(hint).toContain('azblob://container/prefix');
  expect(redactText(hint)).toBe(hint);
});

test.each(['/backup/\ud800', 'sftp://host/\ud800', 'webdavs://host/\udc00x', 's3://bucket/\ud800'])(
  'half of a character is in no place: %j',
  (location) => {
    expect(() => parseLocation(location)).toThrow('half of a character');
  },
);
