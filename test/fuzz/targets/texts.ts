/** Short texts that people or other programs write: places, times of jobs, patterns, files of ssh. */
import {
  decidingRule,
  compileIgnoreFile,
  compileSettings,
  enterPatterns,
  NO_PATTERNS,
} from '../../../src/exclude/patterns.ts';
import { asByteString } from '../../../src/base/byte-path.ts';
import { RequestError } from '../../../src/base/errors.ts';
import { formatBytes, formatDuration, parseDuration, parseSize } from '../../../src/base/units.ts';
import { checkScheduleText } from '../../../src/config/schedule-text.ts';
import { parseLocation, placeUrl } from '../../../src/destination/location.ts';
import { judgeHostKey, knownTypes, parseKnownHosts } from '../../../src/destination/sftp/known-hosts.ts';
import { parseSshConfig } from '../../../src/destination/sftp/ssh-config.ts';
import { parseTimeOfDay } from '../../../src/jobs/conditions.ts';
import { parseKeepDuration } from '../../../src/repository/retention/retention-calendar.ts';
import { nextRuns, parseSchedule } from '../../../src/schedule/schedule.ts';
import { parseMounts } from '../../../src/system/mount-table.ts';
import { viewOf } from '../../../src/watch/mounts.ts';
import { judged, need, parsed, requireEqual, textOf } from '../structured.ts';
import type { TargetTable } from '../target.ts';

const isRequestError = (error: unknown): boolean => error instanceof RequestError;
const bytes = (text: string): Buffer => Buffer.from(text);

const HOST_KEY = Buffer.concat([Buffer.from([0, 0, 0, 11]), bytes('ssh-ed25519'), Buffer.alloc(36, 1)]);
const KNOWN = `nas ssh-ed25519 ${HOST_KEY.toString('base64')}
@revoked *.example.org,!good.example.org ssh-ed25519 ${HOST_KEY.toString('base64')}
|1|AAAA|BBBB ssh-ed25519 ${HOST_KEY.toString('base64')}
[nas]:2222,192.168.0.? ssh-ed25519 ${HOST_KEY.toString('base64')} comment`;

