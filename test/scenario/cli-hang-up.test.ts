// Turn 6 of 8.
/** SIGHUP ends a command as SIGTERM does, unless it was started to outlive its terminal. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { access, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PASSPHRASE, executable, jsonLines, openPlace, outcomeOf, type Place } from '../support/cli.ts';

const hasScript = spawnSync('script', ['--version']).status === 0;

/** Without the traces of how these tests were started. */
const plain = { env: { _: undefined } };

async function isThere(pid: number): Promise<boolean> {
  return await access(`/proc/${pid}`).then(
    () => true,
    () => false,
  );
}

/** The words of a backup of a command that tells its number in the file `pid` and then says nothing for a minute. */
function silentBackup(place: Place, words: readonly string[] = []): readonly string[] {
  const command = `echo $$ > ${place.directory}/pid; echo dump; exec sleep 61`;
  return ['backup', ...words, '--stdin-name', 'x', '--stdin-command', '--', 'sh', '-c', command];
}

async function commandOf(place: Place): Promise<number> {
  const read = async (): Promise<string> =>
    await readFile(join(place.directory, 'pid'), 'utf8').catch(() => '');
  await expect.poll(read, { timeout: 30_000 }).toMatch(/^\d+\n$/);
  return Number(await read());
}

async function leases(place: Place): Promise<readonly string[]> {
  const found = await readdir(join(place.repository, 'leases'), { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map(({ name }) => name);
}

describe.concurrent('SIGHUP', () => {
  test.each([
    ['text', []],
    ['JSON', ['--json']],
  ])(
    'ends a backup with the command that it reads, in %s: 129, no lease, no snapshot',
    async (_name, words) => {
      await using place = await openPlace();
      await place.expectRun(['init']);
      const child = place.start(silentBackup(place, words), plain);
      const ending = outcomeOf(child);
      const command = await commandOf(place);
      child.kill('SIGHUP');
      const { code, stdout, stderr } = await ending;
      expect(code).toBe(129);
      if (words.length === 0) expect(stderr).toContain('Interrupted.');
      else expect(jsonLines({ stdout }).at(-1)).toMatchObject({ type: 'error', code: 'INTERRUPTED' });
      expect(await isThere(command)).toBe(false);
      expect(await leases(place)).toEqual([]);
      expect(jsonLines(await place.expectRun(['snapshots', '--json']))).toEqual([]);
    },
  );

  test('is not a second signal: what is being cleaned up goes on', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    const stubborn = `trap "" TERM; echo $$ > ${place.directory}/pid; echo dump; while :; do sleep 1; done`;
    const child = place.start(
      ['backup', '--stdin-name', 'x', '--stdin-command', '--', 'sh', '-c', stubborn],
      plain,
    );
    const ending = outcomeOf(child);
    const command = await commandOf(place);
    child.kill('SIGHUP');
    // Not to the end: then nothing listens any more, and the system ends it with the same result.
    for (const afterMs of [300, 600]) setTimeout(() => child.kill('SIGHUP'), afterMs);
    const { code } = await ending;
    expect(code).toBe(129);
    expect(await isThere(command)).toBe(false);
  });

  test.each([
    ['nohup', ['sh', '-c', '_=/usr/bin/nohup; export _; exec nohup "$@"', 'sh']],
    ['a shell that ignores it', ['sh', '-c', 'trap "" HUP; "$@"; exit $?', 'sh']],
  ])('does nothing to a backup that was started by %s', async (_name, under) => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    const told = `echo $PPID > ${place.directory}/pid; echo dump; sleep 2`;
    const child = place.start(
      ['backup', '--json', '--stdin-name', 'x', '--stdin-command', '--', 'sh', '-c', told],
      { ...plain, under },
    );
    const ending = outcomeOf(child);
    process.kill(await commandOf(place), 'SIGHUP');
    expect((await ending).code).toBe(0);
    expect(jsonLines(await place.expectRun(['snapshots', '--json']))).toHaveLength(1);
  });

  test('ends the agent cleanly, and its log says why', async () => {
    await using place = await openPlace();
    const child = place.start(['start', '--port', '0', '--json'], plain);
    const ending = outcomeOf(child);
    await once(child.stdout ?? child, 'data');
    child.kill('SIGHUP');
    expect((await ending).code).toBe(0);
    expect(await readFile(join(place.state, 'agent.log'), 'utf8')).toContain(
      'the agent ends: its terminal was closed, or it was sent SIGHUP',
    );
  });
});

test.runIf(hasScript)('a terminal that is closed ends a backup, which can write to it no more', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  const line = [process.execPath, executable, ...silentBackup(place)].map((word) => `'${word}'`).join(' ');
  const terminal = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    env: {
      PATH: process.env['PATH'],
      HOLDFAST_REPOSITORY: place.repository,
      HOLDFAST_STATE_DIR: place.state,
      HOLDFAST_PASSWORD: PASSPHRASE,
      HOLDFAST_TEST_KDF: '64,1,1',
    },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = once(terminal, 'close');
  const command = await commandOf(place);
  terminal.kill('SIGKILL');
  await ended;
  await expect.poll(async () => await isThere(command), { timeout: 10_000 }).toBe(false);
  await expect.poll(async () => await leases(place), { timeout: 10_000 }).toEqual([]);
});
