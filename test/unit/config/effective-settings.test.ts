import { describe, expect, test } from 'vitest';
import { RequestError } from '../../../src/base/errors.ts';
import { defaultSettings, defaultSource, findDestination } from '../../../src/config/effective-settings.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { CONTEXT, load, problemsOf } from '../../support/config-place.ts';

describe('settings', () => {
  test('without any text are safe defaults with the embedded repository', () => {
    const settings = defaultSettings(CONTEXT);
    expect(load('{}').settings).toEqual(settings);
    expect(settings).toMatchObject({
      listen: { port: 7_390 },
      plan: 'free_trial',
      defaultDestination: 'default',
      destinations: [{ name: 'default', url: '/state/repository', passphrase: null }],
      sources: [],
      retention: { keepDaily: 7, keepWeekly: 4, keepMonthly: 12, keepWithin: '2d', keepYearly: null },
      maintenance: { prune: 'weekly', checkReadData: 0.05, jitterSeconds: 300 },
    });
  });

  test('turn texts into numbers and resolve the home directory', () => {
    const { settings } = load(`{
      "sources": [{ "path": "~/Documents/", "exclude": { "largerThan": "1.5 GiB" }, "hooks": { "timeout": "90s" } }],
      "destinations": { "nas": { "url": "~/nas", "passphrase": { "file": "~/pass" } } },
      "bandwidth": [{ "from": "18:00" }, { "from": "08:00", "uploadLimit": "2 MiB" }],
      "restore": { "allowedRoots": ["~", "/srv/../data"] },
      "maintenance": { "jitter": "0", "checkReadData": "12.5%" }
    }`);
    expect(settings.sources[0]).toMatchObject({
      path: '/home/anna/Documents',
      destinations: ['default'],
      schedule: 'every 4h',
      watch: true,
      exclude: { largerThan: 1_610_612_736, caches: true, ifPresent: ['.nobackup'] },
      hooks: { before: null, after: null, timeoutSeconds: 90, onFailure: 'fail' },
    });
    expect(settings.destinations[1]).toEqual({
      name: 'nas',
      url: '/home/anna/nas',
      passphrase: { file: '~/pass' },
    });
    expect(settings.bandwidth).toEqual([
      { from: '08:00', uploadLimit: 2_097_152 },
      { from: '18:00', uploadLimit: null },
    ]);
    expect(settings.restore.allowedRoots).toEqual(['/home/anna', '/data']);
    expect(settings.maintenance).toMatchObject({ jitterSeconds: 0, checkReadData: 0.125 });
  });

  test('have no other names than the type says', () => {
    const { settings } = load('{"$schema": "x", "version": 1, "sources": [{"path": "/a"}]}');
    expect(Object.keys(settings).sort()).toEqual(
      [
        'bandwidth',
        'conditions',
        'defaultDestination',
        'destinations',
        'embedded',
        'listen',
        'log',
        'maintenance',
        'notices',
        'partner',
        'plan',
        'requireEncryption',
        'restore',
        'retention',
        'sources',
        'timeZone',
        'updates',
      ].sort(),
    );
    expect(Object.keys(settings.sources[0]?.hooks ?? {}).sort()).toEqual([
      'after',
      'before',
      'onFailure',
      'timeoutSeconds',
    ]);
  });

  test('give a source that is not configured every default', () => {
    const { settings } = load('{"destinations": {"nas": {"url": "/mnt"}}, "defaultDestination": "nas"}');
    expect(defaultSource('/tmp/x', settings, CONTEXT)).toMatchObject({
      path: '/tmp/x',
      destinations: ['nas'],
      encryption: true,
    });
  });

  test('ask the destinations and the scheduler about what only they know', () => {
    const refuse =
      (wrong: string, what: string) =>
      (asked: string): void => {
        if (asked === wrong) throw new RequestError('X', `${what} is refused.`, { hint: 'Do not.' });
      };
    const text =
      '{"destinations": {"n": {"url": "ftp://x"}}, "sources": [{"path": "/a", "schedule": "0 0 31 2 *"}]}';
    expect(load(text).settings.sources).toHaveLength(1);
    const context = {
      ...CONTEXT,
      checkLocation: refuse('ftp://x', 'It'),
      checkSchedule: refuse('0 0 31 2 *', 'This'),
    };
    expect(problemsOf(text, context).map(({ path, message }) => `${path}: ${message}`)).toEqual([
      'destinations.n.url: It is refused',
      'sources[0].schedule: This is refused',
    ]);
  });
});

