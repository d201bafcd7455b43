import { describe, expect, it } from 'vitest';
import { textRef } from '../../../src/ui/pages/restore/path-ref.ts';
import {
  hrefOfPlace,
  hrefOfVersions,
  type Place,
  placeOfSearch,
  readPlace,
  readVersionsPlace,
} from '../../../src/ui/pages/restore/place.ts';
import { readRoute } from '../../../src/ui/parts/route.ts';

const bytes = { path: '/\u{FFFD}', path_b64: Buffer.from('/\xff', 'latin1').toString('base64') };

describe('a place', () => {
  it('comes back from its address', () => {
    const place: Place = {
      source: '/home/ann & co',
      destination: 'file:///x?',
      snapshot: 'ab12',
      directory: textRef('/home/#1?x=%2F&y'),
      sort: 'size',
      q: '*.odt +ä',
      scope: 'snapshot',
      file: bytes,
    };
    expect(readPlace(readRoute(hrefOfPlace(place)))).toEqual(place);
  });

  it('is the newest backup by name when the address says nothing', () => {
    expect(readPlace(readRoute('#/restore'))).toEqual({
      source: undefined,
      destination: undefined,
      snapshot: undefined,
      directory: undefined,
      sort: 'name',
      q: '',
      scope: 'all',
      file: undefined,
    });
    expect(hrefOfPlace(readPlace(readRoute('#/restore?sort=nonsense')))).toBe('#/restore');
  });

  it('of versions comes back as well', () => {
    const place = { ref: bytes, source: '/s', storedBy: '3@1a2b3c4d', older: 'a', newer: 'b' };
    expect(readVersionsPlace(readRoute(hrefOfVersions(place)))).toEqual(place);
  });
});

describe('a search that waited', () => {
  it('is for what is looked at now, and keeps open what was opened meanwhile', () => {
    const place = placeOfSearch('#/restore?snapshot=ab12&q=to-an&file=%2Fto-ana.txt', 'to-an', 'to-ana');
    expect(place).toMatchObject({ snapshot: 'ab12', q: 'to-ana', file: textRef('/to-ana.txt') });
  });

  it.each([
    ['another page', '#/jobs?q=to-an'],
    ['a page below', '#/restore/versions?q=to-an'],
    ['the folder of a result', '#/restore?path=%2Fletters'],
    ['another search', '#/restore?q=budget'],
  ])('leads nowhere from %s', (_, hash) => {
    expect(placeOfSearch(hash, 'to-an', 'to-ana')).toBeUndefined();
  });
});
