// Turn 7 of 8.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, chmod, mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { privateRuntime } from '../../service/bin/runtime.js';
import { HERE } from '../../src/base/program-call.ts';
import { jsonLines, openPlace, outcomeOf, type Place } from '../support/cli.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { restoredPath } from '../support/restored-path.ts';

/** As on a machine where nothing was set up. */
const fresh = { env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined } };

async function start(place: Place, code = 0) {
  return await place.expectRun(['start', '--source', place.source, '--once'], code, fresh);
}

async function readKit(place: Place): Promise<{ text: string; passphrase: string; code: string }> {
  const text = await readFile(join(place.state, 'recovery-kit.txt'), 'utf8');
  return {
    text,
    passphrase: /Passphrase +(\S+)/.exec(text)?.[1] ?? '',
    code: /Recovery code +(\S+)/.exec(text)?.[1] ?? '',
  };
}

describe.concurrent('the first start', () => {
  test('makes a repository and a private recovery kit, saves the directory, and says how to restore', async () => {
    await using place = await openPlace();
    await place.write({ 'a.txt': 'hello', 'd/b': 'b' });
    const { stdout, stderr } = await start(place);
    const kit = join(place.state, 'recovery-kit.txt');
    expect(stderr).toContain(`Recovery kit  ${kit}`);
    expect(stdout).toContain(`Saved 2 files (6 B) from ${place.source}`);
    expect(stdout).toContain(`Keep your recovery kit somewhere else`);
    expect(stdout).toMatch(/restore latest --target DIR/);
    for (const name of ['recovery-kit.txt', 'machine.key', 'repository-id'])
      expect((await stat(join(place.state, name))).mode & 0o777).toBe(0o600);
    expect((await stat(place.state)).mode & 0o777).toBe(0o700);

    const target = join(place.directory, 'back');
    await place.expectRun(['restore', 'latest', '--target', target], 0, fresh);
    expect(compareTrees(place.source, restoredPath(target, place.source)).map(shownDifference)).toEqual([]);
  });

  test('leaves a kit whose passphrase and code each open the repository on another machine', async () => {
    await using place = await openPlace();
    await place.write({ a: 'x' });
    await start(place);
    const { text, passphrase, code } = await readKit(place);
    expect(passphrase).toMatch(/^([a-z]{5}-){5}[a-z]{5}$/);
    expect(code).toMatch(/^([A-Z2-7]{7}-){7}[A-Z2-7]{7}$/);
    expect(text).toContain(join(place.state, 'repository'));
    const moved = join(place.directory, 'moved');
    await rename(join(place.state, 'repository'), moved);
    for (const password of [passphrase, code]) {
      const env = { HOLDFAST_PASSWORD: password, HOLDFAST_STATE_DIR: join(place.directory, 'elsewhere') };
      const listed = await place.expectRun(['ls', '-r', moved, 'latest'], 0, { env });
      expect(listed.stdout).toBe(`${join(place.source, 'a')}\n`);
    }
  });

  test('takes a link to a directory for the directory', async () => {
    await using place = await openPlace();
    await place.write({ 'real/a': 'x' });
    const link = join(place.source, 'link');
    await symlink('real', link);
    const { stdout } = await place.expectRun(['start', '--source', link, '--once'], 0, fresh);
    expect(stdout).toContain('Saved 1 file');
  });

  test('of a directory that does not exist says so and makes nothing', async () => {
    await using place = await openPlace();
    const bare = await place.expectRun(['start', '--once'], 0, fresh);
    expect(bare.stdout).toContain('start --source ~/Documents');
    const gone = join(place.directory, 'nowhere');
    const { stderr } = await place.expectRun(['start', '--source', gone], 1, fresh);
    expect(stderr).toBe(
      `Error: ${gone} does not exist\nCheck the spelling, and that the drive is mounted.\n`,
    );
    const json = await place.expectRun(['start', '--source', gone, '--json'], 1, fresh);
    expect(jsonLines(json)[0]).toMatchObject({ type: 'error', code: 'INVALID_SOURCE' });
    await expect(stat(place.state)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('asked to be quiet says nothing but where the recovery kit lies', async () => {
    await using place = await openPlace();
    await place.write({ a: 'x' });
    const child = place.start(['start', '--source', place.source, '--port', '0', '--quiet'], fresh);
    const ended = outcomeOf(child);
    await expect
      .poll(async () => (await place.run(['snapshots', '--json'], fresh)).stdout, { timeout: 60_000 })
      .toContain('"id"');
    await expect
      .poll(async () => (await place.run(['jobs', '--json'], fresh)).stdout, { timeout: 60_000 })
      .toContain('"completed"');
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(
      /^ {2}Recovery kit {2}\S+\/recovery-kit\.txt\n {2}Keep the recovery kit somewhere else: [^\n]+\n$/,
    );
  });
});

describe.concurrent('a later start', () => {
  test('saves what is new with the same keys, and reminds of the kit until it is gone', async () => {
    await using place = await openPlace();
    await place.write({ a: 'x' });
    await start(place);
    const before = await readKit(place);
    await place.write({ b: 'y' });
    const second = await start(place);
    expect(second.stderr).not.toContain('first start');
    expect(second.stdout).toContain('Keep your recovery kit');
    expect(await readKit(place)).toEqual(before);
    expect(jsonLines(await place.expectRun(['snapshots', '--json'], 0, fresh))).toHaveLength(2);
    await rm(join(place.state, 'recovery-kit.txt'));
    expect((await start(place)).stdout).not.toContain('recovery kit');
  });

  test('never makes a new repository in the place of one that is gone', async () => {
    await using place = await openPlace();
    await place.write({ a: 'x' });
    await start(place);
    const kit = await readKit(place);
    await rename(join(place.state, 'repository'), join(place.directory, 'unplugged'));
    const { stderr } = await start(place, 10);
    expect(stderr).toContain('is gone');
    expect(await readKit(place)).toEqual(kit);
  });

  test('after a first one that was killed before the repository was finished begins anew', async () => {
    await using place = await openPlace();
    await place.write({ a: 'x' });
    await mkdir(join(place.state, 'repository', 'config'), { recursive: true, mode: 0o700 });
    await chmod(place.state, 0o700);
    await writeFile(join(place.state, 'repository', 'config', '1'), 'unfinished');
    await start(place);
    await place.expectRun(['check', '--quiet'], 0, fresh);
  });
});

/** Runs the agent until it has told of its first backup. */
async function firstJob(place: Place, words: readonly string[]): Promise<Record<string, unknown>> {
  const child = place.start(['start', ...words, '--port', '0', '--json'], fresh);
  const ending = outcomeOf(child);
  const told = (text: string): boolean => text.includes('"type":"job"');
  let said = '';
  child.stdout?.on('data', (bytes: Buffer) => {
    if (told((said += bytes.toString()))) child.kill('SIGTERM');
  });
  const { stdout, stderr } = await ending;
  const job = jsonLines({ stdout }).find(({ type }) => type === 'job');
  if (job === undefined) throw new Error(`the agent told of no job:\n${stdout}${stderr}`);
  return job;
}

describe.concurrent('the log of an agent', () => {
  test('has what the settings say, at the start and when they change', async () => {
    await using place = await openPlace();
    await place.expectRun(['config', 'set', 'log.level', 'error'], 0, fresh);
    const child = place.start(['start', '--port', '0', '--json'], fresh);
    const ending = outcomeOf(child);
    const log = async (): Promise<string> => await readFile(join(place.state, 'agent.log'), 'utf8');
    try {
      await once(child.stdout ?? child, 'data');
      expect(await log()).toBe('');
      await place.expectRun(['config', 'set', 'log.level', 'info'], 0, fresh);
      await expect.poll(log, { timeout: 20_000 }).toContain('the configuration was read again');
    } finally {
      child.kill('SIGTERM');
      await ending;
    }
  });
});

async function countSnapshots(place: Place, words: readonly string[] = []): Promise<number> {
  return jsonLines(await place.expectRun(['snapshots', '--json', ...words], 0, fresh)).length;
}

describe.concurrent('the destination of a start', () => {
  test('that is a directory is one of the settings from then on, and has the first backup', async () => {
    await using place = await openPlace();
    await place.write({ a: 'x' });
    const usb = join(place.directory, 'usb stick');
    const job = await firstJob(place, ['--source', place.source, '--destination', usb]);
    expect(job).toMatchObject({
      status: 'completed',
      spec: { destination: 'usb-stick', source: place.source },
    });
    const { destinations, sources } = JSON.parse(
      await readFile(join(place.state, 'config.json'), 'utf8'),
    ) as Record<string, unknown>;
    expect(destinations).toEqual({ 'usb-stick': { url: usb } });
    expect(sources).toEqual([{ path: place.source, destination: 'usb-stick' }]);
    expect(await countSnapshots(place, ['-r', 'usb-stick'])).toBe(1);

    // Once more without the agent, by its name and by its path; the default destination has nothing of it.
    for (const named of ['usb-stick', `${usb}/`]) {
      const words = ['start', '--source', place.source, '--destination', named, '--once'];
      const { stdout } = await place.expectRun(words, 0, fresh);
      expect(stdout).toContain('restore -r usb-stick latest');
      expect(stdout).toContain(`Repository    ${usb}`);
    }
    expect(await countSnapshots(place, ['-r', 'usb-stick'])).toBe(3);
    expect(await countSnapshots(place)).toBe(0);
  });

  test('is added to those of a source that is backed up already', async () => {
    await using place = await openPlace();
    await place.write({ a: 'x' });
    expect(await firstJob(place, ['--source', place.source])).toMatchObject({
      spec: { destination: 'default' },
    });
    await firstJob(place, ['--source', place.source, '--destination', './usb']);
    const settings = JSON.parse(await readFile(join(place.state, 'config.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    expect(settings['sources']).toEqual([{ path: place.source, destinations: ['default', 'usb'] }]);
    expect(settings['destinations']).toEqual({ usb: { url: join(place.directory, 'usb') } });
  });

  test('is the default one of the settings with --once, which never makes a repository there', async () => {
    await using place = await openPlace();
    await place.write({ a: 'x' });
    const usb = join(place.directory, 'usb');
    await place.expectRun(['destinations', 'add', 'usb', usb, '--default'], 0, fresh);
    const away = await start(place, 10);
    expect(away.stderr).toContain(`There are no backups at ${usb}, the default destination (usb)`);
    const password = { env: { ...fresh.env, HOLDFAST_PASSWORD: 'a good one' } };
    await place.expectRun(['init', '-r', 'usb'], 0, password);
    await place.expectRun(['start', '--source', place.source, '--once'], 0, password);
    const listed = await place.expectRun(['snapshots', '--json'], 0, password);
    expect(jsonLines(listed)).toHaveLength(1);
    await expect(stat(join(place.state, 'repository'))).rejects.toMatchObject({ code: 'ENOENT' });

    const config = join(place.directory, 'other.json');
    await writeFile(config, '{}', { mode: 0o600 });
    const other = await place.expectRun(
      ['start', '--source', place.source, '--once', '--config', config],
      0,
      fresh,
    );
    expect(other.stdout).toContain(`Repository    ${join(place.state, 'repository')}`);
    expect(other.stdout).toContain(`HOLDFAST_CONFIG=${config} `);
  });

  test.each([
    [['--destination', 'usb'], 'No destination is called "usb"'],
    [['--destination', 'usb', '--once'], 'No destination is called "usb"'],
    [['--port', '7000', '--once'], 'so --port has no use'],
  ])('%j cannot be, and says so', async (words, message) => {
    await using place = await openPlace();
    const { stderr } = await place.expectRun(['start', '--source', place.source, ...words], 2, fresh);
    expect(stderr).toContain(message);
    await expect(stat(join(place.state, 'config.json'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('without a source is for nothing', async () => {
    await using place = await openPlace();
    const { stderr } = await place.expectRun(['start', '--destination', 'default'], 2, fresh);
    expect(stderr).toContain('--source DIR');
  });
});

describe.concurrent('the machine key', () => {
  test.each([
    ['readable by others', async (key: string) => await chmod(key, 0o644), /mode 644[^]*chmod 600 /],
    ['writable by the group', async (key: string) => await chmod(key, 0o620), /mode 620[^]*chmod 600 /],
    [
      'in a directory that others can change',
      async (key: string) => await chmod(join(key, '..'), 0o777),
      /chmod 700 /,
    ],
    [
      'replaced by a link',
      async (key: string) => {
        await rename(key, `${key}.real`);
        await symlink(`${key}.real`, key);
      },
      /symbolic link/,
    ],
    ['damaged', async (key: string) => await appendFile(key, 'x'), /is damaged/],
  ])('%s is refused with what to do', async (_, spoil, message) => {
    await using place = await openPlace();
    await place.write({ a: 'x' });
    await start(place);
    await spoil(join(place.state, 'machine.key'));
    const { code, stderr } = await place.run(['snapshots'], fresh);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
  });

  test('that is lost is made again from the recovery kit', async () => {
    await using place = await openPlace();
    await place.write({ a: 'x' });
    await start(place);
    await rm(join(place.state, 'machine.key'));
    await place.expectRun(['snapshots'], 2, fresh);
    const env = { ...fresh.env, HOLDFAST_PASSWORD: (await readKit(place)).passphrase };
    await place.expectRun(['keys', 'add', '--this-machine'], 0, { env });
    await place.expectRun(['snapshots'], 0, fresh);
  });
});

describe.concurrent('the program', () => {
  test('runs another command when the first word behind start is one, as "npm start -- …" needs', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    await place.write({ a: 'x' });
    await place.expectRun(['start', 'backup', place.source]);
    expect((await place.expectRun(['start', 'help'])).stdout).toContain('Usage: holdfast COMMAND');
    expect((await place.expectRun(['start', 'ls', 'latest'])).stdout).toBe(`${join(place.source, 'a')}\n`);
  });

  test('of which the name is mistyped, or which is a directory alone, is answered by what was meant', async () => {
    await using place = await openPlace();
    const mistyped = await place.expectRun(['start', 'snapshos'], 2);
    expect(mistyped.stderr).toBe(
      'Error: There is no command snapshos\nDid you mean snapshots? See what it does with: holdfast help snapshots\n',
    );
    const alone = await place.expectRun(['start', place.source], 2);
    expect(alone.stderr).toContain(`To back it up: holdfast start --source ${place.source}\n`);
    expect((await place.expectRun(['help', 'service', 'uninstall'])).stdout).toContain('--purge');
  });

  test('tells its version, an overview, and for every command its purpose, options and an example', async () => {
    await using place = await openPlace();
    expect((await place.expectRun(['--version'])).stdout).toMatch(/^holdfast \d+\.\d+\.\d+\n$/);
    const overview = (await place.expectRun([])).stdout;
    const commands = [...overview.matchAll(/^ {2}([a-z]+) {2,}[A-Z]/gm)].map(([, name]) => name ?? '');
    expect(commands.length).toBeGreaterThanOrEqual(18);
    const helps = await Promise.all(commands.map(async (name) => await place.expectRun(['help', name])));
    for (const { stdout } of helps) {
      expect(stdout).toMatch(/^Usage: holdfast /);
      expect(stdout).toMatch(/Examples:\n {2}(?:source <\(holdfast|sudo \S+ \S+|holdfast) /);
      // Where the program lies is as long as it is.
      const lines = stdout.split('\n').filter((line) => !line.startsWith('  sudo '));
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(110);
    }
  });

  test('is started by an older Node.js in its own runtime, which gets its signals and gives its exit code', async (context) => {
    const old = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => {
      const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
      return status === 0 && Number(/^v(\d+)/.exec(stdout)?.[1]) < 24;
    });
    if (old === undefined || privateRuntime(HERE.root) === undefined)
      return context.skip('there is no older Node.js here, or no private runtime');
    await using place = await openPlace();
    const node = { node: old };
    expect((await place.expectRun(['--version'], 0, node)).stdout).toMatch(/^holdfast /);
    await place.expectRun(['snapshots'], 10, node);
    await place.expectRun(['init'], 0, node);
    for (let i = 0; i < 30; i += 1) await place.write({ [`file-${i}`]: randomBytes(1024 * 1024) });
    const child = place.start(['backup', '--json', place.source], node);
    const ending = outcomeOf(child);
    if (child.stdout !== null) await once(child.stdout, 'data');
    child.kill('SIGTERM');
    const { code, stdout } = await ending;
    expect(code).toBe(130);
    expect(jsonLines({ stdout }).at(-1)).toMatchObject({ code: 'INTERRUPTED' });
    return undefined;
  });
});