export const TEXTS: TargetTable<'texts'> = {
  location: () => ({
    files: ['src/destination/location.ts', 'src/destination/url-parts.ts'],
    seeds: [
      '/srv/backup',
      'file:///a%20b',
      's3://bucket/a/b?region=x&endpoint=https://h:9000',
      'sftp://ana@nas:2222/~/b',
      'webdavs://h/dav/a',
      'azblob://container/p?account=a',
      'gs://bucket/p',
      'rclone:remote:a/b',
      'sftp://[::1]/x',
    ].map(bytes),
    maxBytes: 4_096,
    words: [
      '://',
      ':',
      '@',
      '?',
      '&',
      '=',
      '%2F',
      '%',
      '[',
      ']',
      '..',
      's3',
      'sftp',
      'webdav',
      'rclone',
      '~',
      '#',
    ],
    run: (input) =>
      judged(
        parsed(() => parseLocation(textOf(input)), isRequestError),
        (place) => {
          const url = placeUrl(place);
          requireEqual(placeUrl(parseLocation(url)), url, 'the place under its own URL');
        },
      ),
  }),
  schedule: () => ({
    files: ['src/schedule/schedule.ts', 'src/schedule/cron.ts', 'src/config/schedule-text.ts'],
    seeds: [
      'off',
      'hourly',
      'daily at 02:30',
      'weekdays at 18:00',
      'every 4h',
      '30 2 * * 1-5',
      '*/7 0,12 1-3 jan-mar sun#2',
    ].map(bytes),
    maxBytes: 512,
    words: [
      '*',
      '/',
      ',',
      '-',
      '#',
      '?',
      'L',
      '?',
      'jan',
      'mon',
      '0',
      '59',
      'every ',
      ' at ',
      'daily',
      'monthly',
      'h',
      'd',
    ],
    run: (input) => {
      const text = textOf(input);
      parsed(() => checkScheduleText(text), isRequestError);
      return judged(
        parsed(() => parseSchedule(text), isRequestError),
        (schedule) => {
          const after = Date.UTC(2026, 9, 25);
          const runs = nextRuns(schedule, after, 'Europe/Berlin', 3);
          need(
            runs.every((run, index) => run > (runs[index - 1] ?? after)),
            'the runs do not follow each other',
          );
        },
      );
    },
  }),
  amounts: () => ({
    files: ['src/base/units.ts', 'src/repository/retention/retention-calendar.ts', 'src/jobs/conditions.ts'],
    seeds: ['500M', '1.5GiB', '4096', '1h30m', '72h', '90s', '1y2m3d4h', '22:30'].map(bytes),
    maxBytes: 65_536,
    words: ['.', '0', '9', 'ms', 'KiB', 'w', 'd', 'h', ' ', 'e', '+', ':'],
    run: (input) => {
      const text = textOf(input);
      const results = [
        parsed(() => formatBytes(parseSize(text)), isRequestError),
        parsed(() => parseDuration(formatDuration(parseDuration(text))), isRequestError),
        parsed(() => parseKeepDuration(text), isRequestError),
        parsed(() => parseTimeOfDay(text), isRequestError),
      ];
      return results.every((result) => result === 'refused') ? 'refused' : 'taken';
    },
  }),
  // Lines of an ignore file, a NUL, and a name.
  'exclude-patterns': () => ({
    files: ['src/exclude/patterns.ts', 'src/exclude/glob.ts'],
    seeds: ['*.o\n!keep.o\n/build/\0a.o', '**/a?[b-d][[:alpha:]]/**\n\\#x\0abc', 'a*b*c*d\0aXbYcZd'].map(
      bytes,
    ),
    maxBytes: 16_384,
    words: ['*', '**/', '/**', '?', '[', ']', '[^', '[[:alpha:]]', '\\', '!', '#', '\n', '\0', '-'],
    run: (input) => {
      const text = input.toString('latin1');
      const [content = '', name = 'a'] = text.split('\0');
      const file = compileIgnoreFile(asByteString(content), asByteString('/s/.ignore'), asByteString('/s'));
      const active = enterPatterns(NO_PATTERNS, file, [], asByteString(`/s/${name.slice(0, 4_096)}`));
      decidingRule(active.rules, asByteString(name.slice(0, 255)), true);
      const settings = content
        .split('\n')
        .slice(0, 100)
        .map((pattern) => ({
          pattern: asByteString(pattern),
          ignoreCase: pattern.length % 2 === 0,
          from: 'test',
        }));
      return judged(
        parsed(() => compileSettings(settings, asByteString('/s')), isRequestError),
        (layer) => {
          const { rules } = enterPatterns(NO_PATTERNS, layer, [], asByteString('/s/a'));
          decidingRule(rules, asByteString(name.slice(0, 255)), false);
        },
      );
    },
  }),
  'known-hosts': () => ({
    files: ['src/destination/sftp/known-hosts.ts'],
    seeds: [bytes(KNOWN)],
    maxBytes: 16_384,
    words: ['*', '?', '!', ',', '|1|', '@revoked ', '@cert-authority ', '\n', '[', ']:', '#'],
    run: (input) => {
      const known = parseKnownHosts(textOf(input), 'known_hosts');
      judgeHostKey(known, 'nas.example.org', 22, HOST_KEY);
      knownTypes(known, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 2_222);
      return known.length > 0 ? 'taken' : 'refused';
    },
  }),
  'ssh-config': () => ({
    files: ['src/destination/sftp/ssh-config.ts'],
    seeds: [
      bytes(
        'Host nas *.org !bad\n  HostName = %h.example.org\n Port 2222\nIdentityFile "~/a b"\nMatch all\nUser x',
      ),
    ],
    maxBytes: 65_536,
    words: ['Host ', '*', '?', '!', '"', '=', ' ', '\t', '\n', 'IdentityFile ', '%h', '%d', '~/', 'Port '],
    run: (input) => {
      const { port } = parseSshConfig(
        textOf(input),
        'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
        '/home/ana',
      );
      need(port === undefined || (port > 0 && port < 65_536), 'the port');
      return 'taken';
    },
  }),
  mounts: () => ({
    files: ['src/system/mount-table.ts', 'src/watch/mounts.ts'],
    seeds: [
      bytes(
        '36 35 98:0 / /mnt\\040a rw,noatime master:1 - nfs4 h:/x rw\n37 36 0:5 / /proc rw - proc proc rw',
      ),
    ],
    maxBytes: 65_536,
    words: [' - ', '\\040', '\\777', ' ', '\n', '/'],
    run: (input) => {
      const mounts = parseMounts(input.toString('latin1'));
      viewOf(asByteString('/mnt a/b'), mounts);
      return mounts.length > 0 ? 'taken' : 'refused';
    },
  }),
};
