/** What the status says of each source, whatever is right with the others. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultSettings, defaultSource } from '../../../src/config/effective-settings.ts';
import { tellAbsences } from '../../../src/daemon/health/absence-watch.ts';
import type { Settings, SourceSettings } from '../../../src/config/settings.ts';
import { fullStatus, type StatusParts } from '../../../src/daemon/health/status.ts';
import { openStateDatabase, type StateDatabase } from '../../../src/db/state-database.ts';
import type { FullStatus } from '../../../src/jobs/agent.ts';
import { completed, failed, newJob, started, waiting } from '../../../src/jobs/job-states.ts';
import { protectionOf, sentenceOf } from '../../../src/jobs/protection.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { NOTHING_SPECIAL } from '../../support/nothing-special.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { OUTCOME } from '../jobs/fake-engines.ts';
import { backupOf } from '../jobs/runner-site.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Three in the morning of a Thursday. */
const START = Date.UTC(2026, 0, 1, 3);

let directory: string;
let database: StateDatabase;
let settings: Settings;
let ids: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-standing-'));
  database = openStateDatabase(join(directory, 'state.db'), systemClock);
  const defaults = defaultSettings({ home: directory, stateDirectory: directory });
  settings = { ...defaults, timeZone: 'UTC' };
  ids = 0;
});
afterEach(() => {
  database.close();
  removeTree(directory);
});

function source(path: string, changes: Partial<SourceSettings> = {}): SourceSettings {
  const context = { home: directory, stateDirectory: directory };
  const made = defaultSource(path, settings, context);
  return { ...made, schedule: 'daily at 02:00', watch: false, ...changes };
}

function job(how: 'completes' | 'fails' | 'waits', path: string, at: number, destination?: string): void {
  const spec = backupOf(path, destination ?? settings.defaultDestination);
  const queued = newJob(`bkp_${(ids += 1)}`, spec, 'schedule', at);
  const error = { code: 'DESTINATION_AUTH_FAILED', message: 'x', details: {} };
  if (how === 'completes') database.jobs.insert(completed(started(queued, at), OUTCOME, at));
  else if (how === 'fails') database.jobs.insert(failed(started(queued, at), error, at));
  else database.jobs.insert(waiting(queued, { code: 'on_battery', params: {} }));
}

/** A backup that ends at that time, of a source that was read at another. */
function copied(path: string, readAt: number, at: number): void {
  const queued = newJob(`bkp_${(ids += 1)}`, backupOf(path, settings.defaultDestination), 'schedule', readAt);
  database.jobs.insert(completed(started(queued, at), { ...OUTCOME, sourceReadAt: readAt }, at));
}

/** A backup that has completed, of so many files; `failed` ones could not be read. */
function backup(
  path: string,
  at: number,
  { files = 60, failed: unread = 0, exclude = [] as readonly string[] } = {},
): void {
  const spec = backupOf(path, settings.defaultDestination);
  const options = { ...spec.options, exclude };
  const queued = newJob(`bkp_${(ids += 1)}`, { ...spec, options }, 'api', at);
  const outcome = {
    ...OUTCOME,
    files,
    result: unread > 0 ? ('warning' as const) : ('success' as const),
    progress: { ...OUTCOME.progress, files_failed: unread },
  };
  database.jobs.insert(completed(started(queued, at), outcome, at));
}

async function statusAt(
  nowMs: number,
  sources: readonly SourceSettings[],
  changes: Partial<StatusParts> = {},
): Promise<FullStatus> {
  return await fullStatus({
    now: () => nowMs,
    uptime: () => 0,
    version: '0',
    jobs: database.jobs,
    settings: () => ({ ...settings, sources }),
    config: () => ({ status: 'ok', error: null, revision: 'x', file: 'x' }),
    pause: () => undefined,
    // It is moved on as soon as a job waits.
    scheduler: { nextRun: () => nowMs + DAY },
    watching: { stateOf: () => undefined, directories: 0 },
    destinations: { all: () => [], isPresent: () => true, isSeen: () => true },
    storedBytes: () => undefined,
    notes: database.settings,
    findings: () => [],
    heldNotices: () => null,
    ...NOTHING_SPECIAL,
    ...changes,
  });
}

const concerns = ({ checks }: FullStatus): readonly string[] =>
  checks.filter(({ status }) => status !== 'ok').map(({ message }) => message);

