/** What the status says of what checks, restore drills and prunes of the destinations came to. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { defaultSettings, defaultSource } from '../../../src/config/effective-settings.ts';
import type { Place } from '../../../src/daemon/places/destinations.ts';
import { fullStatus } from '../../../src/daemon/health/status.ts';
import { openStateDatabase, type StateDatabase } from '../../../src/db/state-database.ts';
import type { FullStatus, StatusCheck } from '../../../src/jobs/agent.ts';
import type { JobSpec } from '../../../src/jobs/job.ts';
import { canceled, completed, failed, newJob, started } from '../../../src/jobs/job-states.ts';
import { adviceOf, protectionOf } from '../../../src/jobs/protection.ts';
import { NOTHING_SPECIAL } from '../../support/nothing-special.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { OUTCOME } from '../jobs/fake-engines.ts';
import { backupOf } from '../jobs/runner-site.ts';

const START = Date.UTC(2026, 0, 1, 3);
const SOURCE = '/photos';

let directory: string;
let database: StateDatabase;
let now: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-maintenance-'));
  database = openStateDatabase(join(directory, 'state.db'), systemClock);
  now = START;
  ends(backupOf(SOURCE, 'default'));
});
afterEach(() => {
  database.close();
  removeTree(directory);
});

/** How one of them ends: well, with the code of an error, or canceled by a person. */
function ends(spec: JobSpec, how = 'well', at = (now += 1_000)): void {
  const queued = newJob(`job_${at}_${spec.type}_${spec.destination}`, spec, 'schedule', at);
  const running = started(queued, at);
  const error = { code: how, message: 'x', details: {} };
  if (how === 'canceled') database.jobs.insert(canceled(running, at));
  else database.jobs.insert(how === 'well' ? completed(running, OUTCOME, at) : failed(running, error, at));
}

const check = (destination = 'default'): JobSpec => ({ type: 'check', destination, read_data: 0.1 });
const drill = (destination = 'default'): JobSpec => ({ type: 'drill', destination, files: 5 });
const prune = (destination = 'default'): JobSpec => ({ type: 'prune', destination, apply_retention: true });

async function status(places: readonly string[] = ['default', 'nas']): Promise<FullStatus> {
  const context = { home: directory, stateDirectory: directory };
  const settings = defaultSettings(context);
  const source = { ...defaultSource(SOURCE, settings, context), destinations: ['default'] };
  return await fullStatus({
    now: () => now,
    uptime: () => 0,
    version: '0',
    jobs: database.jobs,
    settings: () => ({ ...settings, sources: [source] }),
    config: () => ({ status: 'ok', error: null, revision: 'x', file: 'x' }),
    pause: () => undefined,
    scheduler: { nextRun: () => now + 1_000 },
    watching: { stateOf: () => undefined, directories: 0 },
    destinations: {
      all: () => places.map((name) => ({ name, url: `sftp://${name}/x`, shown: name }) as Place),
      isPresent: () => true,
      isSeen: () => true,
    },
    storedBytes: () => undefined,
    notes: database.settings,
    findings: () => [],
    heldNotices: () => null,
    ...NOTHING_SPECIAL,
  });
}

async function concerns(): Promise<readonly (readonly [string, StatusCheck['status']])[]> {
  const { checks } = await status();
  return checks.filter((one) => one.status !== 'ok').map(({ name, status: found }) => [name, found]);
}

const sentence = async (): Promise<string> => protectionOf(await status(), now).sentence;

test('destinations whose checks, drills and prunes end well, or were never begun, are of no concern', async () => {
  expect(await concerns()).toEqual([]);
  for (const spec of [check(), drill(), prune()]) ends(spec);
  expect(await concerns()).toEqual([]);
  expect(protectionOf(await status(), now).level).toBe('good');
});

describe.each([
  ['a check that found damage', check, 'damage', /^Not protected: the last check of “default” found damage/],
  [
    'a drill that could not restore its files',
    drill,
    'restore drills',
    /^Not protected: the last restore drill of “default” could not restore files/,
  ],
] as const)('%s', (_, specOf, name, said) => {
  test('means that nobody is protected, and what to do is said', async () => {
    ends(specOf(), 'CORRUPT_DATA');
    expect(await concerns()).toEqual([[name, 'error']]);
    expect((await status()).status).toBe('error');
    expect(protectionOf(await status(), now)).toMatchObject({
      level: 'bad',
      sentence: expect.stringMatching(said),
    });
    expect(adviceOf(protectionOf(await status(), now).headline)).toMatch(
      /back up again.*another (check|drill)\./,
    );
  });

  test('counts until a later one of the kind completes, and no other way', async () => {
    ends(specOf(), 'CORRUPT_DATA');
    ends(backupOf(SOURCE, 'default'));
    ends(prune());
    ends(specOf('nas'));
    ends(specOf(), 'DESTINATION_UNREACHABLE');
    ends(specOf(), 'canceled');
    expect(await concerns()).toEqual([[name, 'error']]);
    ends(specOf());
    expect(await concerns()).toEqual([]);
  });

  test('is said with each destination, and to anybody on the machine without its name', async () => {
    for (const place of ['default', 'nas']) ends(specOf(place), 'CORRUPT_DATA');
    expect(await sentence()).toContain('“default” and “nas”');
    const [{ message } = { message: '' }] = (await status()).checks.filter((one) => one.status === 'error');
    expect(message).toMatch(/2 destinations/);
    expect(message).not.toMatch(/nas/);
  });

  test('says nothing of a place that is no destination any more', async () => {
    ends(specOf('old'), 'CORRUPT_DATA');
    expect(await concerns()).toEqual([]);
  });

  test('counts though it ended while the clock was ahead', async () => {
    ends(specOf());
    ends(specOf(), 'CORRUPT_DATA', now + 86_400_000);
    expect(await concerns()).toEqual([[name, 'error']]);
    ends(specOf());
    expect(await concerns()).toEqual([]);
  });
});

const NOT_WHOLE = 'it is unknown whether the backups there are intact';
const NOT_RESTORED = 'it is unknown whether the backups there can be restored';
const STAYS = 'still take up space';

test.each([
  ['check', 'DESTINATION_UNREACHABLE', 'checks not done', NOT_WHOLE],
  ['drill', 'DESTINATION_UNREACHABLE', 'drills not done', NOT_RESTORED],
  ['drill', 'INSUFFICIENT_STORAGE', 'drills not done', NOT_RESTORED],
  ['prune', 'DESTINATION_UNREACHABLE', 'prune', STAYS],
  ['prune', 'CORRUPT_DATA', 'prune', STAYS],
] as const)('a %s that failed with %s is a warning, and nothing is called damaged', async (...the) => {
  const [type, code, name, so] = the;
  const spec = { check, drill, prune }[type]();
  ends(spec, code);
  expect(await concerns()).toEqual([[name, 'warning']]);
  expect((await status()).status).toBe('degraded');
  expect(await sentence()).toMatch(/^Protected, but (?:the last|old snapshots) /);
  expect(await sentence()).toContain(so);
  ends(spec);
  expect(await concerns()).toEqual([]);
});

test('damage is said before what is only away', async () => {
  ends(check(), 'CORRUPT_DATA');
  const { checks } = await status();
  const names = checks.map(({ name }) => name);
  expect(names.indexOf('damage')).toBeLessThan(names.indexOf('destinations'));
});
