import { describe, expect, test } from 'vitest';
import type { StatusCheck } from '../../../src/jobs/agent.ts';
import { statusLines } from '../../../src/cli/agent/status.ts';
import {
  adviceOf,
  detailOf,
  moreOf,
  othersOf,
  protectionOf,
  sentenceOf,
} from '../../../src/jobs/protection.ts';
import {
  STATEMENT_CODES,
  headlineOf,
  levelOf,
  ranked,
  statement,
  type Statement,
} from '../../../src/jobs/statement.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = 100 * DAY;
const HOME = { paths: ['/home/anna'], names: ['~'], since: NOW - 2 * HOUR };
const CHECKS: readonly StatusCheck[] = [
  { name: 'state', status: 'error', message: 'The agent cannot record what it does.' },
  { name: 'configuration', status: 'warning', message: 'The configuration file cannot be used.' },
];

function said(...statements: readonly Statement[]): string {
  return protectionOf({ statements: ranked(statements), checks: CHECKS }, NOW).sentence;
}

const SENTENCES: readonly (readonly [Statement, string])[] = [
  [statement('no_source'), 'Not protected: nothing is chosen for backup yet.'],
  [statement('check_failed', { check: 'state' }), 'Not protected: the agent cannot record what it does.'],
  [
    statement('files_disappeared', { ...HOME, figures: { files_gone: 2_335, files_before: 2_676 } }),
    '2,335 of 2,676 files disappeared from Home.',
  ],
  [
    statement('files_unread', {
      ...HOME,
      files: ['/home/anna/locked.txt'],
      figures: { files: 1, folders: 0 },
    }),
    'Protected, except 1 file we could not read: locked.txt.',
  ],
  [
    statement('files_unread', {
      ...HOME,
      files: ['/home/anna/a', '/home/anna/b/c', '/elsewhere/d'],
      figures: { files: 4, folders: 1 },
    }),
    'Protected, except 4 files and everything in 1 folder we could not read: a, b/c, /elsewhere/d and 2 more.',
  ],
  [
    statement('destination_away', { to: ['usb'], since: NOW - 420_000, figures: { far: 0 } }),
    'The disk “usb” is unplugged; the last backup to it is 7m old.',
  ],
  [
    statement('destination_away', { to: ['bucket'], since: NOW - HOUR, figures: { far: 1 } }),
    '“bucket” cannot be reached; the last backup to it is 1h old.',
  ],
  [
    statement('overdue', { ...HOME, to: ['nas'], since: NOW - 3 * DAY, reason: 'away' }),
    'Not protected: Home has not been backed up to “nas” for 3d because the backup disk is not connected.',
  ],
  [
    statement('overdue', { ...HOME, to: ['nas'], since: NOW - 3 * DAY, reason: 'unreachable' }),
    'Not protected: Home has not been backed up to “nas” for 3d because the destination could not be reached.',
  ],
  [
    statement('last_failed', { ...HOME, reason: 'emptied' }),
    'Protected, but the last backup of Home failed because the repository at the destination is gone. The last good one is 2h old.',
  ],
  [
    statement('destination_gone', { to: ['usb'] }),
    'Not protected: the folder of “usb” is gone, and so are the backups in it.',
  ],
  [
    statement('never_backed_up', { paths: ['/a', '/b'], names: ['a', 'b'], reason: 'other' }),
    'Not protected: 2 sources have never been backed up; the last attempt failed.',
  ],
  [
    statement('last_failed', { ...HOME, reason: 'full' }),
    'Protected, but the last backup of Home failed because the destination is full. The last good one is 2h old.',
  ],
  [statement('protected', HOME), 'Protected: the last good backup is 2h old.'],
  [
    statement('protected', { ...HOME, since: NOW - 59_999 }),
    'Protected: the last good backup is less than a minute old.',
  ],
  [
    // It was noted while the clock was ahead.
    statement('paused', { ...HOME, since: NOW + DAY }),
    'Paused until you resume it: the last good backup is less than a minute old, and no new ones are made.',
  ],
];

