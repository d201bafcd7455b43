/** What the README says line by line, with a disk that is not there: no backups vanish from sight, and each refusal names the way. */
// Turn 1 of 8.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { jsonLines, openPlace, type Outcome, type Place } from '../support/cli.ts';
import { startAgent } from '../support/started-agent.ts';
import { restoredPath } from '../support/restored-path.ts';

const fresh = { env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined } };
/** Where nothing is mounted, on no machine. */
const POINT = '/mnt/holdfast-nothing-is-mounted-here';
const AWAY = `${POINT}/h`;

async function run(place: Place, words: readonly string[], code = 0): Promise<Outcome> {
  return await place.expectRun(words, code, fresh);
}

async function eventually(look: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if (await look()) return;
    await delay(300);
  }
  expect.fail('it did not come to that');
}

interface Status {
  readonly sentence: string;
  readonly destinations: readonly {
    readonly name: string;
    readonly reachable: boolean | null;
    readonly unreachable_reason: string | null;
    readonly untested: boolean;
    readonly embedded: boolean;
  }[];
  readonly jobs: { readonly queued: number };
}

async function statusOf(place: Place): Promise<Status> {
  const { stdout } = await place.run(['status', '--json'], fresh);
  return JSON.parse(stdout) as Status;
}

async function settingsOf(place: Place): Promise<unknown> {
  return JSON.parse(await readFile(join(place.state, 'config.json'), 'utf8'));
}

test('the lines of the README, with nothing mounted where they say', async () => {
  await using place = await openPlace();
  await place.write({ 'notes.txt': 'one' });
  await using _agent = await startAgent(place, ['--source', place.source]);
  await eventually(async () =>
    (await place.run(['status'], fresh)).stdout.startsWith('Protected from mistakes'),
  );
  const before = await settingsOf(place);

  // It is refused, nothing is made, and nothing changes.
  const add = ['destinations', 'add', 'nas', AWAY, '--default'];
  const refused = await run(place, add, 1);
  expect(refused.stderr).toContain(`nas was not added: Nothing seems to be mounted at ${POINT}`);
  expect(refused.stderr).toContain(`choose one outside ${POINT}. To do it anyway, for example when the disk`);
  expect(refused.stderr).toContain(`holdfast destinations add nas ${AWAY} --default --untested`);
  expect(existsSync(POINT)).toBe(false);
  expect(await settingsOf(place)).toEqual(before);
  expect((await run(place, ['status'])).stdout).toMatch(/^Protected from mistakes, /);

  // Who insists is told where the backups stay.
  const added = await run(place, [...add, '--untested']);
  expect(added.stdout).toContain('It was not tested. Backups to it wait until it is available');
  expect(added.stdout).toMatch(/Earlier backups stay in embedded \(.*state\/repository\): 1 snapshot, from /);
  expect(added.stdout).toContain('1 source is now backed up to nas, starting with a full backup.');
  expect(await settingsOf(place)).toMatchObject({
    destinations: { nas: { url: AWAY, untested: true } },
    defaultDestination: 'nas',
  });
  await eventually(async () => (await statusOf(place)).destinations.length === 2);
  await eventually(async () => (await statusOf(place)).jobs.queued > 0);
  const { destinations } = await statusOf(place);
  expect(destinations).toMatchObject([
    { name: 'nas', reachable: false, unreachable_reason: 'not_mounted', untested: true, embedded: false },
    { name: 'embedded', reachable: true, unreachable_reason: null, untested: false, embedded: true },
  ]);
  const shown = await run(place, ['status'], 1);
  expect(shown.stdout).toMatch(/nas +NOT AVAILABLE: nothing is mounted, not tested yet/);
  expect(shown.stdout).toMatch(/embedded +earlier backups/);
  const listed = await run(place, ['destinations', 'list']);
  expect(listed.stdout).toMatch(/nas \(default, not tested\) +NOT AVAILABLE/);
  expect(listed.stdout).toMatch(/embedded \(earlier backups\) +ready/);
  // The backup waits: nothing is stored on the disk of the system.
  expect((await run(place, ['jobs'])).stdout).toMatch(/waiting: The destination is not available.* nas\n/);
  expect(existsSync(POINT)).toBe(false);

  // Nothing is read from another place unasked, and the way to it is named.
  const back = join(place.directory, 'back');
  for (const words of [
    ['snapshots'],
    ['find', 'notes.txt'],
    ['versions', join(place.source, 'notes.txt')],
    ['ls', 'latest'],
    ['restore', 'latest', '--target', back],
  ]) {
    const failed = await run(place, words, 10);
    expect(failed.stderr).toContain(`There is no repository at ${AWAY}, the default destination (nas)`);
    expect(failed.stderr).toMatch(
      /There are more backups in embedded \(.*\): 1 snapshot, from .*add -r embedded/,
    );
    expect(failed.stdout).toBe('');
  }
  expect(existsSync(back)).toBe(false);
  expect((await run(place, ['snapshots', '-r', 'embedded'])).stdout).toContain('1 snapshot\n');
  await run(place, ['restore', '-r', 'embedded', 'latest', '--target', back]);
  expect(await readFile(restoredPath(back, place.source, 'notes.txt'), 'utf8')).toBe('one');

  // The test says what is missing, and doctor what can be read all the same.
  const tested = await run(place, ['destinations', 'test', 'nas'], 1);
  expect(tested.stdout).toContain(`Nothing seems to be mounted at ${POINT}`);
  const doctor = await place.run(['doctor'], fresh);
  expect(doctor.stdout).toMatch(/ok +earlier backups +.* opens/);

  // Each refusal names the way back.
  const kept = await run(place, ['destinations', 'remove', 'nas'], 2);
  expect(kept.stderr).toContain('holdfast destinations remove nas --default-to embedded');
  const own = await run(place, ['destinations', 'remove', 'embedded'], 2);
  expect(own.stderr).toContain('It holds 1 snapshot, from ');
  expect(own.stderr).toContain('holdfast forget -r embedded SNAPSHOT');
  await run(place, ['destinations', 'remove', 'nas', '--default-to', 'embedded']);
  await eventually(async () =>
    (await place.run(['status'], fresh)).stdout.startsWith('Protected from mistakes'),
  );
  expect((await statusOf(place)).destinations).toMatchObject([
    { name: 'default', reachable: true, embedded: true },
  ]);
  expect((await run(place, ['snapshots'])).stdout).toContain('1 snapshot\n');
});

