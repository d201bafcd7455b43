import { describe, expect, test } from 'vitest';
import type { FilledConfig } from '../../../src/config/schema.ts';
import { checkAgainstSchema } from '../../../src/config/validate.ts';
import {
  changesOf,
  isSame,
  isWithin,
  rebase,
  settingName,
  shownPath,
  valueAt,
  withValue,
} from '../../../src/ui/pages/settings/settings-draft.ts';
import {
  DEFAULTS,
  destinationNames,
  destinationsOf,
  hasEmbedded,
  type Settings,
  SOURCE_DEFAULTS,
} from '../../../src/ui/pages/settings/settings-values.ts';

const documents = { ...SOURCE_DEFAULTS, path: '/home/me/Documents' };
const pictures = { ...SOURCE_DEFAULTS, path: '/home/me/Pictures' };
const settings: Settings = { ...DEFAULTS, sources: [documents, pictures] };

describe('what the page takes for the defaults', () => {
  test('is what the agent fills in', () => {
    const filled: FilledConfig | undefined = checkAgainstSchema({}).value;
    expect(DEFAULTS).toEqual(filled);
  });

  test('is what the agent fills in for a source', () => {
    const { value } = checkAgainstSchema({ sources: [{ path: '/home/me/Documents' }] });
    expect([documents]).toEqual(value?.sources);
  });

  test('has a place for all that the agent reads', () => {
    const filled = checkAgainstSchema({}).value;
    if (filled === undefined) throw new Error('the defaults are not valid');
    // The compiler is the judge: settings of the agent are settings of the page.
    const page: Settings = filled;
    expect(page.version).toBe(1);
  });
});

describe('a value of the settings', () => {
  test('is found and changed by its path, and nothing else is', () => {
    const path = ['sources', 1, 'exclude', 'largerThan'];
    expect(valueAt(settings, path)).toBeNull();
    const changed = withValue(settings, path, '4 GiB');
    expect(valueAt(changed, path)).toBe('4 GiB');
    expect(valueAt(settings, path)).toBeNull();
    expect(changed.sources[0]).toBe(settings.sources[0]);
    expect(changed.retention).toBe(settings.retention);
  });

  test('is taken out with undefined, from lists and from names', () => {
    expect(withValue(settings, ['sources', 0], undefined).sources).toEqual([pictures]);
    const named = withValue(settings, ['destinations', 'nas'], { url: '/mnt/nas' });
    expect(withValue(named, ['destinations', 'nas'], undefined).destinations).toEqual({});
  });

  test('makes what is missing on the way to it', () => {
    const path = ['destinations', 'nas', 'access', 's3', 'profile'];
    const before = withValue(settings, ['destinations', 'nas'], { url: 's3://b', access: null });
    expect(valueAt(withValue(before, path, 'me'), path)).toBe('me');
  });

  test('that is not there is undefined, whatever its name', () => {
    expect(valueAt(settings, ['destinations', 'toString'])).toBeUndefined();
    expect(valueAt(settings, ['timeZone', 'length'])).toBeUndefined();
  });

  test('is written as people write it, and found in the place of a problem', () => {
    const path = ['sources', 0, 'exclude', 'patterns'];
    expect(shownPath(path)).toBe('sources[0].exclude.patterns');
    expect(settingName(path)).toBe('sources[].exclude.patterns');
    expect(settingName(['destinations', 'nas', 'url'])).toBe('destinations.NAME.url');
    expect(isWithin('sources[0].exclude.patterns[3]', path)).toBe(true);
    expect(isWithin('sources[0].exclude.patterns', path)).toBe(true);
    expect(isWithin('sources[0].exclude.patternsToo', path)).toBe(false);
    expect(isWithin('sources[10].schedule', ['sources', 1])).toBe(false);
  });
});