test('a source whose backups fail every night is overdue after the second one, while another one is fine', async () => {
  const sources = [source('/photos'), source('/home', { schedule: 'every 4h' })];
  for (const path of ['/photos', '/home']) job('completes', path, START);
  job('fails', '/photos', START + DAY);
  job('completes', '/home', START + DAY);
  const first = await statusAt(START + DAY, sources);
  expect(first.sources.map(({ overdue }) => overdue)).toEqual([false, false]);
  expect([first.status, concerns(first)]).toEqual(['degraded', ['The last backup of one source failed.']]);
  expect(protectionOf(first, START + DAY)).toMatchObject({
    level: 'warning',
    sentence:
      'Protected, but the last backup of photos failed because the destination refused the sign-in. The last good one is 1d old.',
  });

  job('fails', '/photos', START + 2 * DAY);
  job('completes', '/home', START + 2 * DAY);
  const second = await statusAt(START + 2 * DAY, sources);
  expect(second.sources.map(({ overdue }) => overdue)).toEqual([true, false]);
  expect(concerns(second)[0]).toBe(
    'The last good backup of one source is older than it should be. The last attempt failed.',
  );
  expect(protectionOf(second, START + 2 * DAY)).toMatchObject({
    level: 'bad',
    sentence: expect.stringMatching(/^Not protected: photos has not been backed up for 2 ?d/),
  });
});

test('a source that a person has said to be empty on purpose has failed no longer, unless it is gone', async () => {
  const sources = [source('/photos')];
  const refused = (isThere: boolean): void => {
    const queued = newJob(
      `bkp_${(ids += 1)}`,
      backupOf('/photos', settings.defaultDestination),
      'schedule',
      START,
    );
    const details = { is_there: isThere };
    const error = { code: 'SOURCE_SUSPICIOUSLY_EMPTY', message: 'x', details };
    database.jobs.insert(failed(started(queued, START), error, START + ids));
  };
  const saidWhen = async (isEmptyExpected: boolean): Promise<string> =>
    protectionOf(
      await statusAt(START + HOUR, sources, { isEmptyExpected: () => isEmptyExpected }),
      START + HOUR,
    ).sentence;
  job('completes', '/photos', START);
  refused(true);
  expect(await saidWhen(false)).toBe(
    'Protected, but the last backup of photos failed because the source is empty. The last good one is 1h old.',
  );
  expect(await saidWhen(true)).toBe('Protected: the last good backup is 1h old.');
  expect(concerns(await statusAt(START + HOUR, sources, { isEmptyExpected: () => true }))).toEqual([]);

  refused(false);
  expect(await saidWhen(true)).toBe(
    'Protected, but the last backup of photos failed because the source is not there. The last good one is 1h old.',
  );
});

test('a first backup that waits is not said to run', async () => {
  const sources = [source('/photos')];
  job('waits', '/photos', START);
  const status = await statusAt(START, sources);
  expect(protectionOf(status, START)).toMatchObject({
    level: 'warning',
    sentence: 'Not protected yet: the first backup is waiting to start.',
  });
  const queued = newJob('bkp_running', backupOf('/photos', settings.defaultDestination), 'schedule', START);
  database.jobs.insert(started(queued, START));
  expect(protectionOf(await statusAt(START, sources), START).sentence).toBe(
    'Not protected yet: the first backup is running.',
  );
});

test('why a backup is tried again is still said when the next one waits behind it', async () => {
  const sources = [source('/photos')];
  const spec = backupOf('/photos', settings.defaultDestination);
  const error = { code: 'DESTINATION_UNREACHABLE', message: 'x', details: {} };
  const tried = started(newJob('bkp_tried', spec, 'schedule', START), START);
  database.jobs.insert({ ...tried, job: { ...tried.job, status: 'queued', error } });
  const sentence =
    'Not protected: photos has never been backed up because the destination could not be reached.';
  expect(protectionOf(await statusAt(START, sources), START).sentence).toBe(sentence);
  job('waits', '/photos', START + HOUR);
  expect(protectionOf(await statusAt(START + HOUR, sources), START + HOUR).sentence).toBe(sentence);
});

test('a backup is late because of a pause only where nothing else is wrong', async () => {
  const sources = [source('/photos')];
  job('completes', '/photos', START);
  const now = START + 5 * DAY;
  const lateWhilePaused = async (): Promise<unknown> => {
    const { statements } = await statusAt(now, sources, { pause: () => ({ until: null }) });
    const late = statements.find(({ code }) => code === 'overdue');
    return [late?.reason, late?.figures];
  };
  expect(await lateWhilePaused()).toEqual([null, { paused: 1 }]);
  job('fails', '/photos', START + 4 * DAY);
  expect(await lateWhilePaused()).toEqual(['denied', {}]);
});

