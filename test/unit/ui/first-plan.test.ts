import { describe, expect, test } from 'vitest';
import type { AnyJob } from '../../../src/api/schemas/page/jobs.ts';
import { checkAgainstSchema } from '../../../src/config/validate.ts';
import { sumOf } from '../../../src/ui/pages/first-run/estimates.ts';
import {
  backupsOf,
  type FirstPlan,
  isWithin,
  notBegun,
  outermost,
  planOf,
  type Settings,
  settingsWith,
  withAdded,
  withChosen,
} from '../../../src/ui/pages/first-run/first-plan.ts';
import { backupJob } from '../../support/backup-job.ts';

const SUGGESTED = {
  home: '/home/me',
  sources: [
    { path: '/home/me', kind: 'home' },
    { path: '/home/me/Documents', kind: 'documents' },
    { path: '/etc', kind: 'etc' },
  ],
  disks: [{ path: '/media/usb', free_bytes: 1, total_bytes: 2 }],
};

function defaults(): Settings {
  const { value } = checkAgainstSchema({});
  if (value === undefined) throw new Error('the defaults are not valid');
  return value;
}

function elsewhere(plan: FirstPlan, url: string): FirstPlan {
  return { ...plan, place: 'elsewhere', setting: { url } };
}

describe('what is chosen at first', () => {
  test('is the home directory with all in it, and a folder of its own on a disk that is there', () => {
    const plan = planOf(SUGGESTED);
    expect(plan.chosen).toEqual(['/home/me', '/etc']);
    expect(plan.place).toBe('elsewhere');
    expect(plan.draft).toEqual({ kind: 'directory', fields: { path: '/media/usb/holdfast' } });
  });

  test('goes where backups go anyway when there is no disk', () => {
    expect(planOf({ ...SUGGESTED, disks: [] }).place).toBe('present');
  });

  test('can be taken back, and chosen again', () => {
    const without = withChosen(planOf(SUGGESTED), '/etc', false);
    expect(without.chosen).toEqual(['/home/me']);
    expect(withChosen(without, '/etc', true).chosen).toEqual(['/home/me', '/etc']);
  });

  test('takes in a folder that is found by hand, once', () => {
    const offered = SUGGESTED.sources.map(({ path }) => path);
    const added = withAdded(withAdded(planOf(SUGGESTED), '/srv', offered), '/srv', offered);
    expect(added.added).toEqual(['/srv']);
    expect(added.chosen).toEqual(['/home/me', '/etc', '/srv']);
    expect(withAdded(planOf(SUGGESTED), '/home/me/Documents', offered).added).toEqual([]);
  });
});

test('a directory is within another by its path, not by the beginning of its name', () => {
  expect(isWithin('/home/me/a', '/home/me')).toBe(true);
  expect(isWithin('/home/mei', '/home/me')).toBe(false);
  expect(isWithin('/home/me', '/home/me')).toBe(false);
  expect(isWithin('/home', '/')).toBe(true);
  expect(outermost(['/a/b', '/a', '/ab', '/a'])).toEqual(['/a', '/ab']);
});

