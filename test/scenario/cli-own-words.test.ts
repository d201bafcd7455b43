// What the system refuses is told in words of Holdfast, with what to look at, and never with a call of the system.
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPlace, type Place } from '../support/cli.ts';

const CALLS = /mkdir|renameat|openat|stat '|no such file/;

test.concurrent('a target that is a file, or lies below one, is told as a file', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ letter: 'a' });
  await place.expectRun(['backup', place.source]);
  const letter = join(place.source, 'letter');
  for (const target of [letter, join(letter, 'below')]) {
    const { stderr } = await place.expectRun(['restore', 'latest', '--target', target], 2);
    expect(stderr).toContain(`Nothing can be restored to ${target}: a file is where a directory should be`);
    expect(stderr).not.toMatch(CALLS);
    const made = await place.expectRun(['init', '-r', target], 1);
    expect(made.stderr).toMatch(/a file is where a directory should be|it is not a directory/);
    expect(made.stderr).not.toMatch(CALLS);
  }
});

test
  .runIf(process.platform === 'linux')
  .concurrent('a repository in /proc is no matter of a drive that is not connected', async () => {
    await using place = await openPlace();
    const { stderr } = await place.expectRun(['init', '-r', '/proc/x'], 1);
    expect(stderr).toContain('no directory can be made in /proc');
    expect(stderr).not.toContain('drive');
    expect(stderr).not.toMatch(CALLS);
    const target = await place.expectRun(['init'], 0);
    expect(target.stderr).not.toMatch(CALLS);
  });

function isProtected(path: string): boolean {
  try {
    execFileSync('chattr', ['+i', path], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function expectTold(place: Place, letter: string): Promise<void> {
  const { stderr } = await place.expectRun(
    ['restore', 'latest', letter, '--in-place', '--overwrite', 'always'],
    3,
  );
  expect(stderr).toContain(
    `Not restored: ${letter}: it or its directory is protected against changes (chattr +i`,
  );
  expect(stderr).not.toMatch(CALLS);
}

test.concurrent('a file that may not be changed by anybody is told so, and one that is right is left', async (context) => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ letter: 'as saved' });
  await place.expectRun(['backup', place.source]);
  const letter = join(place.source, 'letter');
  if (!isProtected(letter)) context.skip('chattr does not work here');
  try {
    const same = ['restore', 'latest', letter, '--in-place', '--overwrite', 'always'];
    expect((await place.expectRun(same)).stdout).toContain('1 file was already the same');
    execFileSync('chattr', ['-i', letter]);
    await writeFile(letter, 'changed since');
    execFileSync('chattr', ['+i', letter]);
    await expectTold(place, letter);
    expect(await readFile(letter, 'utf8')).toBe('changed since');
  } finally {
    execFileSync('chattr', ['-i', letter]);
  }
});