test('why a backup is late: a disk is unplugged, a server is not, and a folder of the system disk has its own words', async () => {
  const sources = [source('/photos')];
  await toldAt(START, sources);
  job('completes', '/photos', START);
  const now = START + 5 * DAY;
  const name = settings.defaultDestination;
  const place = { name, url: 'x', location: 'x', shown: 'x', passphrase: null, access: undefined };
  const lateAt = async (directory: string | undefined, isOfSystem = false): Promise<readonly string[]> => {
    const status = await statusAt(now, sources, {
      destinations: { all: () => [{ ...place, directory }], isPresent: () => false, isSeen: () => false },
      isOfSystem: () => isOfSystem,
    });
    return status.statements.map((one) => sentenceOf(one, status.checks, now));
  };
  expect(await lateAt('/media/usb')).toContain(
    'Not protected: photos has not been backed up for 5d because the backup disk is not connected.',
  );
  expect(await lateAt('/backup', true)).toEqual(
    expect.arrayContaining([
      `Not protected: the folder of “${name}” is gone, and so are the backups in it.`,
      'Not protected: photos has not been backed up for 5d.',
    ]),
  );

  const fails = (code: string, at: number): void => {
    const queued = newJob(`bkp_${(ids += 1)}`, backupOf('/photos', name), 'schedule', at);
    database.jobs.insert(failed(started(queued, at), { code, message: 'x', details: {} }, at));
  };
  fails('DESTINATION_UNREACHABLE', START + DAY);
  expect(await lateAt(undefined)).toContain(
    'Not protected: photos has not been backed up for 5d because the destination could not be reached.',
  );

  // The secret may be that of a server: the passphrase need not be wrong.
  for (const code of ['SECRET_UNAVAILABLE', 'SECRET_UNSAFE']) {
    fails(code, START + 2 * DAY + ids);
    const status = await statusAt(now, sources);
    expect(protectionOf(status, now).sentence, code).toBe(
      'Not protected: photos has not been backed up for 5d because the password or key for the destination cannot be read.',
    );
  }
});

test('a snapshot that was copied days after its source was read protects it as of when it was read', async () => {
  const now = START + 4 * DAY;
  const sources = [source('/photos')];
  await toldAt(START, sources);
  copied('/photos', START, now);
  const status = await statusAt(now, sources);
  expect(status.sources[0]).toMatchObject({ last_good_backup_at: START, overdue: true });
  expect(status.last_backup?.finished_at).toBe(now);
  expect(protectionOf(status, now)).toMatchObject({
    level: 'bad',
    sentence: 'Not protected: photos has not been backed up for 4d.',
  });
  expect(await toldAt(now, sources)).toBe(1);
  copied('/photos', now, now + HOUR);
  const next = await statusAt(now + HOUR, sources);
  expect(protectionOf(next, now + HOUR).sentence).toBe('Protected: the last good backup is 1h old.');
  expect(await toldAt(now + HOUR, sources)).toBe(0);
});

test('of a job that an earlier version has completed the source is as it was when the job began', async () => {
  const spec = backupOf('/photos', settings.defaultDestination);
  const begun = started(newJob('bkp_before', spec, 'schedule', START - HOUR), START);
  database.jobs.insert(completed(begun, OUTCOME, START + HOUR));
  expect(database.jobs.get('bkp_before')).not.toHaveProperty('source_read_at');
  const status = await statusAt(START + 2 * HOUR, [source('/photos')]);
  expect(status.sources[0]?.last_good_backup_at).toBe(START);
});

test('a source whose backup waits is overdue like any other, and why it waits is said', async () => {
  job('completes', '/photos', START);
  job('waits', '/photos', START + DAY);
  const now = START + 2 * DAY;
  const status = await statusAt(now, [source('/photos')]);
  expect(concerns(status)).toEqual([
    'The last good backup of one source is older than it should be. The computer runs on battery.',
  ]);
  expect(protectionOf(status, now).level).toBe('bad');
});

