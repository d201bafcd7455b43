import { describe, expect, test } from 'vitest';
import { asByteString, type ByteString } from '../../../src/base/byte-path.ts';
import { keepsOwnPlaces, ownPlacesIn, ownTest } from '../../../src/restorer/target/own-places.ts';
import { compileSelection, withoutPlaces } from '../../../src/restorer/request/selection.ts';

const bytes = asByteString;
const never = [{ path: bytes('/C/Site/Repository'), reason: 'the repository itself', identity: '1/2' }];

/** A file system that ignores case, and one that does not. */
const folding = (path: ByteString): string => path.toLowerCase();
const exact = (path: ByteString): string => path;

describe("Holdfast's own places in a target", () => {
  test.each(['/C/Site', '/c/SITE', '/C'])('are found below %s where case is ignored', (target) => {
    const [place] = ownPlacesIn(bytes(target), never, folding);
    expect(place?.ignoresCase).toBe(true);
    expect(`${target}${place?.path}`.toLowerCase()).toBe('/c/site/repository');
  });

  test('are found below a directory that has another path, by its identity', () => {
    const identify = (path: ByteString): string =>
      path === '/mnt/other' ? 'one' : path === '/C/Site' ? 'one' : path;
    expect(ownPlacesIn(bytes('/mnt/other'), never, identify)).toEqual([
      { path: '/Repository', ignoresCase: false },
    ]);
  });

  test('are none below another directory, or below one that differs in case where that counts', () => {
    expect(ownPlacesIn(bytes('/C/Other'), never, folding)).toEqual([]);
    expect(ownPlacesIn(bytes('/C/SITE'), never, exact)).toEqual([]);
  });

  test('stay in every spelling where case is ignored, and in their own elsewhere', () => {
    const folded = keepsOwnPlaces([{ path: bytes('/Repository'), ignoresCase: true }]);
    for (const path of ['/repository', '/REPOSITORY/packs/a', '/Repository', '/'])
      expect(folded(bytes(path)), path).toBe(true);
    expect(folded(bytes('/repositories'))).toBe(false);
    const kept = keepsOwnPlaces([{ path: bytes('/Repository'), ignoresCase: false }]);
    expect(kept(bytes('/Repository/packs'))).toBe(true);
    expect(kept(bytes('/repository'))).toBe(false);
  });

  test('are left out of what is restored, in every spelling where case is ignored', () => {
    const rules = { paths: [], include: [], exclude: [], subfolder: undefined };
    const whole = compileSelection(rules, []);
    const left = withoutPlaces(whole, [{ path: bytes('/Data/Repository'), ignoresCase: true }]);
    expect(left.enter(bytes('DATA'))?.enter(bytes('repository'))).toBeUndefined();
    expect(left.enter(bytes('DATA'))?.takes(bytes('letter.txt'))).toBe(true);
  });

  test('are known by their identity', () => {
    const isOwn = ownTest(never);
    expect(isOwn({ dev: 1n, ino: 2n })).toBe(true);
    expect(isOwn({ dev: 1n, ino: 3n })).toBe(false);
  });
});
