import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onePlaces } from '../../../src/daemon/places/one-place.ts';

let directory = '';
beforeAll(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-one-place-')));
  for (const name of ['a', 'b']) mkdirSync(join(directory, name));
  symlinkSync(join(directory, 'a'), join(directory, 'link'));
  symlinkSync(join(directory, 'yet-to-come'), join(directory, 'early'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function groups(urls: Readonly<Record<string, string>>, seen: Readonly<Record<string, string>> = {}) {
  const places = Object.entries(urls).map(([name, url]) => ({ name, url }));
  return onePlaces(places, (name) => seen[name]);
}

describe('destinations that are one place', () => {
  test('a folder by its path, with a slash, as a URL, and by links', () => {
    const at = (name: string): string => join(directory, name);
    const urls = {
      usb: at('a'),
      other: at('b'),
      nas: `${at('a')}/`,
      far: at('link'),
      url: `file://${at('a')}`,
    };
    expect(groups(urls)).toEqual([['usb', 'nas', 'far', 'url']]);
    expect(groups({ one: at('yet-to-come'), two: at('early') })).toEqual([['one', 'two']]);
  });

  test.each([
    ['sftp://u@localhost/b', 'sftp://u@127.0.0.1:22/b/'],
    ['sftp://u@HOST/b', 'sftp://u@host:22/b'],
    ['webdavs://host/dav', 'webdavs://host:443/dav/'],
    ['webdav://localhost:8080/dav', 'webdav://[::1]:8080/dav'],
    ['s3://bucket/p?endpoint=http://localhost:9000', 's3://bucket/p/?endpoint=http://127.0.0.1:9000'],
    ['s3://bucket/p', 's3://bucket/p?region=eu-west-1'],
  ])('%s and %s', (one, two) => {
    expect(groups({ one, two })).toEqual([['one', 'two']]);
  });

  test.each([
    ['sftp://u@host/b', 'sftp://v@host/b'],
    ['sftp://u@localhost:2222/b', 'sftp://u@localhost:2223/b'],
    ['s3://bucket/p', 's3://bucket/q'],
    ['s3://bucket/p', 's3://bucket/p?endpoint=https://store.example.org'],
    ['webdavs://ana@host/dav', 'webdavs://bob@host/dav'],
  ])('not %s and %s', (one, two) => {
    expect(groups({ one, two })).toEqual([]);
  });

  test('two ways to one repository, also where two groups meet in it', () => {
    const urls = {
      mount: join(directory, 'a'),
      again: join(directory, 'link'),
      server: 'sftp://u@host/a',
      alone: 's3://b/c',
    };
    expect(groups(urls, { mount: 'id', server: 'id', alone: 'other' })).toEqual([
      ['mount', 'again', 'server'],
    ]);
  });
});