describe.concurrent('a destination', () => {
  test('that works is made, tested and added; the earlier backups are named wherever only the new one is read', async () => {
    await using place = await openPlace();
    await place.write({ 'notes.txt': 'one' });
    await run(place, ['start', '--once', '--source', place.source]);
    await run(place, ['sources', 'add', place.source]);
    const disk = join(place.directory, 'mounted', 'h');
    const [added] = jsonLines(await run(place, ['destinations', 'add', 'disk', disk, '--default', '--json']));
    expect(added).toMatchObject({
      type: 'destination_added',
      tested: true,
      earlier_backups: [{ name: 'embedded', snapshots: 1 }],
    });
    expect(existsSync(disk)).toBe(true);
    const doctor = await place.run(['doctor'], fresh);
    expect(doctor.stdout).toMatch(/ok +earlier backups +.* opens/);

    await place.write({ 'notes.txt': 'two' });
    const file = join(place.state, 'passphrase');
    await run(place, ['init', '-r', 'disk', '--password-file', file]);
    const empty = await run(place, ['snapshots']);
    expect(empty.stdout).toMatch(/^There are no snapshots yet\.\nThere are more backups in embedded /);
    const latest = await run(place, ['ls', 'latest'], 1);
    expect(latest.stderr).toContain('add -r embedded to the command');
    await run(place, ['backup', place.source]);
    // Which snapshots there are here comes before what lies elsewhere.
    const mistyped = await run(place, ['restore', 'zzzz', '--in-place'], 1);
    expect(mistyped.stderr).toMatch(
      /no snapshot "zzzz"\n.*List the snapshots with: .* snapshots\b.*\. There are more backups in embedded/,
    );
    const snapshots = await run(place, ['snapshots']);
    expect(snapshots.stdout).toContain('1 snapshot\n');
    expect(snapshots.stderr).toMatch(
      /^This covers only disk\. There is also embedded \(.*\): add -r embedded/,
    );
    expect((await run(place, ['find', 'notes.txt'])).stderr).toContain('add -r embedded to see it');
    const json = await run(place, ['snapshots', '--json']);
    expect(jsonLines(json)).toHaveLength(1);
    expect(json.stderr).toBe('');

    const again = await run(place, ['destinations', 'set-default', 'embedded']);
    expect(again.stdout).toMatch(/^The repository on this computer \(.*\) is now the default destination/);
    expect(again.stdout).toMatch(/Earlier backups stay in disk \(.*\): 1 snapshot, from /);
    expect((await run(place, ['cat', 'latest', join(place.source, 'notes.txt')])).stdout).toBe('one');
  });

  test('of a fresh agent has no earlier backups, and nothing is offered to bring back', async () => {
    await using place = await openPlace();
    const child = place.start(['start', '--port', '0'], fresh);
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stderr?.resume();
    const ended = once(child, 'exit');
    try {
      await eventually(
        async () => await Promise.resolve(said.includes('Open your backups in a browser with')),
      );
      expect(said).not.toContain('restore');
      const status = await place.run(['status'], fresh);
      expect(status.stdout).toMatch(/not used yet/);
      expect(status.stdout).not.toContain('earlier backups');
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  });

  test('that cannot be made leaves nothing behind', async () => {
    await using place = await openPlace();
    await run(place, ['sources', 'add', place.source]);
    const file = join(place.source, 'file');
    await place.write({ file: 'not a directory' });
    const words = ['destinations', 'add', 'x', join(file, 'h')];
    expect((await run(place, words, 1)).stderr).toContain('x was not added: ');
    expect(await settingsOf(place)).not.toHaveProperty('destinations');
  });

  test('that was added without a test is one like all others once it has passed one', async () => {
    await using place = await openPlace();
    const disk = join(place.directory, 'mounted');
    await run(place, ['destinations', 'add', 'disk', disk, '--untested']);
    await run(place, ['destinations', 'test', 'disk'], 1);
    expect(await settingsOf(place)).toMatchObject({ destinations: { disk: { untested: true } } });
    await mkdir(disk);
    await run(place, ['destinations', 'test', 'disk']);
    expect(await settingsOf(place)).toMatchObject({ destinations: { disk: { url: disk } } });
    expect(await settingsOf(place)).not.toMatchObject({ destinations: { disk: { untested: true } } });
  });

  test('is tried by whatever command sends backups there', async () => {
    await using place = await openPlace();
    const set = ['config', 'set', 'destinations.nas.url', AWAY];
    const refused = await run(place, set, 1);
    expect(refused.stderr).toContain(`Nothing was changed: Nothing seems to be mounted at ${POINT}`);
    expect(refused.stderr).toContain(`holdfast config set destinations.nas.url ${AWAY} --untested`);
    expect(existsSync(join(place.state, 'config.json'))).toBe(false);
    await run(place, [...set, '--untested']);
    expect(await settingsOf(place)).toMatchObject({ destinations: { nas: { url: AWAY, untested: true } } });
    const chosen = await run(place, ['destinations', 'set-default', 'nas'], 1);
    expect(chosen.stderr).toContain('holdfast destinations set-default nas --untested');
    await run(place, ['destinations', 'set-default', 'nas', '--untested']);
    expect(await settingsOf(place)).toMatchObject({ defaultDestination: 'nas' });
    await run(place, ['destinations', 'remove', 'nas', '--default-to', 'embedded']);
    expect(await settingsOf(place)).not.toHaveProperty('defaultDestination');
  });

  test('is not made by the first start where a disk is missing', async () => {
    await using place = await openPlace();
    const words = ['start', '--port', '0', '--source', place.source, '--destination', AWAY];
    const refused = await run(place, words, 1);
    expect(refused.stderr).toContain(`Nothing seems to be mounted at ${POINT}`);
    expect(refused.stderr).toContain(`holdfast destinations add h ${AWAY} --untested`);
    expect(existsSync(POINT)).toBe(false);
  });

  test('that sources name is removed when they go elsewhere, by the command that is named', async () => {
    await using place = await openPlace();
    for (const name of ['usb', 'nas'])
      await run(place, ['destinations', 'add', name, join(place.directory, name)]);
    await run(place, ['sources', 'add', place.source, '-d', 'usb']);
    const one = await run(place, ['destinations', 'remove', 'usb'], 2);
    expect(one.stderr).toContain(
      "Back it up elsewhere first: holdfast config set 'sources[0].destination' embedded.",
    );
    await run(place, ['sources', 'add', place.source, '-d', 'nas']);
    const two = await run(place, ['destinations', 'remove', 'usb'], 2);
    expect(two.stderr).toContain(`holdfast config set 'sources[0].destinations' '["nas"]'`);
    await run(place, ['config', 'set', 'sources[0].destinations', '["nas"]']);
    await run(place, ['destinations', 'remove', 'usb']);
    await rm(join(place.directory, 'usb'), { recursive: true });
  });
});
