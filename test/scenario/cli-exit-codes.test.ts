// Turn 6 of 8.
import { once } from 'node:events';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { jsonLines, obeyingModes, openPlace, outcomeOf } from '../support/cli.ts';

describe.concurrent('one clear message and the right exit code', () => {
  test('without a repository: 10', async () => {
    await using place = await openPlace();
    const { code, stderr, stdout } = await place.run(['snapshots']);
    expect({ code, stdout }).toEqual({ code: 10, stdout: '' });
    expect(stderr).toBe(
      `Error: There is no repository at ${place.repository}\nCheck the path, and that the drive is mounted. To create a repository there: holdfast init -r DIR\n`,
    );
  });

  test('with nothing named and nothing made yet: 10', async () => {
    await using place = await openPlace();
    const { code, stderr } = await place.run(['ls', 'latest'], { env: { HOLDFAST_REPOSITORY: undefined } });
    expect(code).toBe(10);
    expect(stderr).toContain('There is no repository yet');
    expect(stderr).toContain('holdfast start --source DIR');
  });

  test('with a wrong passphrase: 12', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    const { code, stderr } = await place.run(['backup', place.source], {
      env: { HOLDFAST_PASSWORD: 'wrong' },
    });
    expect(code).toBe(12);
    expect(stderr).toBe(
      'Error: Wrong passphrase\nGive the right passphrase, or the recovery code from the recovery kit.\n',
    );
    const json = await place.run(['backup', '--json', place.source], { env: { HOLDFAST_PASSWORD: 'wrong' } });
    expect(json).toMatchObject({ code: 12, stderr: '' });
    expect(jsonLines(json)).toEqual([
      {
        type: 'error',
        code: 'WRONG_PASSPHRASE',
        message: 'Wrong passphrase',
        hint: 'Give the right passphrase, or the recovery code from the recovery kit.',
      },
    ]);
  });

  test('of an empty name, which a variable that is not set leaves in a script: 2, and nothing is done', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    for (const words of [
      ['backup', ''],
      ['backup', place.source, ''],
      // With a slash behind it, it was the root directory.
      ['start', '--once', '--source', ''],
      ['start', '--source', ''],
      ['start', '--once', '--source', place.source, '--destination', ''],
      ['sources', 'add', ''],
      ['destinations', 'add', 'nas', ''],
      ['destinations', 'test', ''],
    ]) {
      const { stderr } = await place.expectRun(words, 2);
      expect(stderr).toContain('is empty');
    }
    expect(jsonLines(await place.expectRun(['snapshots', '--json']))).toEqual([]);
    expect(await readdir(place.state)).not.toContain('config.json');
  });

  test('of an empty path: 2, where the working directory would be meant, and nothing in it is touched', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    await place.write({ 'a.txt': 'as it was saved' });
    await place.expectRun(['backup', place.source]);
    await place.write({ 'a.txt': 'as it is now', 'b.txt': 'of now' });
    const target = join(place.directory, 'target');
    const over = ['--overwrite', 'always', '--delete-extra'];
    for (const words of [
      ['restore', `latest:${place.source}`, '--target', '', ...over],
      ['restore', 'latest', '', '--target', target, ...over],
      ['restore', 'latest', '', '--in-place', ...over],
      ['restore', 'latest:', '--in-place', ...over],
      ['restore', 'latest:', '--target', target],
      ['ls', 'latest', ''],
      ['ls', 'latest:'],
      ['diff', 'latest:', 'latest'],
      ['diff', 'latest', 'latest:'],
      ['versions', ''],
      ['tar', 'latest', ''],
      ['cat', 'latest', ''],
    ]) {
      const { stdout, stderr } = await place.expectRun(words, 2, { cwd: place.source });
      expect(stdout).toBe('');
      expect(stderr).toMatch(/is empty|There is no path after the colon/);
    }
    expect(await readdir(place.source)).toEqual(['a.txt', 'b.txt']);
    expect(await readFile(join(place.source, 'a.txt'), 'utf8')).toBe('as it is now');
    expect(await readdir(place.directory)).not.toContain('target');
  });

  test('of an empty -r: 2, and no other repository takes its place', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    await place.write({ a: 'x' });
    for (const host of ['one', 'two']) await place.expectRun(['backup', '--host', host, place.source]);
    const fresh = { env: { HOLDFAST_REPOSITORY: undefined } };
    await place.expectRun(['start', '--once', '--source', place.source], 0, fresh);
    for (const options of [{}, fresh]) {
      for (const words of [
        ['-r', '', 'snapshots'],
        ['forget', '-r', '', '--keep-last', '1', '--group-by', 'none'],
        ['prune', '--repository=', '--grace', '0', '--no-other-writers'],
      ])
        expect((await place.expectRun(words, 2, options)).stderr).toContain('is empty');
    }
    await place.expectRun(['copy', '--from', ''], 2);
    expect(jsonLines(await place.expectRun(['snapshots', '--json']))).toHaveLength(2);
    // Of the environment it is one that is not set.
    const unset = { env: { HOLDFAST_REPOSITORY: '' } };
    expect(jsonLines(await place.expectRun(['snapshots', '--json'], 0, unset))).toHaveLength(1);
  });

  test('of a filter that has no word in it: 2, and nothing is removed', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    await place.write({ a: 'x' });
    for (const tag of ['one', 'two']) await place.expectRun(['backup', '--tag', tag, place.source]);
    const forget = ['forget', '--keep-last', '1', '--group-by', 'none'];
    for (const words of [
      [...forget, '--tag', ''],
      [...forget, '--tag', ','],
      [...forget, '--tag', 'one', '--tag', ','],
      [...forget, '--host', ''],
      [...forget, '--path', ''],
      ['forget', '--keep-last', '1', '--group-by', ''],
      ['backup', '--host', '', place.source],
      ['backup', '--tag', ',', place.source],
      ['restore', 'latest', '--include', '', '--target', join(place.directory, 'target')],
      ['backup', '--exclude-file', '', place.source],
      ['snapshots', '--password-file', ''],
    ])
      await place.expectRun(words, 2);
    expect(jsonLines(await place.expectRun(['snapshots', '--json']))).toHaveLength(2);
    // Where it means something, it still does.
    await place.expectRun(['tag', 'latest', '--set', '']);
    expect(jsonLines(await place.expectRun(['snapshots', '--json'])).at(-1)).toMatchObject({ tags: [] });
    const [saved] = jsonLines(
      await place.expectRun(['backup', '--json', '--stdin-name', 'x', '--stdin-command', '--', 'echo', '']),
    ).slice(-1);
    expect(saved).toMatchObject({ type: 'summary', files_total: 1 });
  });

  test('of options that would not be obeyed: 2, and nothing is done', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    await place.write({ 'new-passphrase': 'another one', file: 'content' });
    const given = ['--new-password-file', join(place.source, 'new-passphrase')];
    const refused: readonly (readonly [readonly string[], string])[] = [
      // It would give up what is lost of all machines.
      [['forget', '--lost', '--host', 'web1'], '--lost cannot be combined with anything else'],
      // The passphrase would open nothing.
      [['keys', 'add', '--recovery-code', ...given], 'Only one kind of key'],
      [['keys', 'add', '--this-machine', ...given], 'Only one kind of key'],
      [['keys', 'add', '--this-machine', '--recovery-code'], 'Only one kind of key'],
      [['keys', 'add', '--write-only', join(place.directory, 'key'), ...given], 'Only one kind of key'],
      // Every file that is not empty would be left out; nothing could ever be stored.
      [['backup', '--exclude-larger-than', '0', place.source], '"0" is not a possible size'],
      [['backup', '--exclude-larger-than', '500', place.source], '"500" has no unit'],
      [['keys', 'rekey', '--limit-rate', '2'], '"2" would send less than 1 KiB a second'],
      [['backup', '--stdin-name', 'db', '--exclude', '*.tmp'], '--exclude cannot be used'],
      [['backup', '--stdin-name', 'db', '--exclude-caches', '-x'], '--exclude-caches cannot be used'],
      [['backup', '--stdin-name', 'db', '--parent', 'none'], '--parent cannot be used'],
      [['check', '--from-password-file', 'x'], '--repair-from'],
    ];
    for (const [words, text] of refused) expect((await place.expectRun(words, 2)).stderr).toContain(text);
    expect(jsonLines(await place.expectRun(['snapshots', '--json']))).toEqual([]);
    expect(jsonLines(await place.expectRun(['keys', 'list', '--json']))).toHaveLength(2);
  });

  test('of a new passphrase that nobody could type: 2, and nothing is made', async () => {
    await using place = await openPlace();
    const file = join(place.directory, 'passphrase');
    const init = ['init', '--password-file', file];
    for (const [text, what] of [
      ['correct\uFEFF horse', 'an invisible character'],
      ['correct\nhorse\n', 'more than one line'],
      ['correct\thorse', 'an invisible character'],
    ] as const) {
      await writeFile(file, text);
      expect((await place.expectRun(init, 2)).stderr).toContain(what);
    }
    await writeFile(file, 'correct horse\r\n');
    await place.expectRun(init);
    const typed = { env: { HOLDFAST_PASSWORD: 'correct horse' } };
    const asFile = ['snapshots', '--password-file', file];
    for (const [text, what] of [
      ['correct horse\nsecond\n', 'has more than one line'],
      ['correct horse\n\n', 'ends with a line break'],
      ['correct horse \n', 'begins or ends with a space'],
    ] as const) {
      await writeFile(file, text);
      expect((await place.expectRun(asFile, 12)).stderr).toContain(`Error: The passphrase ${what}\n`);
    }
    const command = ['snapshots', '--json', '--password-command', 'echo correct horse; echo a warning'];
    expect(jsonLines(await place.expectRun(command, 12))).toMatchObject([
      { code: 'WRONG_PASSPHRASE', message: 'The passphrase has more than one line' },
    ]);
    const variable = { env: { HOLDFAST_PASSWORD: 'correct horse\n' } };
    expect((await place.expectRun(['snapshots'], 12, variable)).stderr).toContain('ends with a line break');
    await place.expectRun(['snapshots'], 0, typed);
    await writeFile(file, 'another\uFEFF horse');
    await place.expectRun(['keys', 'passwd', '--new-password-file', file], 2, typed);
  });

  test('of an id with too few digits: that it is too short, and not that there is none', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    await place.write({ a: 'a' });
    const [saved] = jsonLines(await place.expectRun(['backup', '--json', place.source])).slice(-1);
    const id = String(saved?.['snapshot_id']);
    const short = `"${id.slice(0, 3)}" is too short: an id needs at least 4 digits`;
    for (const words of [
      ['ls', id.slice(0, 3)],
      ['restore', id.slice(0, 3), '--in-place'],
      ['diff', 'latest', id.slice(0, 3)],
      ['forget', id.slice(0, 3)],
      ['tag', id.slice(0, 3), '--add', 'x'],
      ['backup', '--parent', id.slice(0, 3), place.source],
    ])
      expect((await place.expectRun(words, 1)).stderr).toContain(short);
    await place.expectRun(['ls', id.slice(0, 4)]);
    expect((await place.expectRun(['keys', 'remove', 'abc'], 2)).stderr).toContain(
      '"abc" is too short: an id needs at least 4 digits',
    );
  });

  test('of what another process is at work on: 11, saying who', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    const writer = place.start(['backup', '--stdin-name', 'slow', '--json']);
    const ended = once(writer, 'exit');
    const leases = join(place.repository, 'leases');
    while ((await readdir(leases).catch(() => [])).length === 0) await delay(20);
    const { code, stderr } = await place.run(['prune', '--grace', '0', '--no-other-writers']);
    expect(code).toBe(11);
    expect(stderr).toMatch(/^Error: A backup is running/);
    writer.stdin?.end('the end');
    expect(await ended).toEqual([0, null]);
  });

  test('without a passphrase and without a terminal: 2, naming every way to give one', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    const { code, stderr } = await place.run(['snapshots'], { env: { HOLDFAST_PASSWORD: undefined } });
    expect(code).toBe(2);
    for (const way of ['--password-file', '--password-command', 'HOLDFAST_PASSWORD_FILE'])
      expect(stderr).toContain(way);
  });

  test.each([
    [['bakup'], "Unknown command 'bakup'\nDid you mean backup?"],
    [['help', 'bakup'], "Unknown command 'bakup'\nDid you mean backup?"],
    [['cat', 'latest'], "Missing required argument 'path'"],
    [['backup'], 'Nothing to back up was named'],
    [['backup', '--stdin-command', 'true'], 'The backup of standard input needs a file name'],
    [['backup', '--exlude', 'x', '.'], "Unknown option '--exlude'\nDid you mean --exclude?"],
    [['backup', '--compression', 'gzip', '.'], 'Unknown compression "gzip"'],
    [['backup', '--exclude-larger-than', 'big', '.'], "'big' is not a size"],
    [['restore', 'latest'], 'It is not clear where to restore to'],
    [['forget'], 'It is not clear what to remove'],
    [['check', '--read-data-subset', '0%'], '0% is not a part of the data'],
    // Five bytes, where five per cent were meant.
    [['check', '--read-data-subset', '5'], '"5" has no unit'],
    [['prune', '--max-repack', '5'], '"5" has no unit'],
    [['find', 'x', '--newer', 'soon'], '"soon" is not a time'],
  ])('of a wrong command line (%j): 2', async (words, message) => {
    await using place = await openPlace();
    const { code, stderr } = await place.run(words);
    expect(code).toBe(2);
    expect(stderr).toContain(`Error: ${message}`);
  });

  test('of a source that does not exist: 1 alone, 3 and recorded among others', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    await place.write({ a: 'x' });
    const gone = join(place.directory, 'nowhere');
    const alone = await place.run(['backup', '--json', gone]);
    expect(alone.code).toBe(1);
    expect(jsonLines(alone)).toEqual([
      expect.objectContaining({ type: 'error', code: 'INVALID_SOURCE', message: `${gone} does not exist` }),
    ]);
    const said = await place.run(['backup', place.source, gone]);
    expect(said).toMatchObject({ code: 3, stderr: `Not backed up: ${gone} does not exist\n` });
    const among = await place.run(['backup', '--json', place.source, gone]);
    expect(among.code).toBe(3);
    expect(jsonLines(among)).toContainEqual(
      expect.objectContaining({ type: 'problem', path: gone, code: 'ENOENT' }),
    );
  });

  test('of a snapshot or path that is not there: 1', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    await place.write({ a: 'x' });
    await place.expectRun(['backup', place.source]);
    expect(await place.run(['ls', 'abcdef'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no snapshot "abcdef"'),
    });
    expect(await place.run(['cat', 'latest', join(place.source, 'b')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`The nearest directory in it is ${place.source}`),
    });
  });

  test('of a second init in the same place: 1, and the first stays as it was', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    const again = await place.run(['init'], { env: { HOLDFAST_PASSWORD: 'other' } });
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is already a repository'),
    });
    await place.expectRun(['snapshots']);
  });
});