describe('the sentence', () => {
  test.each(SENTENCES)('of $0.code', (one, sentence) => {
    expect(said(one, statement('protected', HOME))).toBe(sentence);
  });

  test('is made of every code, and never of nothing', () => {
    for (const code of STATEMENT_CODES) {
      const check =
        new Map<string, string>([
          ['check_failed', 'state'],
          ['check_warns', 'configuration'],
        ]).get(code) ?? null;
      expect(said(statement(code, { ...HOME, check })), code).toMatch(/^\S.*[^ :]\.?$/);
    }
  });

  test('that says more than good says what to do as well, or the sentence of the check does', () => {
    for (const code of STATEMENT_CODES) {
      const one = statement(code, { ...HOME, reason: 'other', files: ['/home/anna/x'] });
      const needsNone = ['check_failed', 'check_warns', 'first_backup_runs'].includes(code);
      if (levelOf(code) !== 'good' && !needsNone) expect(adviceOf(one), code).not.toBe('');
    }
  });
});

describe('the advice after a loss', () => {
  const lost = { ...HOME, figures: { files_gone: 21_302, files_before: 30_013 } };
  const before = { snapshot: 'a1f74213'.repeat(8), destination: 'default' };

  test('restores the snapshot from before, wherever it is, and only what is missing', () => {
    expect(adviceOf(statement('files_disappeared', { ...lost, before }))).toContain(
      'Restore what is missing (holdfast restore a1f74213 --in-place), or',
    );
    const far = { ...before, destination: 'my disk' };
    expect(adviceOf(statement('files_disappeared', { ...lost, before: far }))).toContain(
      "(holdfast restore a1f74213 --in-place -r 'my disk')",
    );
  });

  test('puts what may be damaged beside what is there', () => {
    for (const code of ['files_rewritten', 'files_burst', 'source_unreadable'] as const)
      expect(adviceOf(statement(code, { ...lost, before }))).toContain('restore a1f74213 --target DIR)');
  });

  test('says how the snapshot is found where it is not known', () => {
    expect(adviceOf(statement('files_disappeared', lost))).toContain('snapshots --path /home/anna)');
  });
});

describe('the advice', () => {
  test('against a lost or replaced repository names another folder, as its own place stays refused', () => {
    for (const reason of ['emptied', 'other_repository'] as const) {
      const advice = adviceOf(statement('last_failed', { ...HOME, reason }));
      expect(advice, reason).toContain('another folder');
      expect(advice, reason).toContain('holdfast destinations add NAME LOCATION --default');
      expect(advice, reason).not.toContain('remove');
    }
  });

  test('for a source that is gone is to remove it: it cannot be meant to be empty', () => {
    const gone = adviceOf(statement('source_empty', { ...HOME, reason: 'source_missing' }));
    expect(gone).toContain('holdfast sources remove DIR');
    expect(gone).not.toContain('--acknowledge');
    expect(adviceOf(statement('source_empty', HOME))).toContain('holdfast alarms --acknowledge');
  });

  test('for a source that was left out from the first does not speak of older snapshots', () => {
    const fresh = { ...HOME, since: null };
    expect(adviceOf(statement('source_left_out', fresh))).toMatch(/^The job names the rules: /);
    for (const older of [HOME, { ...fresh, figures: { files_before: 60 } }])
      expect(adviceOf(statement('source_left_out', older))).toMatch(/^Older snapshots are kept. The job/);
  });

  test('where no backup has failed, as after one was canceled, is to look at the jobs and try again', () => {
    for (const code of ['never_backed_up', 'overdue'] as const)
      expect(adviceOf(statement(code, HOME))).toBe(
        'The jobs say what happened: holdfast jobs. To back up now: holdfast backup -r NAME DIR',
      );
  });

  test('against backups that are late because they are paused is to resume them', () => {
    expect(adviceOf(statement('overdue', { ...HOME, figures: { paused: 1 } }))).toBe(
      'Backups are paused. To resume: holdfast resume',
    );
  });

  test('against a destination that cannot be reached fits a disk as well as a server', () => {
    expect(adviceOf(statement('never_backed_up', { ...HOME, reason: 'unreachable' }))).toBe(
      'Check that it is switched on and connected, and that the network works. Holdfast will try again.',
    );
  });

  test('against damage has an end where a new backup does not mend everything', () => {
    expect(adviceOf(statement('damaged', { to: ['usb'] }))).toMatch(
      /If it still finds damage, remove the snapshots it names: holdfast forget ID$/,
    );
  });

  test('for files that could not be read says when the warning ends', () => {
    const one = statement('files_unread', { ...HOME, files: ['/home/anna/x'] });
    expect(adviceOf(one)).toContain('The next backup clears this warning.');
  });
});

