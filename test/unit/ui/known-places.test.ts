import { describe, expect, test } from 'vitest';
import type { Overview } from '../../../src/api/schemas/page/overview.ts';
import { sourceName } from '../../../src/ui/pages/restore/snapshot-list.tsx';
import {
  emptyReason,
  firstSource,
  knownPlaces,
  knownSources,
} from '../../../src/ui/pages/restore/use-timeline.ts';

const nas = { name: 'nas', reachable: false, is_embedded: false, is_default: true };
const embedded = { name: 'embedded', reachable: true, is_embedded: true, is_default: false };

describe('places to restore from', () => {
  test('are all that are known, those that are away among them', () => {
    const listed = [
      { destination: 'embedded' },
      { destination: 'file:///old' },
      { destination: 'file:///old' },
    ];
    expect(knownPlaces([nas, embedded], listed, 'gone')).toEqual([
      { name: 'nas', isAway: true, isEarlier: false },
      { name: 'embedded', isAway: false, isEarlier: true },
      { name: 'file:///old', isAway: false, isEarlier: false },
      { name: 'gone', isAway: false, isEarlier: false },
    ]);
  });

  test('have no earlier backups while the repository of this computer is the default one', () => {
    expect(knownPlaces([{ ...embedded, is_default: true, reachable: null }], [], undefined)).toEqual([
      { name: 'embedded', isAway: false, isEarlier: false },
    ]);
  });
});

const SOURCE: Overview['sources'][number] = {
  path: '/home',
  name: '~',
  destination: 'nas',
  schedule: 'every 4h',
  last_good_backup_at: null,
  earlier_backup_at: null,
  next_run_at: null,
  overdue: false,
  watching: true,
  files: null,
  size_bytes: null,
  history: [],
};

describe('sources', () => {
  test('of other machines can still be chosen once the list is that of one source', () => {
    const overview = { sources: [{ path: '/home/ana' }] };
    const all = knownSources([], overview, [{ source: '/home/ana' }, { source: '/home/ben' }], {
      source: undefined,
    });
    expect(all).toEqual(['/home/ana', '/home/ben']);
    const place = { source: '/home/ana' };
    expect(knownSources(all, overview, [{ source: '/home/ana' }], place)).toEqual(all);
    expect(knownSources([], overview, [], { source: '/srv' })).toEqual(['/home/ana', '/srv']);
  });
});

describe('an empty list', () => {
  const sources: Overview['sources'] = [];
  const some = { sources, saved: { snapshots: 3, snapshot_bytes: 1, stored_bytes: 1 } };
  const none = { sources, saved: { snapshots: 0, snapshot_bytes: 0, stored_bytes: 0 } };
  const everything = { source: undefined, destination: undefined };
  const known = { isKnown: true, count: 0 };

  test('means that there are no snapshots only when there are none anywhere', () => {
    expect(emptyReason(everything, known, none)).toBe('none_yet');
    expect(emptyReason(everything, known, some)).toBe('none_of_source');
    expect(emptyReason({ ...everything, source: '/home' }, known, none)).toBe('none_of_source');
    expect(emptyReason({ ...everything, destination: 'nas' }, known, none)).toBe('none_here');
  });

  test('does not deny the snapshots of backups that were made: their disk may be away', () => {
    const source = { ...SOURCE, last_good_backup_at: '2026-11-22T12:00:00.000Z' };
    expect(emptyReason(everything, known, { ...none, sources: [source] })).toBe('none_read');
    expect(emptyReason({ ...everything, source: '/home' }, known, { ...none, sources: [source] })).toBe(
      'none_read',
    );
    expect(emptyReason(everything, known, { ...none, sources: [SOURCE] })).toBe('none_yet');
  });

  test('means nothing while it is asked for, or could not be', () => {
    expect(emptyReason(everything, { isKnown: false, count: 0 }, none)).toBeUndefined();
    expect(emptyReason(everything, { isKnown: true, count: 1 }, none)).toBeUndefined();
  });
});

describe('the source that is shown first', () => {
  const of = (...paths: readonly (readonly [string, string])[]) => ({
    sources: paths.map(([path, name]) => ({ ...SOURCE, path, name })),
  });
  const etc = { source: '/etc', size_bytes: 5_000_000 };
  const photos = { source: '/photos', size_bytes: 9_000_000 };
  const home = { source: '/home/me', size_bytes: 1_000 };

  test('is the home directory, or else the largest one, and not what was backed up last', () => {
    const three = of(['/etc', 'etc'], ['/home/me', '~'], ['/photos', 'photos']);
    expect(firstSource(three, [etc, photos, home])).toBe('/home/me');
    expect(firstSource(three, [etc, photos])).toBe('/photos');
    expect(firstSource(three, [etc])).toBe('/etc');
  });

  test('is not known when nothing of this machine is listed', () => {
    expect(firstSource(of(['/home/me', '~']), [etc])).toBeUndefined();
  });

  test('has the name that the overview has for it', () => {
    const { sources } = of(['/home/me', '~'], ['/srv/data', 'data']);
    expect(sourceName('/home/me', sources)).toBe('Home');
    expect(sourceName('/srv/data', sources)).toBe('data');
    expect(sourceName('/old/home', sources)).toBe('home — /old');
  });
});