test.concurrent('a file that cannot be read is listed once, all others are saved, and the exit code is 3', async (context) => {
  const under = obeyingModes();
  if (under === undefined) return context.skip('capabilities cannot be dropped here');
  await using place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ 'closed.txt': 'x', 'open-1': 'x', 'open-2': 'x' });
  await chmod(join(place.source, 'closed.txt'), 0o000);
  const backup = await place.run(['backup', place.source], { under });
  expect(backup.code).toBe(3);
  expect(backup.stderr.split('closed.txt')).toHaveLength(2);
  expect(backup.stderr).toContain('EACCES');
  expect(backup.stdout).toContain('saved: 2 files');
  const json = await place.run(['backup', '--json', place.source], { under });
  expect(json.code).toBe(3);
  expect(jsonLines(json).filter((line) => line['type'] === 'problem')).toEqual([
    expect.objectContaining({ path: join(place.source, 'closed.txt'), code: 'EACCES' }),
  ]);
  expect(jsonLines(json).at(-1)).toMatchObject({ type: 'summary', files_total: 2, files_failed: 1 });
  const [snapshot] = jsonLines(await place.expectRun(['snapshots', '--json', '--errors']));
  expect(snapshot).toMatchObject({ status: 'partial', errors_total: 1, errors: [{ code: 'EACCES' }] });
  return undefined;
});

