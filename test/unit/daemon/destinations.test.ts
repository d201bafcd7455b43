import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { defaultSettings } from '../../../src/config/effective-settings.ts';
import {
  createDestinations,
  type Destinations,
  knownPlaces,
} from '../../../src/daemon/places/destinations.ts';
import type { KnownRepository } from '../../../src/db/repositories.ts';
import { parseLocation } from '../../../src/destination/location.ts';

interface Known {
  readonly destinations: Destinations;
  /** Of all that is known, where it is reached. */
  locations(): readonly string[];
}

function destinations(named: Readonly<Record<string, string>>, defaultDestination: string): Destinations {
  return knowing(named, defaultDestination).destinations;
}

function knowing(named: Readonly<Record<string, string>>, defaultDestination: string): Known {
  const settings = {
    ...defaultSettings({ home: '/home/ana', stateDirectory: '/state' }),
    defaultDestination,
    destinations: Object.entries(named).map(([name, url]) => ({ name, url, passphrase: null })),
  };
  const known = new Map<string, KnownRepository>();
  const repositories = {
    get: (url: string) => known.get(url),
    all: () => [...known.values()],
    set: (one: KnownRepository) => void known.set(one.url, one),
  };
  const notes = new Map<string, string>();
  const parts = {
    settings: () => settings,
    repositories,
    notes: {
      get: (key: string) => notes.get(key),
      set: (key: string, value: string | undefined) =>
        void (value === undefined ? notes.delete(key) : notes.set(key, value)),
    },
    stateDirectory: '/state',
    clock: systemClock,
  };
  const made = createDestinations(parts as unknown as Parameters<typeof createDestinations>[0]);
  return {
    destinations: made,
    locations: () => [...knownPlaces(made, repositories).values()].map(({ location }) => location),
  };
}

describe('a destination', () => {
  test('that is called "default" is that one, whichever is the default destination', () => {
    const both = destinations({ default: '/mnt/a', usb: '/mnt/b' }, 'usb');
    expect(both.find('default').url).toBe('file:///mnt/a');
    expect(both.standard().url).toBe('file:///mnt/b');
  });

  test('is the default one for "default" when none has that name', () => {
    const one = destinations({ usb: '/mnt/b' }, 'usb');
    expect([one.find('default').name, one.standard().name]).toEqual(['usb', 'usb']);
  });

  test('is found by its name, by "cloud", and by any spelling of its place', () => {
    const some = destinations({ usb: '/mnt/b', far: 's3://bucket/x' }, 'usb');
    const found = ['usb', '/mnt/b/', 'file:///mnt/b', 'cloud', 's3://bucket/x'].map(
      (one) => some.find(one).name,
    );
    expect(found).toEqual(['usb', 'usb', 'usb', 'far', 'far']);
    expect(some.find('/mnt/c').name).toBe('file:///mnt/c');
    expect(() => some.find('nowhere')).toThrow('There is no destination nowhere');
  });

  test('that only a URL names is reached by its name as by that URL', () => {
    const some = destinations({ far: 's3://bucket/x?region=eu-1' }, 'far');
    const given = 's3://other/x?endpoint=https://s3.example&region=eu-1&path_style=false';
    const first = some.find(given);
    const again = some.find(first.name);
    expect(parseLocation(again.location)).toEqual(parseLocation(given));
    expect(again).toEqual({ ...first, location: first.name });
    const shuffled = 'S3://other//x/?path_style=false&region=eu-1&endpoint=s3.example/';
    expect(some.find(shuffled).name).toBe(first.name);
    // Where it is counts for what is known of it, not how it is reached.
    some.remember(first, 'id', 1);
    expect([again, some.find('s3://other/x?endpoint=s3.example')].map(some.repositoryId)).toEqual([
      'id',
      'id',
    ]);
    expect(some.find('s3://bucket/x?region=us-1&path_style=true').name).toBe('far');
  });

  test.each([
    's3://other/x?endpoint=https://s3.example&region=eu-1&path_style=false',
    'sftp://ana@NAS/backup',
  ])('that no settings name is reached later as jobs reached it: %s', (given) => {
    const { destinations: some, locations } = knowing({ usb: '/mnt/b' }, 'usb');
    const place = some.find(given);
    some.remember(place, 'id', 1);
    expect(locations().map(parseLocation)).toEqual([parseLocation(given)]);
    // The last job tells.
    const otherwise = some.find(place.url);
    some.remember(otherwise, 'id', 2);
    expect(locations()).toEqual([otherwise.name]);
  });

  test('waits for its disk where nothing is mounted, and is never made there', () => {
    const away = '/mnt/holdfast-nothing-is-mounted-here/h';
    const some = destinations({ away, near: '/holdfast/is-not-made-yet', far: 's3://bucket/x' }, 'near');
    expect(some.all().map((place) => [some.isPresent(place), some.isSeen(place)])).toEqual([
      [false, false],
      // The first backup creates it.
      [true, false],
      [true, false],
    ]);
  });

  test('that no path of this system can be keeps nobody from anything', () => {
    const { destinations: some } = knowing({ usb: '/mnt/b' }, 'usb');
    some.remember({ ...some.standard(), name: 'x', url: 'file://server/share' }, 'id', 1);
    expect(some.stores()).toEqual(['/mnt/b']);
  });

  test('on a WebDAV server is another one for each user', () => {
    const both = destinations({ ana: 'webdavs://ana@nas/x', bob: 'webdavs://bob@nas/x' }, 'ana');
    expect(both.find('webdavs://bob@nas/x/').name).toBe('bob');
    expect(both.all().map(({ url }) => url)).toEqual(['webdavs://ana@nas/x', 'webdavs://bob@nas/x']);
    expect(both.find('webdavs://nas/x').name).toBe('webdavs://nas/x');
    expect(destinations({ ana: 'webdavs://ana@nas/x' }, 'ana').find('webdavs://nas/x').name).toBe('ana');
  });
});