describe('the settings', () => {
  test('get the sources that are chosen, each once, and stay valid', () => {
    const plan = withChosen(planOf({ ...SUGGESTED, disks: [] }), '/home/me/Documents', true);
    const settings = settingsWith(defaults(), plan);
    expect(settings.sources).toEqual([{ path: '/home/me' }, { path: '/etc' }]);
    expect(settings.defaultDestination).toBeNull();
    expect(checkAgainstSchema(settings).faults).toEqual([]);
  });

  test('get a place elsewhere as the default one', () => {
    const settings = settingsWith(defaults(), elsewhere(planOf(SUGGESTED), '/media/usb/holdfast'));
    expect(settings.destinations).toEqual({ disk: { url: '/media/usb/holdfast' } });
    expect(settings.defaultDestination).toBe('disk');
    expect(checkAgainstSchema(settings).faults).toEqual([]);
  });

  test('keep what is there: sources with their own settings, destinations of the same name', () => {
    const before: Settings = {
      ...defaults(),
      sources: [{ path: '/etc', schedule: 'daily' } as { path: string }],
      destinations: { disk: { url: '/mnt/old' } },
    };
    const settings = settingsWith(before, elsewhere(planOf(SUGGESTED), '/media/usb/holdfast'));
    expect(settings.sources).toEqual([{ path: '/etc', schedule: 'daily' }, { path: '/home/me' }]);
    expect(settings.destinations).toEqual({
      disk: { url: '/mnt/old' },
      'disk-2': { url: '/media/usb/holdfast' },
    });
  });

  test('get a place only once, whoever comes by twice', () => {
    const plan = elsewhere(planOf(SUGGESTED), '/media/usb/holdfast');
    const once = settingsWith(defaults(), plan);
    expect(settingsWith(once, plan)).toEqual(once);
  });

  test('reach a place that is there with what was typed and tried, and keep the rest of it', () => {
    const url = 'sftp://ana@box.example/backup';
    const passphrase = { file: '/etc/holdfast/box' };
    const before = { ...defaults(), destinations: { box: { url, passphrase, access: null } } };
    const access = { sftp: { password: { file: '/state/secrets/a' } } };
    const plan: FirstPlan = { ...elsewhere(planOf(SUGGESTED), url), setting: { url, access } };
    expect(settingsWith(before, plan).destinations).toEqual({ box: { url, passphrase, access } });
    const without: FirstPlan = { ...plan, setting: { url, access: null } };
    const other = { file: '/state/secrets/b' };
    const opened: FirstPlan = { ...plan, setting: { url, access, passphrase: other } };
    expect(settingsWith(before, opened).destinations).toEqual({ box: { url, passphrase: other, access } });
    const settings = settingsWith(before, plan);
    expect(settingsWith(settings, without).destinations).toEqual(settings.destinations);
  });
});

test('the first backups name the destination of a source that is there already, when it is one', () => {
  const sources = [
    { path: '/a', destination: 'usb' },
    { path: '/b', destination: null, destinations: ['usb', 'bucket'] },
    { path: '/c', destination: null, destinations: null },
    { path: '/d' },
  ];
  expect(backupsOf({ ...defaults(), sources }, ['/a', '/b', '/c', '/d'])).toEqual([
    { path: '/a', destinations: ['usb'] },
    { path: '/b', destinations: ['usb', 'bucket'] },
    { path: '/c', destinations: [] },
    { path: '/d', destinations: [] },
  ]);
});

describe('what the agent backs up by itself', () => {
  const wanted = [{ path: '/a', destinations: [] }];
  const job = (source: string, waits: string | null, isDryRun = false): AnyJob => {
    const made = backupJob({ status: 'queued', source });
    return {
      ...made,
      waits: waits === null ? null : { code: waits, params: {} },
      options: { ...made.options, dry_run: isDryRun },
    };
  };

  test.each([null, 'turn', 'reader'])('is not asked for again: it waits for %s', (waits) => {
    expect(notBegun(wanted, [job('/a', waits)])).toEqual([]);
  });

  test.each([
    ['on_battery', job('/a', 'on_battery')],
    ['another one', job('/b', null)],
    ['a dry run', job('/a', null, true)],
  ])('is asked for where it would wait, or is none: %s', (_, active) => {
    expect(notBegun(wanted, [active])).toEqual(wanted);
  });
});

describe('how much it is altogether', () => {
  const estimate = (bytes: number, complete = true) => ({
    path: '/',
    files: 1,
    directories: 0,
    bytes,
    complete,
    unreadable: 0,
    excluded_files: 0,
    excluded: [],
    largest: [],
  });

  test('is a sum that grows while the counts come in', () => {
    expect(sumOf(['/a', '/b'], new Map())).toBeUndefined();
    expect(sumOf(['/a', '/b'], new Map([['/a', estimate(5)]]))).toEqual({ bytes: 5, isComplete: false });
    const both = new Map([
      ['/a', estimate(5)],
      ['/b', estimate(7)],
      ['/c', estimate(9)],
    ]);
    expect(sumOf(['/a', '/b'], both)).toEqual({ bytes: 12, isComplete: true });
  });

  test('is a least where a count was broken off, or could not be made', () => {
    const cut = new Map([['/a', estimate(5, false)]]);
    expect(sumOf(['/a'], cut)).toEqual({ bytes: 5, isComplete: false });
    const failed = new Map<string, ReturnType<typeof estimate> | 'uncounted'>([
      ['/a', estimate(5)],
      ['/b', 'uncounted'],
    ]);
    expect(sumOf(['/a', '/b'], failed)).toEqual({ bytes: 5, isComplete: false });
  });
});