test.each([
  ['daily at 02:00', false, 46 * HOUR, false],
  ['daily at 02:00', false, 48 * HOUR, true],
  ['every 4h', false, 7 * HOUR, false],
  ['every 4h', false, 9 * HOUR, true],
  ['every 10m', false, 50 * 60_000, false],
  ['every 10m', false, 90 * 60_000, true],
  // Of Friday night: the next one is on Sunday.
  ['weekly', false, 2 * DAY + 20 * HOUR, false],
  // Longer than people are told of it, and a day after it was due.
  ['weekly', false, 3 * DAY, false],
  ['weekly', false, 4 * DAY, true],
  ['off', false, 2 * DAY, false],
  ['off', false, 3 * DAY, true],
  // What is watched is looked at once a day.
  ['off', true, 2 * DAY - HOUR, false],
  ['off', true, 2 * DAY + HOUR, true],
] as const)('%s, watched: %s: %i ms after a good backup overdue is %s', async (schedule, watch, age, is) => {
  job('completes', '/photos', START);
  const status = await statusAt(START + age, [source('/photos', { schedule, watch })]);
  expect(status.sources[0]?.overdue).toBe(is);
});

test('a source without any good backup is late like any other, by when it was to be backed up first', async () => {
  await toldAt(START, [source('/photos')]);
  job('waits', '/photos', START);
  const early = await statusAt(START + DAY, [source('/photos')]);
  expect([concerns(early), protectionOf(early, START + DAY).level]).toEqual([[], 'warning']);
  const now = START + 3 * DAY;
  const late = await statusAt(now, [source('/photos')]);
  expect(late.sources.map(({ overdue }) => overdue)).toEqual([true]);
  expect([late.status, concerns(late)]).toEqual([
    'error',
    ['The first backup of one source is late. The computer runs on battery.'],
  ]);
  expect(protectionOf(late, now)).toMatchObject({
    level: 'bad',
    sentence: 'Not protected: photos has never been backed up.',
  });
  job('completes', '/home', START);
  expect(concerns(await statusAt(now, [source('/photos'), source('/home')]))[0]).toBe(
    '2 backups are late; of some sources there is none yet. The computer runs on battery.',
  );
});

test('each destination of a source is judged by itself', async () => {
  const sources = [source('/photos', { destinations: ['nas', 'usb'] }), source('/home'), source('/etc')];
  for (const to of ['nas', 'usb']) job('completes', '/photos', START, to);
  for (const path of ['/home', '/etc']) job('completes', path, START);
  job('fails', '/photos', START + 1, 'usb');
  for (const path of ['/home', '/etc']) job('fails', path, START + 1);
  expect(concerns(await statusAt(START + 2, sources))).toEqual([
    'The last backup of 2 sources failed.',
    'The last backup to one destination failed, but the source has good backups elsewhere.',
  ]);
  job('completes', '/photos', START + 3 * DAY, 'nas');
  expect((await statusAt(START + 3 * DAY, sources)).sources.map(({ overdue }) => overdue)).toEqual([
    false,
    true,
    true,
    true,
  ]);
});

/** How many sources people are told of that have had no good backup for days. */
async function toldAt(nowMs: number, sources: readonly SourceSettings[]): Promise<number> {
  let told = 0;
  await tellAbsences({
    settings: () => ({ ...settings, sources }),
    state: database,
    notifier: { notify: () => void (told += 1) },
    clock: { ...systemClock, now: () => nowMs },
    status: async () => await Promise.resolve({ statements: [], sources: [] }),
  });
  return told;
}

test.each([
  ['what it is', -DAY],
  // Right again since.
  ['a day ahead', DAY],
  ['a year ahead', 365 * DAY],
])('backups that fail since a good one while the clock was %s are told of', async (_, aheadMs) => {
  const sources = [source('/photos')];
  job('completes', '/photos', START + aheadMs);
  job('fails', '/photos', START);
  expect(await toldAt(START, sources)).toBe(0);
  const first = await statusAt(START, sources);
  expect(concerns(first)).toContain('The last backup of one source failed.');
  expect(first.last_backup?.status).toBe('failed');
  expect(first.sources[0]?.last_good_backup_at).toBe(Math.min(START, START + aheadMs));
  const now = START + 5 * DAY;
  job('fails', '/photos', now);
  expect((await statusAt(now, sources)).sources[0]).toMatchObject({ overdue: true });
  expect(await toldAt(now, sources)).toBe(1);
  job('completes', '/photos', now + 1);
  expect(concerns(await statusAt(now + 1, sources))).toEqual([]);
  expect(await toldAt(now + 1, sources)).toBe(0);
});

