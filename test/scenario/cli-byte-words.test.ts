/** Words and paths in bytes that are no UTF-8: they are taken as they are, or refused, and never become others. */
// Turn 3 of 8.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { executable, openPlace, outcomeOf, type Outcome, type Place } from '../support/cli.ts';

const bad = (directory: string): Buffer => Buffer.from(join(directory, 'bad\u00ff'), 'latin1');

/** `$0` is the program, `$BAD` the byte 0xff. */
async function inShell(place: Place, script: string): Promise<Outcome> {
  const program = `BAD=$(printf '\\377'); mkdir -p "bad$BAD/in"; echo content > "bad$BAD/in/file"; echo other > "bad$BAD/in/other"; ${script}`;
  const child = spawn('/bin/sh', ['-c', program, `${process.execPath} ${executable}`], {
    cwd: place.directory,
    env: {
      ...process.env,
      HOLDFAST_REPOSITORY: place.repository,
      HOLDFAST_STATE_DIR: place.state,
      HOLDFAST_PASSWORD: 'correct horse battery staple',
      HOLDFAST_PROGRAM: 'holdfast',
      HOLDFAST_TEST_KDF: '64,1,1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return await outcomeOf(child);
}

const NOTES = /^(?:Note: "latest" is snapshot .+\n)*$/;

test.runIf(process.platform === 'linux')(
  'are sources, paths, patterns, targets and words of commands',
  async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    const saved = await inShell(
      place,
      '$0 backup "bad$BAD"; (cd "bad$BAD/in"; $0 backup --exclude "ot?er" .)',
    );
    expect(saved).toMatchObject({ code: 0, stderr: '' });
    const read = await inShell(
      place,
      `$0 cat latest "$PWD/bad$BAD/in/file"; $0 ls latest "bad$BAD"; $0 find "bad$BAD"; $0 snapshots --path "$PWD/bad$BAD/in" --json; $0 backup --stdin-name "x$BAD" --stdin-command -- cat "bad$BAD/in/file"; $0 cat latest "/x$BAD"`,
    );
    // `latest` does not have all that is asked for, which is said beforehand.
    expect(read).toMatchObject({ code: 0, stderr: expect.stringMatching(NOTES) });
    expect(read.stdout.match(/^content$/gm)).toHaveLength(2);
    expect(read.stdout).toContain('bad\\xff/in');
    expect(read.stdout).toContain('"files_total":1,');
    const restored = await inShell(
      place,
      '$0 restore latest~1 "bad$BAD" --target "back$BAD/deep"; $0 restore latest~1 --in-place',
    );
    expect(restored).toMatchObject({ code: 0, stderr: expect.stringMatching(NOTES) });
    const back = Buffer.concat([
      Buffer.from(join(place.directory, 'back\u00ff/deep'), 'latin1'),
      bad(place.directory),
    ]);
    expect(readFileSync(Buffer.concat([back, Buffer.from('/in/file')]), 'utf8')).toBe('content\n');
  },
);

test.runIf(process.platform === 'linux')('come through the runtime that starts another one', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await writeFile(
    join(place.directory, 'launch.cjs'),
    "const [, , program, ...words] = process.argv; require('node:child_process').fork(program, words)",
  );
  const launched = await inShell(
    place,
    'set -- $0; "$1" launch.cjs "$2" backup "bad$BAD"; "$1" "$2" ls -R latest',
  );
  expect(launched).toMatchObject({ code: 0, stderr: '' });
  expect(launched.stdout).toContain('bad\\xff/in/file');
});

test.runIf(process.platform === 'linux')(
  'of lists, secrets and their commands are read as they are',
  async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    const outcome = await inShell(
      place,
      `printf 'correct horse battery staple' > "pass$BAD"; echo 'other' > "list$BAD"; unset HOLDFAST_PASSWORD
    $0 backup --password-file "pass$BAD" --exclude-file "list$BAD" "bad$BAD" && $0 ls -R latest --password-command "cat 'pass$BAD'"`,
    );
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(outcome.stdout).toContain('/in/file');
    expect(outcome.stdout).not.toContain('other');
  },
);

test.runIf(process.platform === 'linux')(
  'are refused where text is meant, and nothing is made under another name',
  async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    const before = ['repository', 'source', 'state'];
    for (const words of [
      'init -r "bad$BAD/r"',
      'backup --tag "t$BAD" source',
      'config set retention.keepDaily "$BAD"',
      'keys add --write-only "key$BAD"',
      'sources add "bad$BAD"',
    ])
      expect(await inShell(place, `$0 ${words}`)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('is not valid UTF-8') as string,
      });
    const state = await inShell(place, 'HOLDFAST_STATE_DIR="$PWD/state$BAD" $0 snapshots');
    expect(state).toMatchObject({ code: 2, stderr: expect.stringContaining('HOLDFAST_STATE_DIR') as string });
    const names = readdirSync(place.directory, 'latin1').toSorted();
    expect(names).toEqual(['bad\u00ff', ...before].toSorted());
  },
);
