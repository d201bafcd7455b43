import { describe, expect, test } from 'vitest';
import { nearestName } from '../../../src/config/nearest-name.ts';
import { textProblem, type TextFormat } from '../../../src/config/text-formats.ts';

const GOOD: Readonly<Record<TextFormat, readonly string[]>> = {
  schedule: [
    'off',
    'hourly',
    'daily',
    'weekly',
    'monthly',
    'daily at 02:30',
    'weekdays at 18:00',
    'every 4h',
    'every 1h30m',
    '30 2 * * *',
    '*/5 0-6 1,15 jan-mar mon',
    'Daily at 2:30',
  ],
  rate: ['1 KiB', '500 KiB', '2 MiB', '1024'],
  size: ['1 B', '1024', '10 MiB', '4 GiB', '1.5MB', '500k'],
  span: ['0', '4h', '90s', '1h30m'],
  patience: ['1s', '10m', '30d'],
  'calendar-span': ['2d', '1y6m', '12h', '1y2m3d4h'],
  'clock-time': ['00:00', '23:59', '08:00'],
  'clock-range': ['22:00-06:00', '00:00-23:59'],
  'zone-name': ['Europe/Berlin', 'UTC', 'America/New_York'],
  percentage: ['0%', '5%', '12.5%', '100%'],
  'compression-name': ['zstd', 'zstd:1', 'zstd:19', 'none', 'auto'],
  'absolute-path': ['/', '/srv/data', '~', '~/Documents', 'C:\\Users'],
  'file-name': ['.nobackup', 'a:b'],
  'marker-name': ['.nobackup', 'CACHEDIR.TAG:Signature: a/b'],
  location: [
    '/mnt/x',
    '~/x',
    'file:///mnt/x',
    's3://bucket/prefix',
    'sftp://user@host:22/dir',
    'rclone:remote:path',
    'C:/x',
    '/with?password=in/path',
  ],
  'web-url': ['https://hc-ping.com/1234', 'http://localhost:8080/', 'https://user@host/'],
  'host-name': ['mail.example.org', 'nas', 'mail.münchen.example', '192.168.1.2', 'fd00::2'],
  'mail-address': ['a@b', 'Anna Beispiel <anna@example.org>'],
};

const BAD: Readonly<Record<TextFormat, readonly string[]>> = {
  schedule: [
    '',
    'dayly',
    'at 02:30',
    'daily at 25:00',
    'daily 02:30',
    'every',
    'every 10s',
    'every 2y',
    'every 500d',
    '* * * *',
    '* * * * * *',
    'a b c d e',
    'off at 02:30',
  ],
  rate: ['', '0', '1', '1023', '1 B', 'fast'],
  size: ['', 'fast', '-1', '10 apples', '0', '1', '500', ' 1.5 ', '1000', '9999P'],
  span: ['', '5 minutes', '-1h', '30m1h', '1y'],
  patience: ['', '0', '0s', '999ms', '5 minutes'],
  'calendar-span': ['', '2w', '2 d', '6m1y', '-1d'],
  'clock-time': ['24:00', '8:00', '08:60', '0800', ' 08:00'],
  'clock-range': ['22:00', '22:00-22:00', '22-06', '22:00-06:00-07:00', '22:00 - 06:00'],
  'zone-name': ['', 'Mars/Olympus', 'CET-ish'],
  percentage: ['', '5', '101%', '-1%', '%'],
  'compression-name': ['', 'zstd:0', 'zstd:20', 'gzip', 'ZSTD'],
  'absolute-path': ['', 'Documents', './x', '~anna/x'],
  'file-name': ['a/b', '.', '..', '/', 'a:b/c'],
  'marker-name': ['a/b', '.:text', '..', '/', ':text'],
  location: [
    '',
    'mnt/x',
    '~anna/x',
    './x',
    'sftp://me:pw@host/',
    's3://b?token=x',
    'https://host/#api_key=1',
  ],
  'web-url': ['', 'host/path', 'ftp://host', 'https://', 'https://me:pw@host', 'https://host/?sig=abc'],
  'host-name': [
    '',
    'smtp://mail.example.org',
    'mail.example.org:587',
    'a b',
    'me@mail',
    '[fd00::2]',
    'mail/',
  ],
  'mail-address': ['', 'anna', 'a@b, c@d', '<a@b', 'a b@c', 'x\r\nBcc: <y@z>'],
};

describe('a text with a meaning', () => {
  test.each(Object.entries(GOOD))('of the format %s is taken', (format, texts) => {
    for (const text of texts)
      expect([text, textProblem(format as TextFormat, text)]).toEqual([text, undefined]);
  });

  test.each(Object.entries(BAD))('that is none of the format %s is refused with advice', (format, texts) => {
    for (const text of [...texts, 'zero\0byte']) {
      const problem = textProblem(format as TextFormat, text);
      expect([text, problem?.message]).toEqual([text, expect.stringMatching(/./)]);
      expect([text, problem?.hint]).toEqual([text, expect.stringMatching(/\.$|"\.$/)]);
    }
  });
});

describe('the nearest name', () => {
  const known = ['sources', 'schedule', 'destinations', 'keepDaily', 'keepWeekly', 'caches', 'url'];

  test.each([
    ['source', 'sources'],
    ['sorces', 'sources'],
    ['shcedule', 'schedule'],
    ['keep-daily', 'keepDaily'],
    ['KEEP_WEEKLY', 'keepWeekly'],
    ['excludeCaches', 'caches'],
    ['uri', 'url'],
  ])('of %s is %s', (name, nearest) => {
    expect(nearestName(name, known)).toBe(nearest);
  });

  test('of something quite different is none', () => {
    for (const name of ['', 'compression', 'x', 'x'.repeat(100_000)])
      expect(nearestName(name, known)).toBeUndefined();
  });
});
