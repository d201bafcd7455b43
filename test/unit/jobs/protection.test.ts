import { describe, expect, test } from 'vitest';
import type { FullStatus, SourceStatus, StatusCheck } from '../../../src/jobs/agent.ts';
import { headlineOf, protectionOf, type Headline } from '../../../src/jobs/protection.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = 100 * DAY;

function source(path: string, changes: Partial<SourceStatus> = {}): SourceStatus {
  return {
    path,
    destination: 'default',
    schedule: 'every 4h',
    last_good_backup_at: NOW - 2 * HOUR,
    next_run_at: NOW + 2 * HOUR,
    overdue: false,
    watching: true,
    ...changes,
  };
}

const FINE: StatusCheck = { name: 'configuration', status: 'ok', message: 'The configuration is in force.' };
const PAUSE: StatusCheck = { name: 'pause', status: 'warning', message: 'Backups are paused until …' };
const never = { last_good_backup_at: null };

function status(changes: Partial<FullStatus> = {}): FullStatus {
  return {
    status: 'ok',
    version: '1.2.3',
    uptime_seconds: 10,
    jobs: { running: 0, queued: 0 },
    last_backup: { status: 'completed', finished_at: NOW - 2 * HOUR },
    next_run_at: NOW + 2 * HOUR,
    checks: [FINE],
    sources: [source('/home/anna')],
    destinations: [],
    storage: { used_bytes: 0, free_bytes: null },
    watcher: { status: 'ok', directories: 1 },
    config: { status: 'ok', file: '/state/config.json', error: null },
    ...changes,
  };
}

const SITUATIONS: readonly (readonly [string, Partial<FullStatus>, string, string])[] = [
  ['no source', { sources: [], last_backup: null }, 'bad', 'Not protected: no source is configured.'],
  [
    'never backed up, and nothing begins',
    { sources: [source('/home/anna', never)], last_backup: null },
    'bad',
    'Not protected: /home/anna has never been backed up.',
  ],
  [
    'one of two never backed up',
    { sources: [source('/a'), source('/b', never)] },
    'bad',
    'Not protected: /b has never been backed up.',
  ],
  [
    'the first backup under way',
    { sources: [source('/a', never)], last_backup: null, jobs: { running: 1, queued: 0 } },
    'warning',
    'Not protected yet: the first backup is on its way.',
  ],
  [
    'the first backup held by a pause',
    {
      status: 'paused',
      checks: [FINE, PAUSE],
      sources: [source('/a', never)],
      last_backup: null,
      jobs: { running: 0, queued: 1 },
    },
    'warning',
    'Not protected yet: the first backup waits for the end of the pause.',
  ],
  [
    'the first backup failed',
    {
      sources: [source('/a', never), source('/b', never)],
      last_backup: { status: 'failed', finished_at: NOW - HOUR },
      jobs: { running: 0, queued: 1 },
    },
    'bad',
    'Not protected: 2 sources have never been backed up, and the last attempt failed.',
  ],
  ['all well', {}, 'good', 'Protected: the last good backup is 2h old.'],
  [
    'two sources, of which the older backup counts',
    { sources: [source('/a'), source('/b', { last_good_backup_at: NOW - 5 * HOUR })] },
    'good',
    'Protected: the last good backup is 5h old.',
  ],
  [
    'overdue',
    { sources: [source('/a'), source('/b', { overdue: true, last_good_backup_at: NOW - 3 * DAY })] },
    'bad',
    'Not protected: /b has not been backed up for 3d.',
  ],
  [
    'one of three destinations never reached',
    {
      sources: [
        source('/a'),
        source('/a', { destination: 'usb', ...never }),
        source('/a', { destination: 'nas' }),
      ],
    },
    'bad',
    'Not protected: /a has never been backed up to usb.',
  ],
  [
    'two of three destinations overdue',
    {
      sources: [
        source('/a'),
        source('/a', { destination: 'usb', overdue: true, last_good_backup_at: NOW - 3 * DAY }),
        source('/a', { destination: 'nas', overdue: true, last_good_backup_at: NOW - 4 * DAY }),
      ],
    },
    'bad',
    'Not protected: /a has not been backed up to usb and nas for 4d.',
  ],
  [
    'destinations of several sources overdue',
    {
      sources: [
        source('/a', { overdue: true }),
        source('/a', { destination: 'usb', overdue: true }),
        source('/b', { overdue: true }),
      ],
    },
    'bad',
    'Not protected: 2 sources have not been backed up for 2h.',
  ],
  [
    'a destination that is behind',
    { sources: [source('/a'), source('/a', { destination: 'usb', last_good_backup_at: NOW - 2 * DAY })] },
    'good',
    'Protected: the last good backup is 2d old.',
  ],
  [
    'overdue, since every attempt fails',
    {
      sources: [source('/b', { overdue: true, last_good_backup_at: NOW - 3 * DAY })],
      last_backup: { status: 'failed', finished_at: NOW - HOUR },
    },
    'bad',
    'Not protected: /b has not been backed up for 3d; the last attempt failed.',
  ],
  [
    'failing since a short time',
    { last_backup: { status: 'failed', finished_at: NOW - HOUR } },
    'warning',
    'Protected, but the last backup failed: the last good one is 2h old.',
  ],
  [
    'paused',
    { status: 'paused', checks: [FINE, PAUSE] },
    'warning',
    'Paused: the last good backup is 2h old, and none is made now.',
  ],
  [
    'paused with a broken configuration',
    {
      status: 'degraded',
      checks: [
        { name: 'configuration', status: 'warning', message: 'The configuration cannot be used.' },
        PAUSE,
      ],
    },
    'warning',
    'Paused: the last good backup is 2h old, and none is made now.',
  ],
  [
    'paused for so long that a source is overdue',
    {
      status: 'paused',
      checks: [FINE, PAUSE],
      sources: [source('/a', { overdue: true, last_good_backup_at: NOW - 9 * DAY })],
    },
    'bad',
    'Not protected: /a has not been backed up for 9d.',
  ],
  [
    'a broken configuration',
    {
      status: 'degraded',
      checks: [{ name: 'configuration', status: 'warning', message: 'The configuration cannot be used.' }],
    },
    'warning',
    'Protected, but: the configuration cannot be used.',
  ],
  [
    'an alarm',
    {
      status: 'degraded',
      checks: [FINE, { name: 'alarms', status: 'warning', message: 'A source looks damaged (shrunk).' }],
    },
    'warning',
    'Protected, but: a source looks damaged (shrunk).',
  ],
  [
    'a destination that is gone',
    {
      status: 'error',
      checks: [
        { name: 'destinations', status: 'error', message: '1 of the destinations cannot be reached.' },
      ],
    },
    'bad',
    'Not protected: 1 of the destinations cannot be reached.',
  ],
];

