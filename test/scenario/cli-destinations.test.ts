/** `holdfast destinations` and `holdfast status`, as they are typed: with an agent and without. */
// Turn 4 of 8.
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { jsonLines, obeyingModes, openPlace, type Outcome, type Place } from '../support/cli.ts';
import { startAgent } from '../support/started-agent.ts';

const fresh = { env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined } };

async function run(place: Place, words: readonly string[], code = 0): Promise<Outcome> {
  return await place.expectRun(words, code, fresh);
}

async function settingsWith(place: Place, text: string): Promise<string> {
  await mkdir(place.state, { mode: 0o700 });
  const file = join(place.state, 'config.json');
  await writeFile(file, text, { mode: 0o600 });
  return file;
}

/** What a command says once it says what is waited for. */
async function settled<T>(look: () => Promise<T>, isIt: (found: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 100; tries += 1) {
    const found = await look();
    if (isIt(found)) return found;
    await delay(300);
  }
  return await look();
}

interface Listed {
  readonly name: string;
  readonly state: string;
  readonly repository_id: string | null;
  readonly last_check: { readonly status: string } | null;
}

async function listed(place: Place): Promise<readonly Listed[]> {
  return jsonLines(await run(place, ['destinations', 'list', '--json'])) as unknown as readonly Listed[];
}

