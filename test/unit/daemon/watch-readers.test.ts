/** Who comes for the changes in a source is known by one name to what is due, to the job that reads, and to what is kept. */
import { expect, test } from 'vitest';
import { RequestError } from '../../../src/base/errors.ts';
import { defaultSettings, defaultSource } from '../../../src/config/effective-settings.ts';
import type { Settings } from '../../../src/config/settings.ts';
import { backupsOf } from '../../../src/daemon/jobs/planning.ts';
import type { Destinations, Place } from '../../../src/daemon/places/destinations.ts';
import { readerOfDue, readersOf } from '../../../src/daemon/sources/watch-readers.ts';

const PLACES: readonly Place[] = ['usb', 'nas'].map((name) => ({
  name,
  url: `file:///${name}`,
  location: `/${name}`,
  shown: `/${name}`,
  directory: `/${name}`,
  passphrase: null,
  access: undefined,
}));

const destinations: Pick<Destinations, 'all' | 'find'> = {
  all: () => PLACES,
  find: (name) => {
    const found = PLACES.find((place) => place.name === name);
    if (found === undefined) throw new RequestError('INVALID_DESTINATION', name);
    return found;
  },
};

function settingsWith(...names: readonly string[]): Settings {
  const context = { home: '/home/one', stateDirectory: '/state' };
  const defaults = defaultSettings(context);
  return { ...defaults, sources: [{ ...defaultSource('/s', defaults, context), destinations: names }] };
}

test.each([
  [['usb'], 'file:///usb'],
  [['nas', 'usb'], 'pass to ["nas","usb"]'],
])('a backup to %j is due to a reader that is kept', (names, reader) => {
  const settings = settingsWith(...names);
  const [source] = settings.sources;
  if (source === undefined) return expect.unreachable();
  expect(readerOfDue(backupsOf(source), settings, destinations)).toBe(reader);
  expect(readersOf([source], destinations)).toContain(reader);
});

test('kept are all places of the settings, and the passes of the source; no others', () => {
  const { sources } = settingsWith('nas', 'usb');
  expect([...readersOf(sources, destinations)].toSorted()).toEqual([
    'file:///nas',
    'file:///usb',
    'pass to ["nas","usb"]',
  ]);
});

test('a place that is not known has no reader', () => {
  const settings = settingsWith('gone');
  const [source] = settings.sources;
  if (source === undefined) return expect.unreachable();
  expect(readerOfDue(backupsOf(source), settings, destinations)).toBeUndefined();
  expect(readersOf([source], destinations)).not.toContain('gone');
});
