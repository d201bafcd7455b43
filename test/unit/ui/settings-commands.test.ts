import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { findSetting, readTypedValue } from '../../../src/config/key-path.ts';
import {
  changeCommands,
  quoted,
  setCommand,
  setCommands,
} from '../../../src/ui/pages/settings/settings-commands.ts';
import { DEFAULTS, SOURCE_DEFAULTS } from '../../../src/ui/pages/settings/settings-values.ts';

/** The words that a shell makes of a line. */
function shellWords(line: string): readonly string[] {
  const words = execFileSync('/bin/bash', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' });
  return words.split('\0').slice(0, -1);
}

describe('a command that is shown', () => {
  test.each(['simple', '~/Documents', "it's", '*/5 2 * * *', '', '$HOME `id`', 'a\nb', '"', '!keep'])(
    'has %j as one word for the shell, as it stands',
    (text) => expect(shellWords(quoted(text))).toEqual([text]),
  );

  test.each(['\u202Egnp.exe', "it's\u001B[31m", 'a\\b\u200B'])('hides nothing of %j', (text) => {
    expect(quoted(text)).not.toMatch(/\p{C}/u);
    expect(shellWords(quoted(text))).toEqual([text]);
  });

  test.each([
    [['retention', 'keepDaily'], 14],
    [['retention', 'keepLast'], null],
    [['timeZone'], 'Europe/Berlin'],
    [['timeZone'], null],
    [['sources', 0, 'schedule'], '30 2 * * 1-5'],
    [
      ['sources', 0, 'exclude', 'patterns'],
      ["it's", '*.tmp'],
    ],
    [['sources', 0, 'watch'], false],
    [['notices', 'ntfy'], { url: 'https://ntfy.sh/a', token: { file: '/state/secret' } }],
    [['bandwidth'], [{ from: '08:00', uploadLimit: '2 MiB' }]],
    [['destinations', 'nas', 'access', 's3', 'objectLockDays'], 30],
  ])('sets %j to %j when it is run', (path, value) => {
    const [, , , key = '', typed = ''] = shellWords(setCommand(path, value));
    const setting = findSetting(key);
    expect(setting.path).toEqual(path);
    expect(readTypedValue(setting, typed)).toEqual(value);
  });

  test('shows settings as they are', () => {
    expect(
      setCommands(DEFAULTS, [
        ['retention', 'keepDaily'],
        ['maintenance', 'check'],
      ]),
    ).toEqual(['holdfast config set retention.keepDaily 7', 'holdfast config set maintenance.check weekly']);
  });
});

describe('the commands of changes', () => {
  const source = { ...SOURCE_DEFAULTS, path: '/home/me/My Pictures' };

  test('add and remove sources by their own command', () => {
    expect(changeCommands([{ path: ['sources', 2], before: undefined, after: source }])).toEqual([
      "holdfast sources add '/home/me/My Pictures' --schedule 'every 4h'",
    ]);
    const several = { ...source, destinations: ['nas', 'usb'] };
    expect(changeCommands([{ path: ['sources', 2], before: undefined, after: several }])).toEqual([
      "holdfast sources add '/home/me/My Pictures' --destination nas --destination usb --schedule 'every 4h'",
    ]);
    expect(changeCommands([{ path: ['sources', 0], before: source, after: undefined }])).toEqual([
      "holdfast sources remove '/home/me/My Pictures'",
    ]);
  });

  test('add and remove destinations by their own command, and set what they are reached with', () => {
    const s3 = { url: 's3://b', access: { s3: { accessKeyId: 'KEY', secretAccessKey: { file: '/s' } } } };
    expect(changeCommands([{ path: ['destinations', 'cloud'], before: undefined, after: s3 }])).toEqual([
      'holdfast destinations add cloud s3://b --untested',
      `holdfast config set destinations.cloud.access '{"s3":{"accessKeyId":"KEY","secretAccessKey":{"file":"/s"}}}'`,
      'holdfast destinations test cloud',
    ]);
    const added = (after: object) =>
      changeCommands([{ path: ['destinations', 'nas'], before: undefined, after }]);
    expect(added({ url: '/n', access: null })).toEqual(['holdfast destinations add nas /n']);
    const untested = { url: '/n', access: null, untested: true };
    expect(added(untested)).toEqual(['holdfast destinations add nas /n --untested']);
    expect(changeCommands([{ path: ['destinations', 'cloud'], before: s3, after: undefined }])).toEqual([
      'holdfast destinations remove cloud',
    ]);
    const gone = { path: ['destinations', 'cloud'], before: s3, after: undefined };
    const next = (after: string | null) => ({ path: ['defaultDestination'], before: 'cloud', after });
    expect(changeCommands([gone, next(null)])).toEqual([
      'holdfast destinations remove cloud --default-to embedded',
    ]);
    expect(changeCommands([next('nas'), gone])).toEqual([
      'holdfast destinations remove cloud --default-to nas',
    ]);
  });

  test('set what else was changed', () => {
    expect(changeCommands([{ path: ['conditions', 'onBattery'], before: 'wait', after: 'run' }])).toEqual([
      'holdfast config set conditions.onBattery run',
    ]);
  });
});