test('a source that was added while the clock was ahead is late by when that was noticed', async () => {
  const sources = [source('/photos')];
  await toldAt(START + 365 * DAY, sources);
  expect(await toldAt(START, sources)).toBe(0);
  const now = START + 5 * DAY;
  expect((await statusAt(now, sources)).sources[0]).toMatchObject({ overdue: true });
  expect(await toldAt(now, sources)).toBe(1);
});

test('a good backup is as old as it is once a clock is right again that was behind', async () => {
  const sources = [source('/photos')];
  job('completes', '/photos', START);
  await toldAt(START - 365 * DAY, sources);
  expect(await toldAt(START + DAY, sources)).toBe(0);
  expect((await statusAt(START + DAY, sources)).sources[0]).toMatchObject({
    overdue: false,
    last_good_backup_at: START,
  });
});

test('a backup that was asked for before one that failed, and ended well after it, is the last one', async () => {
  const early = newJob('bkp_early', backupOf('/docs', settings.defaultDestination), 'schedule', START);
  database.jobs.insert(early);
  job('fails', '/docs', START + HOUR);
  const hasFailed = async (): Promise<boolean> =>
    (await statusAt(START + 3 * HOUR, [source('/docs')])).checks.some(({ message }) =>
      /failed/.test(message),
    );
  expect(await hasFailed()).toBe(true);
  database.jobs.update(completed(started(early, START), OUTCOME, START + 2 * HOUR));
  expect(await hasFailed()).toBe(false);
});

const UNREAD = 'Files of one source are not in its last backup, because they could not be read.';

test('a source whose last backup lacks files that could not be read is told of until one has all', async () => {
  const sources = [source('/photos'), source('/home')];
  backup('/home', START);
  backup('/photos', START, { files: 59, failed: 1 });
  const status = await statusAt(START, sources);
  expect([status.status, concerns(status)]).toEqual(['degraded', [expect.stringContaining(UNREAD)]]);
  expect(status.sources[0]).toMatchObject({ last_good_backup_at: START, overdue: false });
  expect(protectionOf(status, START).sentence).toMatch(/^Protected, except 1 file we could not read/);
  job('fails', '/photos', START + 1);
  expect(concerns(await statusAt(START + 1, sources))).toContainEqual(expect.stringContaining(UNREAD));
  backup('/photos', START + 2);
  expect(concerns(await statusAt(START + 2, sources))).toEqual([]);
});

test('a backup that could read nothing of its source is no good one, though it completed', async () => {
  const sources = [source('/photos')];
  backup('/photos', START);
  for (let day = 1; day <= 3; day += 1) backup('/photos', START + day * DAY, { files: 0, failed: 60 });
  const now = START + 3 * DAY;
  const status = await statusAt(now, sources);
  expect(status.sources[0]).toMatchObject({ last_good_backup_at: START, overdue: true });
  expect(concerns(status)).toContainEqual(expect.stringContaining(UNREAD));
  expect(protectionOf(status, now).sentence).toMatch(
    /^Not protected: photos has not been backed up for 3 ?d/,
  );
  await toldAt(START, sources);
  expect(await toldAt(now + DAY, sources)).toBe(1);
});

test('an empty source that is backed up as it is has a good backup', async () => {
  backup('/photos', START, { files: 0 });
  const status = await statusAt(START, [source('/photos')]);
  expect([concerns(status), status.sources[0]?.last_good_backup_at]).toEqual([[], START]);
});

test('a backup by a request with exclude rules of its own hides no failure, and is no good one of its source', async () => {
  const sources = [source('/photos')];
  const narrow = { files: 0, exclude: ['*'] };
  backup('/photos', START);
  job('fails', '/photos', START + DAY);
  backup('/photos', START + DAY + 1, narrow);
  const first = await statusAt(START + DAY + 1, sources);
  expect(concerns(first)).toEqual(['The last backup of one source failed.']);
  expect(first.sources[0]?.last_good_backup_at).toBe(START);

  await toldAt(START, sources);
  const now = START + 4 * DAY;
  backup('/photos', now, narrow);
  expect((await statusAt(now, sources)).sources[0]).toMatchObject({ overdue: true });
  expect(await toldAt(now, sources)).toBe(1);
});

test('what a request left out is no file that could not be read', async () => {
  backup('/photos', START);
  backup('/photos', START + 1, { files: 0, failed: 1, exclude: ['*.jpg'] });
  expect(concerns(await statusAt(START + 1, [source('/photos')]))).toEqual([]);
});