test.concurrent('a copy of all snapshots that lacks one ends with 3, and says so', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ a: 'a' });
  await place.expectRun(['backup', place.source]);
  await place.expectRun(['backup', place.source]);
  const [first] = jsonLines(await place.expectRun(['snapshots', '--json']));
  const record = join(place.repository, 'snapshots', String(first?.['id']));
  const bytes = await readFile(record);
  await writeFile(record, bytes.fill(0, bytes.length - 20));
  const target = join(place.directory, 'target');
  const env = { HOLDFAST_REPOSITORY: target };
  await place.expectRun(['init'], 0, { env });
  const copy = await place.expectRun(['copy', '--from', place.repository], 3, { env });
  expect(copy.stdout).toContain('1 snapshot copied');
  expect(copy.stderr).toContain('1 snapshot cannot be read');
  const named = await place.expectRun(['copy', '--from', place.repository, 'latest'], 0, { env });
  expect(named.stdout).toContain('1 there already');
});

test.concurrent('a destination that fills up ends the backup with 1 and no snapshot, and the next run is clean', async (context) => {
  await using place = await openPlace();
  await mkdir(place.repository);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', place.repository], { stdio: 'pipe' });
  } catch (error) {
    return context.skip(`no tmpfs can be mounted here: ${String(error)}`);
  }
  try {
    await place.expectRun(['init']);
    await place.write({ small: 'x', large: randomBytes(12 * 1024 * 1024) });
    const full = await place.run(['backup', place.source]);
    expect(full.code).toBe(1);
    expect(full.stderr).toMatch(/^Error: .*(no space|is full)/im);
    expect(full.stdout).toBe('');
    expect(await readdir(join(place.repository, 'snapshots')).catch(() => [])).toEqual([]);

    execFileSync('mount', ['-o', 'remount,size=64m', place.repository]);
    await place.expectRun(['backup', place.source]);
    await place.expectRun(['check', '--read-data', '--quiet']);
    expect(jsonLines(await place.expectRun(['snapshots', '--json']))).toHaveLength(1);
  } finally {
    execFileSync('umount', ['-l', place.repository]);
  }
  return undefined;
});

