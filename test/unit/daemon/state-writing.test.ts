/** What is said while the agent cannot write its state. */
import { beforeEach, describe, expect, it } from 'vitest';
import Sqlite from 'better-sqlite3';
import { RequestError, StateError } from '../../../src/base/errors.ts';
import { StateWriting } from '../../../src/daemon/state/writing.ts';
import type { JobBook } from '../../../src/jobs/job-book.ts';
import type { Notice } from '../../../src/notify/notice.ts';
import { manualClock, settle, type ManualClock } from '../../support/manual-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const full = new Sqlite.SqliteError('database or disk is full', 'SQLITE_FULL');

let clock: ManualClock;
let notices: Notice[];
let isFull: boolean;
let mended: number;
let writing: StateWriting;

beforeEach(() => {
  clock = manualClock();
  notices = [];
  isFull = true;
  mended = 0;
  writing = new StateWriting({
    stateDirectory: '/var/lib/holdfast',
    settings: {
      set: () => {
        if (isFull) throw full;
      },
    },
    notifier: { notify: (notice) => void notices.push(notice) },
    clock,
  });
  writing.whenMended(() => (mended += 1));
});

describe('a state that cannot be written', () => {
  it('is an error of the status that says what to do, without a path, until something is written', async () => {
    expect(writing.checks()).toEqual([]);
    writing.failed(full);
    expect(writing.checks()).toEqual([
      {
        name: 'state',
        status: 'error',
        message:
          'The agent cannot record what it does, so backups are not made, or their results are lost: the disk of the state directory is full. Free up space there.',
      },
    ]);
    writing.done();
    expect(writing.checks()).toEqual([]);
    await settle();
    expect(mended).toBe(1);
  });

  it('is told once, with the directory, however often it fails, and again after about a day', async () => {
    for (let minute = 0; minute < 26 * 60; minute += 1) {
      writing.failed(full);
      await clock.advance(MINUTE);
    }
    expect(notices.map(({ kind }) => kind)).toEqual(['state.failed', 'state.failed']);
    expect(notices[0]?.text).toContain('the disk of /var/lib/holdfast is full');
  });

  it('says what keeps it from being written, and what to do', () => {
    const held = new Sqlite.SqliteError('database is locked', 'SQLITE_BUSY');
    const said = (error: unknown): string => {
      writing.failed(error);
      return writing.checks()[0]?.message ?? '';
    };
    expect(said(held)).toMatch(/: another program is using the database state\.db .*\. Close that program/);
    const refused = new RequestError('SERVICE_UNAVAILABLE', 'The job cannot be recorded', { cause: held });
    expect(said(refused)).toContain('another program is using');
    expect(said(new Sqlite.SqliteError('readonly', 'SQLITE_READONLY'))).toContain('mounted read-only');
    expect(said(new Sqlite.SqliteError('moved', 'SQLITE_READONLY_DBMOVED'))).toContain('moved or removed');
    expect(said(new Sqlite.SqliteError('malformed', 'SQLITE_CORRUPT'))).toContain('is damaged');
    expect(said(new Sqlite.SqliteError('disk I/O error', 'SQLITE_IOERR_WRITE'))).toContain(
      'nothing can be written to the disk',
    );
    expect(said(new StateError('WRITE_ERROR', 'x', { cause: full }))).toContain('is full');
    writing.done();
    expect(said(new TypeError('a mistake in the program'))).toBe('');
  });

  it('is told again when it comes back later, but not for each write that finds room', async () => {
    for (let minute = 0; minute < 30; minute += 1) {
      writing.failed(full);
      writing.done();
      await clock.advance(MINUTE);
    }
    expect(notices).toHaveLength(1);
    await clock.advance(HOUR);
    writing.failed(full);
    expect(notices).toHaveLength(2);
  });

  it('is looked at by itself, since the next job may be a day away', () => {
    writing.failed(full);
    writing.look();
    expect(writing.checks()).toHaveLength(1);
    isFull = false;
    writing.look();
    expect(writing.checks()).toEqual([]);
  });

  it('is seen by whatever is written about jobs', () => {
    const noRoom = new RequestError('INSUFFICIENT_STORAGE', 'The job cannot be recorded', { cause: full });
    let error: Error | undefined = noRoom;
    const write = (): never => {
      if (error !== undefined) throw error;
      return [] as never;
    };
    const book = writing.watched({ add: write, addAll: write, change: write } as unknown as JobBook);
    for (const [call, failure] of [
      [() => book.addAll([], 'api', {}), noRoom],
      [() => book.change('id', (record) => record), new StateError('WRITE_ERROR', 'The journal …')],
    ] as const) {
      error = failure;
      expect(call).toThrow(failure);
      expect(writing.checks()).toHaveLength(1);
      error = undefined;
      call();
      expect(writing.checks()).toEqual([]);
    }
  });

  it('is not what a request is refused for', () => {
    writing.failed(new RequestError('QUEUE_FULL', 'Too many jobs wait'));
    writing.failed(new Error('something else'));
    expect([writing.checks(), notices]).toEqual([[], []]);
  });
});

describe('without a write', () => {
  it.each([
    ['full', 'The disk where Holdfast keeps its state is full, so no backups are made. Free up space there.'],
    [
      'gone',
      'The folder in which Holdfast keeps its state is gone, so no backups are made. Put it back, or mount its disk.',
    ],
  ])('it is known that the disk or folder is %s, which is an error and is told', (what, message) => {
    let is = true;
    const seen = new StateWriting({
      stateDirectory: '/var/lib/holdfast',
      settings: { set: () => undefined },
      notifier: { notify: (notice) => void notices.push(notice) },
      clock,
      isFull: () => is && what === 'full',
      isGone: () => is && what === 'gone',
    });
    expect(seen.checks()).toEqual([{ name: `state_${what}`, status: 'error', message }]);
    seen.look();
    seen.look();
    expect(notices.map(({ kind }) => kind)).toEqual(['state.failed']);
    expect(notices[0]?.text).toContain('/var/lib/holdfast');
    is = false;
    expect(seen.checks()).toEqual([]);
  });
});