describe.concurrent('holdfast destinations', () => {
  test('does not remove one by whose name sources would mean another place from then on', async () => {
    await using place = await openPlace();
    const text = `{ "destinations": { "default": { "url": "/a" } }, "sources": [{ "path": "/x" }] }`;
    const file = await settingsWith(place, text);
    const first = await run(place, ['destinations', 'remove', 'default'], 2);
    expect(first.stderr).toContain('default is in use: /x is backed up to it');
    expect(await readFile(file, 'utf8')).toBe(text);
    const several = `{
      "destinations": { "default": { "url": "/a" }, "b": { "url": "/b" }, "c": { "url": "/c" } },
      "defaultDestination": "b",
      "sources": [{ "path": "/x", "destinations": ["default", "c"] }]
    }`;
    await writeFile(file, several, { mode: 0o600 });
    const second = await run(place, ['destinations', 'remove', 'default'], 2);
    expect(second.stderr).toContain('default is in use: /x is backed up to it');
    expect(await readFile(file, 'utf8')).toBe(several);
    await writeFile(file, '{ "destinations": { "default": { "url": "/a" } } }', { mode: 0o600 });
    await run(place, ['destinations', 'remove', 'default']);
  });

  test('adds and removes places with the comments of the configuration kept', async () => {
    await using place = await openPlace();
    const file = await settingsWith(place, '{\n  // mine\n  "plan": "pro", // paid\n}\n');
    const usb = join(place.directory, 'usb');
    const added = await run(place, ['destinations', 'add', 'usb', 'usb', '--passphrase-file', 'secret']);
    expect(added.stdout).toContain(`Added usb, at ${usb}`);
    expect(await readFile(file, 'utf8')).toBe(
      `{\n  // mine\n  "plan": "pro", // paid\n  "destinations": {\n    "usb": {\n      "url": "${usb}",\n      "passphrase": {\n        "file": "${place.directory}/secret"\n      }\n    }\n  },\n}\n`,
    );
    const [removed] = jsonLines(await run(place, ['destinations', 'remove', 'usb', '--json']));
    expect(removed).toEqual({ type: 'destination_removed', name: 'usb' });
    expect(await readFile(file, 'utf8')).toContain('// mine\n  "plan": "pro", // paid\n');
    expect(await readFile(file, 'utf8')).not.toContain('usb');
  });

  test('refuses what cannot be, with advice, and leaves the configuration alone', async () => {
    await using place = await openPlace();
    const file = await settingsWith(
      place,
      '{"destinations": {"a": {"url": "/a"}, "b": {"url": "/b"}}, "defaultDestination": "a", "sources": [{"path": "/x", "destination": "b"}]}',
    );
    const before = await readFile(file, 'utf8');
    const refused: readonly (readonly [readonly string[], string])[] = [
      [['add', 'a', '/c'], 'There is already a destination called a'],
      [['add', '1', '/c'], 'cannot be the name of a destination'],
      [['add', 'c', 'ftp://host/dir'], 'destinations.c.url'],
      [['add', 'c', '/c', '--passphrase-env', 'A', '--passphrase-file', 'b'], 'Only one option can set'],
      [['remove', 'a'], 'is the default destination'],
      [['remove', 'b'], '/x is backed up to it'],
      [['remove', 'default'], 'There is no destination called default'],
      [['test', 'nothing'], 'Destinations are: a, b'],
    ];
    for (const [words, text] of refused)
      expect((await run(place, ['destinations', ...words], 2)).stderr).toContain(text);
    const secret = await run(place, ['destinations', 'add', 'c', 's3://b?token=hunter2', '--json'], 2);
    expect(jsonLines(secret)[0]).toMatchObject({ type: 'error', code: 'SECRET_IN_URL' });
    expect(secret.stdout).not.toContain('hunter2');
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  test('tells what is there without an agent, and what is gone', async () => {
    await using place = await openPlace();
    expect(await listed(place)).toMatchObject([{ name: 'default', state: 'empty', repository_id: null }]);
    await place.write({ a: 'one' });
    await run(place, ['start', '--once', '--source', place.source]);
    const [row] = await listed(place);
    expect(row).toMatchObject({ state: 'ready', default: true, agent_running: false, last_check: null });
    expect(row?.repository_id).toMatch(/^[0-9a-f]{32}$/);
    const shown = await run(place, ['destinations', 'list']);
    expect(shown.stdout).toContain('The agent is not running');

    const repository = join(place.state, 'repository');
    await rename(repository, `${repository}-away`);
    expect(await listed(place)).toMatchObject([{ state: 'missing' }]);
    expect((await run(place, ['destinations', 'list'])).stdout).toMatch(/default: Cannot open .*Check that/);
  });

  test('tries a place out, opens the repository in it, and leaves nothing behind', async () => {
    await using place = await openPlace();
    await place.write({ a: 'one' });
    await run(place, ['start', '--once', '--source', place.source]);
    const repository = join(place.state, 'repository');
    const before = (await readdir(repository, { recursive: true })).sort();
    const { stdout } = await run(place, ['destinations', 'test', 'default']);
    expect(stdout).toMatch(/ok +one of several +If 4 writers create the same object at once, one succeeds/);
    expect(stdout).toMatch(/ok +repository +.* opens \([0-9a-f]{8}\)/);
    expect(stdout).toContain('default can be used.');
    expect((await readdir(repository, { recursive: true })).sort()).toEqual(before);
    await run(place, ['check', '--quiet']);

    await writeFile(join(place.state, 'machine.key'), `${'0'.repeat(64)}\n`);
    const wrong = jsonLines(await run(place, ['destinations', 'test', 'default', '--json'], 1))[0];
    expect(wrong).toMatchObject({ type: 'destination_test', usable: false });
    expect(JSON.stringify(wrong)).toContain('"check":"repository","status":"error"');

    // What systemd gives to the agent is not given to this command.
    const file = join(place.state, 'config.json');
    const credential = `{"destinations": {"mine": {"url": "${repository}", "passphrase": {"credential": "x"}}}, "defaultDestination": "mine"}`;
    await writeFile(file, credential, { mode: 0o600 });
    const unseen = await run(place, ['destinations', 'test', 'mine']);
    expect(unseen.stdout).toMatch(/warning +repository .* was not opened: only the agent has its passphrase/);

    const gone = await run(place, ['destinations', 'test', join(place.directory, 'gone')], 1);
    expect(gone.stdout).toMatch(/ERROR +open .*create the directory/);
  });

  const under = obeyingModes();
  test.runIf(under !== undefined)('says what rights are missing', async () => {
    await using place = await openPlace();
    const closed = join(place.directory, 'closed');
    await mkdir(closed, { mode: 0o500 });
    const tried = await place.run(['destinations', 'test', closed], { ...fresh, under: under ?? [] });
    expect(tried.code).toBe(1);
    expect(tried.stdout).toMatch(/ERROR +store .*permission denied .*-> Check who owns the directory/);
    expect(tried.stdout).toContain('CANNOT be used.');
    await rm(closed, { recursive: true });
  });

  test('several of them may be those of one source', async () => {
    await using place = await openPlace();
    for (const name of ['usb', 'nas'])
      await run(place, ['destinations', 'add', name, join(place.directory, name)]);
    await run(place, ['sources', 'add', place.source, '-d', 'usb', '-d', 'nas']);
    const shown = await run(place, ['sources', 'list']);
    expect(shown.stdout).toMatch(/source +usb +every 4h +yes\n.*source +nas +every 4h +yes\n$/);
    const [source] = jsonLines(await run(place, ['sources', 'list', '--json']));
    expect(source).toMatchObject({ path: place.source, destinations: ['usb', 'nas'] });
    const twice = await run(place, ['config', 'set', 'sources[0].destination', 'usb'], 2);
    expect(twice.stderr).toContain('both "destination" and "destinations"');
  });

  test('a source that is backed up already gets those that it lacks', async () => {
    await using place = await openPlace();
    for (const name of ['nas', 'bucket', 'usb'])
      await run(place, ['destinations', 'add', name, join(place.directory, name)]);
    await run(place, ['config', 'set', 'defaultDestination', 'nas']);
    await run(place, ['sources', 'add', place.source]);
    const add = ['sources', 'add', place.source];
    const more = await run(place, [...add, '-d', 'nas', '-d', 'bucket']);
    expect(more.stdout).toBe(`${place.source} is now backed up to bucket as well.\n`);
    const [told] = jsonLines(await run(place, [...add, '-d', 'usb', '-d', 'usb', '--json']));
    const destinations = ['nas', 'bucket', 'usb'];
    expect(told).toEqual({ type: 'source_changed', path: place.source, destinations });
    const file = join(place.state, 'config.json');
    const before = await readFile(file, 'utf8');
    expect(JSON.parse(before)).toMatchObject({ sources: [{ path: place.source, destinations }] });

    // The first one is where it goes by default.
    for (const words of [[], ['-d', 'nas'], ['-d', 'default']])
      expect((await run(place, [...add, ...words], 2)).stderr).toMatch(/ is already backed up(?: to nas)?\n/);
    const other = await run(place, [...add, '-d', 'default', '--schedule', 'daily'], 2);
    expect(other.stderr).toContain("holdfast config set 'sources[0].schedule' daily");
    expect((await run(place, [...add, '-d', 'nowhere'], 2)).stderr).toContain('"nowhere"');
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  test('a source is backed up no longer wherever it went, by however many settings of its own', async () => {
    await using place = await openPlace();
    for (const name of ['usb', 'nas'])
      await run(place, ['destinations', 'add', name, join(place.directory, name)]);
    for (const source of [
      { path: place.source, destination: 'usb' },
      { path: '/else' },
      { path: place.source, destination: 'nas', schedule: 'weekly' },
    ])
      await run(place, ['config', 'set', 'sources[-]', JSON.stringify(source)]);
    await run(place, ['sources', 'remove', place.source]);
    const { stdout } = await run(place, ['config', 'get', 'sources']);
    expect((JSON.parse(stdout) as readonly { readonly path: string }[]).map(({ path }) => path)).toEqual([
      '/else',
    ]);
  });

  test('shows what a running agent remembers, and what was added while it runs', async () => {
    await using place = await openPlace();
    await place.write({ a: 'one' });
    await using _agent = await startAgent(place);
    const absent = await run(place, ['sources', 'add', join(place.directory, 'nothing')], 2);
    expect(absent.stderr).toContain('does not exist');
    expect((await run(place, ['status'], 1)).stdout).toMatch(
      /^Not protected: nothing is chosen for backup yet\.\n/,
    );
    await run(place, ['sources', 'add', place.source]);
    const status = await settled(
      async () => await place.run(['status'], fresh),
      ({ code, stdout }) => code === 0 && !stdout.startsWith('Not protected'),
    );
    expect(status.stdout).toMatch(/^Protected(?: from mistakes)?[:,] .*last good (?:backup|one) is /);
    expect(await listed(place)).toMatchObject([
      {
        name: 'default',
        state: 'ready',
        agent_running: true,
        repository_id: expect.stringMatching(/^[0-9a-f]+$/),
      },
    ]);

    const usb = join(place.directory, 'usb');
    await mkdir(usb);
    await run(place, ['destinations', 'add', 'usb', usb]);
    const both = await settled(
      async () => await listed(place),
      (rows) => rows.length === 2,
    );
    expect(both.map(({ name, state }) => [name, state])).toEqual([
      ['default', 'ready'],
      ['usb', 'empty'],
    ]);

    // A source that goes somewhere else from now on is not protected by what lies where it went before.
    await run(place, ['config', 'set', 'sources[0].destination', 'usb']);
    const moved = await settled(
      async () => await listed(place),
      ([, second]) => second?.repository_id != null,
    );
    expect(moved.map(({ state }) => state)).toEqual(['ready', 'ready']);
    await settled(
      async () => await place.run(['status'], fresh),
      ({ stdout }) => /^Protected(?: from mistakes)?[:,]/.test(stdout),
    );
    await run(place, ['snapshots', '-r', usb, '--password-file', join(place.state, 'passphrase')]);

    await run(place, ['pause']);
    const paused = await run(place, ['status']);
    expect(paused.stdout).toMatch(
      /^Paused until you resume it: the last good backup is .* old, and no new ones are made\./,
    );
    expect(paused.stdout).toContain('To resume: holdfast resume');
    const [json] = jsonLines(await run(place, ['status', '--json']));
    expect(json).toMatchObject({ type: 'status', protected: true, agent_running: true, status: 'paused' });

    await writeFile(join(place.state, 'config.json'), '{ "plan": ');
    const broken = await settled(
      async () => await run(place, ['status']),
      ({ stdout }) => stdout.includes('configuration'),
    );
    expect(broken.stdout).toMatch(
      /^Protected, but: the configuration file cannot be used; the last valid one stays in force\. And 2 more things\.\n/,
    );
    expect(broken.stdout).toMatch(/^! Paused until you resume it: /m);
    expect(broken.stdout).toMatch(/config\.json, line 1, column 11/);
    await run(place, ['resume']);
    expect((await run(place, ['status'])).stdout).toMatch(/^Protected, but: the configuration file cannot/);
  });
});

test('without an agent, status says so in one sentence, and what to do', async () => {
  await using place = await openPlace();
  const { stdout, stderr } = await run(place, ['status'], 1);
  expect(stdout).toMatch(/^Not protected: the agent is not running.*\nStart it with: holdfast start/);
  expect(stderr).toBe('');
  const [json] = jsonLines(await run(place, ['status', '--json'], 1));
  expect(json).toMatchObject({ type: 'status', protected: false, agent_running: false });
  for (const words of [
    ['jobs'],
    ['cancel', 'x'],
    ['pause'],
    ['resume'],
    ['alarms'],
    ['credentials', 'list'],
  ]) {
    const refused = await run(place, words, 1);
    expect(refused.stderr).toBe('Error: No agent is running\nStart it with: holdfast start\n');
  }
  expect((await run(place, ['logs'], 1)).stderr).toContain('The agent has not written a log yet');
});