describe('what differs', () => {
  test('is named value by value', () => {
    const draft = withValue(withValue(settings, ['retention', 'keepDaily'], 14), ['timeZone'], 'UTC');
    expect(changesOf(settings, draft)).toEqual([
      { path: ['timeZone'], before: null, after: 'UTC' },
      { path: ['retention', 'keepDaily'], before: 7, after: 14 },
    ]);
  });

  test('is nothing when it was changed back, or is only in another order', () => {
    const draft = withValue(settings, ['retention', 'keepDaily'], 14);
    expect(changesOf(settings, withValue(draft, ['retention', 'keepDaily'], 7))).toEqual([]);
    expect(isSame({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 })).toBe(true);
    expect(isSame({ a: 1 }, { b: 1 })).toBe(false);
    expect(isSame([1, 2], [2, 1])).toBe(false);
  });

  test('is of a source by what it backs up: one that went leaves the others as they are', () => {
    const draft = withValue(settings, ['sources', 0], undefined);
    expect(changesOf(settings, draft)).toEqual([
      { path: ['sources', 0], before: documents, after: undefined },
    ]);
    const other = withValue(draft, ['sources', 0, 'schedule'], 'daily');
    expect(changesOf(settings, other)).toContainEqual({
      path: ['sources', 0, 'schedule'],
      before: 'every 4h',
      after: 'daily',
    });
  });

  test('is a new source as a whole', () => {
    const added = { ...SOURCE_DEFAULTS, path: '/srv' };
    const draft = { ...settings, sources: [...settings.sources, added] };
    expect(changesOf(settings, draft)).toEqual([{ path: ['sources', 2], before: undefined, after: added }]);
  });
});

describe('changes on top of settings that somebody else has changed', () => {
  test('keep both', () => {
    const mine = withValue(settings, ['retention', 'keepDaily'], 14);
    const theirs = withValue(settings, ['retention', 'keepWeekly'], 8);
    expect(rebase(settings, mine, theirs).retention).toMatchObject({ keepDaily: 14, keepWeekly: 8 });
  });

  test('win where both changed the same', () => {
    const mine = withValue(settings, ['retention', 'keepDaily'], 14);
    const theirs = withValue(settings, ['retention', 'keepDaily'], 30);
    expect(rebase(settings, mine, theirs).retention.keepDaily).toBe(14);
  });

  test('find their source again where the order is another', () => {
    const mine = withValue(settings, ['sources', 1, 'schedule'], 'daily');
    const theirs = { ...settings, sources: [{ ...SOURCE_DEFAULTS, path: '/srv' }, pictures, documents] };
    expect(rebase(settings, mine, theirs).sources.map(({ path, schedule }) => [path, schedule])).toEqual([
      ['/srv', 'every 4h'],
      ['/home/me/Pictures', 'daily'],
      ['/home/me/Documents', 'every 4h'],
    ]);
  });

  test('take out what was taken out, and keep what was added on both sides', () => {
    const mine = {
      ...settings,
      sources: [pictures, { ...SOURCE_DEFAULTS, path: '/mine' }],
      destinations: { usb: { url: '/mnt/usb', passphrase: null, access: null, untested: false } },
    };
    const theirs = {
      ...settings,
      sources: [documents, pictures, { ...SOURCE_DEFAULTS, path: '/theirs' }],
      destinations: { nas: { url: '/mnt/nas', passphrase: null, access: null, untested: false } },
    };
    const both = rebase<Settings>(settings, mine, theirs);
    expect(both.sources.map(({ path }) => path)).toEqual(['/home/me/Pictures', '/theirs', '/mine']);
    expect(Object.keys(both.destinations).sort()).toEqual(['nas', 'usb']);
  });
});

describe('the destinations of a source', () => {
  const nas = { url: '/mnt/nas', passphrase: null, access: null, untested: false };

  test('are the default one, the one it names, or all that it names', () => {
    expect(destinationsOf(documents, settings)).toEqual(['default']);
    expect(destinationsOf({ ...documents, destination: 'nas' }, settings)).toEqual(['nas']);
    expect(destinationsOf({ ...documents, destinations: ['a', 'b'] }, settings)).toEqual(['a', 'b']);
    expect(destinationsOf(documents, { ...settings, defaultDestination: 'nas' })).toEqual(['nas']);
  });

  test('may be the repository of the machine while no other is the default one', () => {
    expect(destinationNames({ ...settings, destinations: { nas } })).toEqual(['default', 'nas']);
    const chosen = { ...settings, destinations: { nas }, defaultDestination: 'nas' };
    expect(destinationNames(chosen)).toEqual(['nas']);
    expect(hasEmbedded({ ...settings, destinations: { default: nas } })).toBe(false);
  });
});
