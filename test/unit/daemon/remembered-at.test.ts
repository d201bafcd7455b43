/** Which repository is known at a place, also by a spelling of before. */
import { describe, expect, test } from 'vitest';
import { rememberedAt } from '../../../src/daemon/places/remembered-at.ts';
import type { KnownRepository } from '../../../src/db/repositories.ts';

const ANA = 'webdavs://ana@nas/backup';
const BOB = 'webdavs://bob@nas/backup';
/** As places were noted before the user was a part of them. */
const FOLDER = 'webdavs://nas/backup';

function knownAt(
  url: string,
  noted: Readonly<Record<string, string>>,
  configured: readonly string[],
): string | undefined {
  const known = Object.entries(noted).map(([place, repositoryId]): KnownRepository => ({
    url: place,
    repositoryId,
    since: 1,
  }));
  const repositories = {
    get: (place: string) => known.find((one) => one.url === place),
    all: () => known,
  };
  return rememberedAt(
    url,
    repositories,
    configured.map((place) => ({ url: place })),
  )?.repositoryId;
}

describe('what was noted', () => {
  test('of a user counts for that user alone', () => {
    expect(knownAt(ANA, { [ANA]: 'a' }, [ANA, BOB])).toBe('a');
    expect(knownAt(BOB, { [ANA]: 'a' }, [ANA, BOB])).toBeUndefined();
    expect(knownAt(FOLDER, { [ANA]: 'a' }, [ANA])).toBeUndefined();
  });

  test('without a user counts for the only one who has the folder', () => {
    expect(knownAt(ANA, { [FOLDER]: 'a' }, [ANA])).toBe('a');
    expect(knownAt(ANA, { [FOLDER]: 'a' }, [ANA, 'sftp://bob@nas:22/backup', 'webdavs://bob@nas/x'])).toBe(
      'a',
    );
    expect(knownAt(FOLDER, { [FOLDER]: 'a' }, [FOLDER])).toBe('a');
  });

  test('without a user counts for none of several', () => {
    for (const user of [ANA, BOB]) expect(knownAt(user, { [FOLDER]: 'a' }, [ANA, BOB])).toBeUndefined();
  });

  test('without a user counts for nobody else once it is noted of one, also of one who is gone', () => {
    expect(knownAt(BOB, { [FOLDER]: 'a', [ANA]: 'a' }, [BOB])).toBeUndefined();
    expect(knownAt(ANA, { [FOLDER]: 'a', [ANA]: 'b' }, [ANA])).toBe('b');
  });

  test('of a directory by SFTP counts also as it was noted before "#" and "?" were encoded', () => {
    const url = 'sftp://a%23na@nas:22/a%23b%3Fc%23';
    expect(knownAt(url, { 'sftp://a%23na@nas:22/a#b?c#': 'a' }, [])).toBe('a');
    expect(knownAt(url, { 'sftp://a%23na@nas:22/a#b?c#': 'a', [url]: 'b' }, [])).toBe('b');
    const other = 'webdavs://nas/a%23b';
    expect(knownAt(other, { 'webdavs://nas/a#b': 'a' }, [])).toBeUndefined();
  });

  test('of other kinds of places is found as it was noted', () => {
    expect(knownAt('/mnt/a', { '/mnt/a': 'a' }, [])).toBe('a');
    expect(knownAt('sftp://ana@nas:22/a', { 'sftp://nas:22/a': 'a' }, [])).toBeUndefined();
  });
});