describe('several destinations of a source', () => {
  const three = '"destinations": {"a": {"url": "/a"}, "b": {"url": "/b"}, "c": {"url": "s3://bucket"}}';
  const problems = (source: string): readonly string[] =>
    problemsOf(`{${three}, "sources": [${source}]}`).map(({ path, message }) => `${path}: ${message}`);

  test('are a list in the order in which they are written; the default one may be among them', () => {
    const { settings } = load(
      `{${three}, "defaultDestination": "b", "sources": [
        {"path": "/x", "destinations": ["c", "default"]}, {"path": "/y", "destination": null, "destinations": ["a"]}]}`,
    );
    expect(settings.sources.map(({ destinations }) => destinations)).toEqual([['c', 'b'], ['a']]);
  });

  test.each([
    [
      '"destination": "a", "destinations": ["b"]',
      'sources[0].destinations: This source has both "destination" and',
    ],
    ['"destinations": ["a", "x"]', 'sources[0].destinations[1]: No destination is called "x"'],
    ['"destinations": ["a", "b", "a"]', 'sources[0].destinations[2]: The destination "a" is named twice'],
    [
      '"destinations": ["default", "default"]',
      'sources[0].destinations[1]: The destination "default" is named twice',
    ],
    ['"destinations": []', 'sources[0].destinations: The list is empty'],
    ['"destinations": "a"', 'sources[0].destinations: This is a text, not a list'],
    ['"destinations": ["a", 7]', 'sources[0].destinations[1]: This is a number, not a text'],
    [
      `"destinations": [${Array.from({ length: 17 }, () => '"a"').join()}]`,
      'The list has more than 16 entries',
    ],
  ])('%s is refused', (written, problem) => {
    expect(problems(`{"path": "/x", ${written}}`).join('; ')).toContain(problem);
  });

  test('may not be those of another entry for the same source, while others may', () => {
    const first = '{"path": "/x", "destinations": ["a", "b"]}';
    expect(
      load(`{${three}, "sources": [${first}, {"path": "/x", "destination": "c"}]}`).settings.sources,
    ).toHaveLength(2);
    expect(problems(`${first}, {"path": "/x", "destinations": ["c", "b"]}`)).toEqual([
      'sources[1].path: This source is configured twice for the same destination',
    ]);
  });
});

describe('the name of a destination', () => {
  const nas = '"destinations": {"nas": {"url": "/mnt"}, "far": {"url": "s3://bucket"}}';

  test('is what was configured, or else default and cloud', () => {
    const { settings } = load(
      `{${nas}, "defaultDestination": "nas", "sources": [{"path": "/a", "destination": "default"}]}`,
    );
    expect(settings.destinations.map(({ name }) => name)).toEqual(['nas', 'far']);
    expect(settings.sources[0]?.destinations).toEqual(['nas']);
    expect(findDestination(settings, 'default')?.name).toBe('nas');
    expect(findDestination(settings, 'cloud')?.name).toBe('far');
    expect(findDestination(settings, 'far')?.name).toBe('far');
    expect(findDestination(settings, 'other')).toBeUndefined();
  });

  test('default means the embedded repository until another one is chosen', () => {
    const { settings } = load(`{${nas}}`);
    expect(findDestination(settings, 'default')?.url).toBe('/state/repository');
    expect(findDestination(defaultSettings(CONTEXT), 'cloud')).toBeUndefined();
    const own = load('{"destinations": {"default": {"url": "/mnt/own"}}}').settings;
    expect(own.destinations).toEqual([{ name: 'default', url: '/mnt/own', passphrase: null }]);
  });
});

describe('the embedded repository', () => {
  const holding = { ...CONTEXT, holdsBackups: () => true };
  const settingsOf = (text: string, context = CONTEXT) =>
    loadConfig('/config.json', Buffer.from(text), context).settings;
  const names = (text: string, context = CONTEXT) =>
    settingsOf(text, context).destinations.map(({ name }) => name);

  test('stays in sight under a name of its own once backups lie in it', () => {
    const moved = '{"destinations": {"nas": {"url": "/mnt/nas"}}, "defaultDestination": "nas"}';
    expect(names(moved)).toEqual(['nas']);
    expect(names(moved, holding)).toEqual(['nas', 'embedded']);
    const settings = settingsOf(moved, holding);
    expect(settings.embedded).toEqual({ name: 'embedded', url: '/state/repository', passphrase: null });
    expect(findDestination(settings, 'embedded')).toBe(settings.embedded);
    expect(findDestination(settings, 'default')?.name).toBe('nas');
  });

  test('can be called "embedded" whatever it is called, also while nothing lies in it', () => {
    const settings = settingsOf('{"sources": [{"path": "/a", "destination": "embedded"}]}');
    expect(settings.sources[0]?.destinations).toEqual(['default']);
    expect(findDestination(settings, 'embedded')?.name).toBe('default');
    expect(settingsOf('{"defaultDestination": "embedded"}').defaultDestination).toBe('embedded');
    const also =
      '{"destinations": {"nas": {"url": "/n"}}, "defaultDestination": "nas", "sources": [{"path": "/a", "destinations": ["nas", "embedded"]}]}';
    expect(names(also)).toEqual(['embedded', 'nas']);
  });

  test('takes no name that is taken, and is not listed twice', () => {
    const taken = '{"destinations": {"default": {"url": "/d"}, "embedded": {"url": "/e"}}}';
    expect(names(taken, holding)).toEqual(['default', 'embedded', 'embedded-2']);
    expect(findDestination(settingsOf(taken, holding), 'embedded')?.url).toBe('/e');
    const mine = '{"destinations": {"mine": {"url": "/state/repository"}}, "defaultDestination": "mine"}';
    expect(names(mine, holding)).toEqual(['mine']);
    expect(findDestination(settingsOf(mine, holding), 'embedded')?.name).toBe('mine');
  });
});