describe.concurrent('an interrupted backup', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'by %s ends with 130, leaves no snapshot, and the next run completes',
    async (signal) => {
      await using place = await openPlace();
      await place.expectRun(['init']);
      for (let i = 0; i < 40; i += 1) await place.write({ [`file-${i}`]: randomBytes(1024 * 1024) });
      const child = place.start(['backup', '--json', place.source]);
      const ending = outcomeOf(child);
      // Its first line says that it is at work.
      if (child.stdout !== null) await once(child.stdout, 'data');
      child.kill(signal);
      const { code, stdout } = await ending;
      expect(code).toBe(130);
      expect(jsonLines({ stdout }).at(-1)).toMatchObject({
        type: 'error',
        code: 'INTERRUPTED',
        hint: expect.stringContaining('run the same command again'),
      });
      expect(jsonLines(await place.expectRun(['snapshots', '--json']))).toEqual([]);
      const again = jsonLines(await place.expectRun(['backup', '--json', place.source])).at(-1);
      expect(again).toMatchObject({ files_total: 40, files_failed: 0 });
    },
  );
});

test.concurrent('a reader that has seen enough ends a listing quietly', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  for (let i = 0; i < 30; i += 1) await place.write({ [`directory-${i}/`]: '' });
  await place.expectRun(['backup', place.source]);
  const child = place.start(['ls', '-lR', 'latest', '/']);
  child.stdout?.destroy();
  const { code, stderr } = await outcomeOf(child);
  expect({ code, stderr }).toEqual({ code: 141, stderr: '' });
});

