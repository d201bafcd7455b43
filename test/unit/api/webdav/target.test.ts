import { describe, expect, test } from 'vitest';
import { asByteString } from '../../../../src/base/byte-path.ts';
import { encodeNames, isWebdavTarget, readWebdavTarget } from '../../../../src/api/webdav/target.ts';

describe('the folder of snapshots', () => {
  test('is everything below /dav, and nothing that only begins so', () => {
    expect(['/dav', '/dav/', '/dav/x', '/dav?x', '/dav/x#y'].every(isWebdavTarget)).toBe(true);
    expect(['/', '/davx', '/v1/dav', '/DAV/', '//dav/', '*', ''].some(isWebdavTarget)).toBe(false);
  });

  test('is asked by names that are bytes, escaped or not', () => {
    const names = (target: string): readonly string[] | undefined => readWebdavTarget(target)?.names;
    expect(names('/dav')).toEqual([]);
    expect(names('/dav/a/b%20c')).toEqual(['a', 'b c']);
    expect(names('/dav/%ff%C3%A9%0a')).toEqual(['\u00ff\u00c3\u00a9\n']);
    expect(names('/dav/\u00c3\u00a9')).toEqual(['\u00c3\u00a9']);
    expect(names('/dav/a+b%2Bc%25')).toEqual(['a+b+c%']);
    expect(names('/dav//a///b/')).toEqual(['a', 'b']);
    expect(names('/dav/a?b/c#d')).toEqual(['a']);
  });

  test('has an address that ends in a slash, and its files do not', () => {
    const isFolder = (target: string): boolean | undefined => readWebdavTarget(target)?.endsInSlash;
    expect(['/dav', '/dav/', '/dav/a/', '/dav/a/?x'].map(isFolder)).toEqual([true, true, true, true]);
    expect(isFolder('/dav/a')).toBe(false);
  });

  test('knows no way up and no other spelling of a slash', () => {
    const wrong = ['..', '.', '%2e%2e', '%2E.', '.%2e', '%2f', 'a%2Fb', '%00', 'a%', '%g1', '%1', '%%41'];
    for (const name of wrong) {
      expect(readWebdavTarget(`/dav/${name}`), name).toBeUndefined();
      expect(readWebdavTarget(`/dav/a/${name}/b`), name).toBeUndefined();
    }
    expect(readWebdavTarget('/dav/...')?.names).toEqual(['...']);
  });

  test('gives every name an address that leads back to it, in letters that mean nothing else', () => {
    const all = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).filter(
      (byte) => byte !== '/' && byte !== '\0' && byte !== '.',
    );
    const names = [...all, all.join('')].map(asByteString);
    const address = encodeNames(names);
    expect(address).toMatch(/^[A-Za-z0-9._~%/-]+$/);
    expect(readWebdavTarget(`/dav${address}`)?.names).toEqual(names);
  });
});
