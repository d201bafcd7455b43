// Turn 1 of 8.
/** What only a terminal shows: `script` of util-linux gives the program one. */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PASSPHRASE, executable, jsonLines, openPlace, type Place } from '../support/cli.ts';

const hasScript = spawnSync('script', ['--version']).status === 0;

interface Screen {
  /** Everything written to the terminal so far. */
  readonly text: string;
  /** Waits until the terminal shows the text, from the last such place on. */
  shows(text: string): Promise<void>;
  type(text: string): void;
  readonly ended: Promise<number | null>;
}

function onTerminal(place: Place, words: readonly string[]): Screen {
  const line = [process.execPath, executable, ...words].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    cwd: place.directory,
    env: {
      PATH: process.env['PATH'],
      HOME: place.directory,
      TERM: 'xterm',
      HOLDFAST_REPOSITORY: place.repository,
      HOLDFAST_STATE_DIR: place.state,
      HOLDFAST_TEST_KDF: '64,1,1',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  let seen = 0;
  child.stdout.on('data', (bytes: Buffer) => {
    text += bytes.toString();
  });
  return {
    get text() {
      return text;
    },
    async shows(wanted) {
      while (text.indexOf(wanted, seen) === -1) {
        if (child.exitCode !== null)
          throw new Error(`the program ended without showing "${wanted}":\n${text}`);
        await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
      }
      seen = text.indexOf(wanted, seen) + wanted.length;
    },
    type(typed) {
      child.stdin.write(typed);
    },
    ended: once(child, 'close').then(([code]) => code as number | null),
  };
}

describe.runIf(hasScript)('on a terminal', () => {
  test.concurrent('a passphrase is asked for without being shown, twice when it is new, again when it is wrong', async () => {
    await using place = await openPlace();
    const init = onTerminal(place, ['init']);
    for (const [question, answer] of [
      ['New passphrase: ', `${PASSPHRASE}x\u007f\r`],
      ['Repeat to confirm: ', 'something else\r'],
      ['The passphrases do not match.', ''],
      ['New passphrase: ', `\u0015${PASSPHRASE}\r`],
      ['Repeat to confirm: ', `${PASSPHRASE}\r`],
    ] as const) {
      await init.shows(question);
      init.type(answer);
    }
    await init.shows('Recovery code');
    expect(await init.ended).toBe(0);
    expect(init.text).not.toContain(PASSPHRASE);

    const list = onTerminal(place, ['snapshots']);
    await list.shows(`Passphrase (or recovery code) for ${place.repository}: `);
    list.type('wrong\r');
    await list.shows('Wrong passphrase. Try again.');
    await list.shows(': ');
    list.type(`${PASSPHRASE}\r`);
    await list.shows('There are no snapshots yet.');
    expect(await list.ended).toBe(0);
    expect(list.text).not.toContain(PASSPHRASE);
  });

  test.concurrent('the account of a partner is given a password, not a passphrase', async () => {
    await using place = await openPlace();
    const init = onTerminal(place, ['partner', 'init', '--name', 'Ana', '--email', 'ana@example.org']);
    for (const [question, answer] of [
      ['New password: ', 'four words nobody guesses\r'],
      ['Repeat to confirm: ', 'something else\r'],
      ['The passwords do not match.', ''],
      ['New password: ', 'four words nobody guesses\r'],
      ['Repeat to confirm: ', 'four words nobody guesses\r'],
    ] as const) {
      await init.shows(question);
      init.type(answer);
    }
    await init.shows('Sign in as ana@example.org');
    expect(await init.ended).toBe(0);
    expect(init.text).not.toContain('passphrase');
    expect(init.text).not.toContain('four words');
  });

  test.concurrent('a new computer asks for the passphrase of the backups that it is to go on with, and keeps it', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    const add = onTerminal(place, ['destinations', 'add', 'disk', place.repository, '--default']);
    const question = `There are backups in ${place.repository} already. Passphrase (or recovery code) for them: `;
    await add.shows(question);
    add.type('wrong\r');
    await add.shows('Wrong passphrase. Try again.');
    await add.shows(question);
    add.type(`${PASSPHRASE}\r`);
    await add.shows(`Added disk, at ${place.repository}. The test succeeded.`);
    expect(await add.ended).toBe(0);
    expect(add.text).not.toContain(PASSPHRASE);
    // Of the wrong answer nothing is left, and no question is asked again.
    const kept = readdirSync(join(place.state, 'secrets')).map((name) => join(place.state, 'secrets', name));
    expect(kept.map((file) => [readFileSync(file, 'utf8'), statSync(file).mode & 0o777])).toEqual([
      [`${PASSPHRASE}\n`, 0o600],
    ]);
    const named = { env: { HOLDFAST_PASSWORD: undefined } };
    expect((await place.expectRun(['snapshots', '-r', 'disk'], 0, named)).stdout).toBe(
      'There are no snapshots yet.\n',
    );
  });

  test.concurrent('Ctrl-C at the question ends with 130', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    const list = onTerminal(place, ['snapshots']);
    await list.shows('Passphrase');
    list.type('\u0003');
    expect(await list.ended).toBe(130);
  });

  test.concurrent('Ctrl-C during a backup ends it cleanly, with what to do next', async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    for (let i = 0; i < 40; i += 1) await place.write({ [`file-${i}`]: randomBytes(1024 * 1024) });
    const backup = onTerminal(place, ['backup', place.source]);
    await backup.shows('Passphrase');
    backup.type(`${PASSPHRASE}\r`);
    await backup.shows('Backing up');
    backup.type('\u0003');
    await backup.shows('Stopping. Press Ctrl-C again to quit at once.');
    await backup.shows('Interrupted.');
    await backup.shows('run the same command again');
    expect(await backup.ended).toBe(130);
    expect(jsonLines(await place.expectRun(['snapshots', '--json']))).toEqual([]);
  });
});