test.concurrent('a passphrase given for one repository is tried for the other, which an error names', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ a: 'a' });
  await place.expectRun(['backup', place.source]);
  const target = join(place.directory, 'target');
  const paper = join(place.directory, 'paper');
  await writeFile(paper, 'another one\n');
  const env = { HOLDFAST_REPOSITORY: target, HOLDFAST_PASSWORD: 'another one' };
  await place.expectRun(['init'], 0, { env });
  const bare = { env: { HOLDFAST_REPOSITORY: target, HOLDFAST_PASSWORD: undefined } };
  const given = ['--password-file', paper];
  const second = {
    env: { HOLDFAST_REPOSITORY: join(place.directory, 'second'), HOLDFAST_PASSWORD: undefined },
  };
  await place.expectRun(['init', ...given], 0, second);
  await place.expectRun(['copy', '--from', target, ...given], 0, second);
  await place.expectRun(['backup', place.source], 0, { env });
  await rm(join(target, 'packs'), { recursive: true });
  for (const words of [
    ['copy', '--from', place.repository],
    ['check', '--repair-from', place.repository],
  ]) {
    const wrong = await place.expectRun([...words, ...given], 12, bare);
    expect(wrong.stderr).toContain(`Error: ${place.repository}: Wrong passphrase`);
  }
});