describe('the sentence about protection', () => {
  test.each(SITUATIONS)('with %s', (_situation, changes, level, sentence) => {
    expect(protectionOf(status(changes), NOW)).toEqual({ level, sentence });
  });
});

const HEADLINES: readonly (readonly [string, Partial<FullStatus>, Partial<Headline>])[] = [
  ['no source', { sources: [] }, { code: 'no_source', paths: [], since: null }],
  [
    'a check that fails',
    { checks: [FINE, { name: 'destinations', status: 'error', message: 'Gone.' }] },
    { code: 'check_failed', check: 'destinations', paths: [], since: NOW - 2 * HOUR },
  ],
  [
    'a check that warns',
    { checks: [{ name: 'alarms', status: 'warning', message: 'Shrunk.' }] },
    { code: 'check_warns', check: 'alarms', level: 'warning' },
  ],
  [
    'the first backup under way',
    { sources: [source('/a', never)], last_backup: null, jobs: { running: 1, queued: 0 } },
    { code: 'first_backup_runs', paths: ['/a'], since: null },
  ],
  [
    'the first backup held up by a pause',
    {
      sources: [source('/a', never)],
      last_backup: null,
      jobs: { running: 0, queued: 1 },
      checks: [PAUSE],
    },
    { code: 'first_backup_paused', level: 'warning' },
  ],
  [
    'one destination of a source without a backup',
    { sources: [source('/a'), source('/a', { ...never, destination: 'nas' }), source('/b')] },
    { code: 'never_backed_up', paths: ['/a'], to: ['nas'], since: null },
  ],
  [
    'all destinations of a source without a backup',
    { sources: [source('/a', never), source('/a', { ...never, destination: 'nas' }), source('/b')] },
    { code: 'never_backed_up', paths: ['/a'], to: [] },
  ],
  [
    'two sources that are overdue, while the last attempt failed',
    {
      sources: [
        source('/a', { overdue: true, last_good_backup_at: NOW - 3 * DAY }),
        source('/b', { overdue: true, last_good_backup_at: NOW - 5 * DAY }),
        source('/c', { last_good_backup_at: NOW - 9 * DAY }),
      ],
      last_backup: { status: 'failed', finished_at: NOW },
    },
    { code: 'overdue', paths: ['/a', '/b'], to: [], since: NOW - 5 * DAY, hasFailed: true },
  ],
  [
    'a last backup that failed',
    { last_backup: { status: 'failed', finished_at: NOW } },
    { code: 'last_failed', level: 'warning', paths: [], hasFailed: true },
  ],
  ['a pause', { checks: [PAUSE] }, { code: 'paused', level: 'warning', since: NOW - 2 * HOUR }],
  [
    'everything as it should be',
    { sources: [source('/a'), source('/b', { last_good_backup_at: NOW - 4 * HOUR })] },
    { code: 'protected', level: 'good', paths: ['/a', '/b'], since: NOW - 4 * HOUR, hasFailed: false },
  ],
];

describe('the headline', () => {
  test.each(HEADLINES)('with %s', (_situation, changes, headline) => {
    expect(headlineOf(status(changes))).toMatchObject(headline);
  });
});