describe('the headline', () => {
  const unread = statement('files_unread', { figures: { files: 1 } });
  const gone = statement('files_disappeared');
  const away = statement('destination_away');
  const good = statement('protected');

  test('is the worst, in whatever order they come', () => {
    for (const all of [
      [good, unread, gone, away],
      [gone, away, unread, good],
    ])
      expect(headlineOf(ranked(all))).toMatchObject({ code: 'files_disappeared', level: 'bad', more: 1 });
  });

  test('counts what is to be put right; where nothing is, what is good to know', () => {
    expect(headlineOf(ranked([good, away]))).toMatchObject({ code: 'destination_away', more: 0 });
    const disk = statement('same_disk');
    const statements = ranked([good, away, disk]);
    expect(headlineOf(statements)).toMatchObject({ code: 'destination_away', level: 'good', more: 1 });
    expect(othersOf({ statements })).toEqual([disk]);
    expect(othersOf({ statements: ranked([good, away, unread, gone]) })).toEqual([unread]);
  });

  test('does not hide that files and backups share a disk, whatever else is wrong', () => {
    const disk = statement('same_disk', { names: ['src'] });
    const statements = ranked([good, disk, unread]);
    expect(othersOf({ statements })).toEqual([disk]);
    expect(headlineOf(statements)).toMatchObject({ code: 'files_unread', more: 1 });
    const plain = (text: string): string => text;
    const lines = statusLines(
      { statements, checks: [], config: { status: 'ok', file: '', error: null } },
      0,
      { green: plain, yellow: plain, red: plain, bold: plain },
    );
    expect(lines.join('\n')).toContain('! The backups of src are on the same disk as the files.');
  });

  test('has the words of the right one of two checks with one name', () => {
    const checks = [
      { name: 'partner', status: 'warning', code: 'device_removed', message: 'The device is unknown.' },
      { name: 'partner', status: 'warning', code: 'no_plan', message: 'There is no plan.' },
    ] as const;
    const said = statement('check_warns', { check: 'partner', checkCode: 'no_plan' });
    expect(sentenceOf(said, checks, 0)).toBe('Protected, but: there is no plan.');
  });

  test('says how many more things there are', () => {
    expect([0, 1, 2].map((more) => moreOf({ more }))).toEqual([
      '',
      ' And one more thing.',
      ' And 2 more things.',
    ]);
  });

  test('ranks no two codes alike, so that the same facts always give the same headline', () => {
    const severities = STATEMENT_CODES.map((code) => statement(code).severity);
    expect(new Set(severities).size).toBe(severities.length);
  });
});

test('below the headline a sentence does not say again whether the person is protected', () => {
  const unwatched = statement('not_watched', { names: ['src2'] });
  expect(detailOf(unwatched, [], 0)).toMatch(/^Changes in src2 are not noticed/);
  expect(detailOf(statement('never_backed_up', { names: ['src2'] }), [], 0)).toMatch(/^src2 has never/);
});
