// A restore to the original places takes `latest` of this machine, or stops and names the others.
import { readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonLines, openPlace, type Place } from '../support/cli.ts';

async function save(place: Place, content: string, ...words: readonly string[]): Promise<string> {
  await place.write({ letter: content });
  const outcome = await place.expectRun(['backup', '--json', place.source, ...words]);
  return String(jsonLines(outcome).at(-1)?.['snapshot_id']);
}

const OVER = ['--overwrite', 'always'];

test.concurrent('latest of a restore in place is of this machine, although another one stored later', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  const mine = await save(place, 'mine');
  const theirs = await save(place, 'of laptop2', '--host', 'laptop2');
  const letter = join(place.source, 'letter');

  const subfolder = `latest:${place.source}`;
  for (const words of [
    ['latest', '--in-place'],
    ['latest', letter, '--target', '/'],
    [subfolder, '--target', place.source],
  ]) {
    await place.write({ letter: 'changed' });
    const restored = jsonLines(await place.expectRun(['restore', ...words, ...OVER, '--json'])).at(-1);
    expect(restored).toMatchObject({ snapshot_id: mine, host: hostname(), files_restored: 1 });
    expect(await readFile(letter, 'utf8')).toBe('mine');
  }

  // Into a directory of its own, latest is the newest of all, and the result says whose it is.
  const target = join(place.directory, 'back');
  const beside = await place.expectRun(['restore', 'latest', '--target', target]);
  expect(beside.stdout).toContain(`of snapshot ${theirs.slice(0, 8)} of the host laptop2 from `);
  expect(await readFile(join(target, letter), 'utf8')).toBe('of laptop2');

  // By name and by id, the other machine's files come here; nobody can miss whose they are.
  const named = await place.expectRun(['restore', 'latest', '--host', 'laptop2', '--in-place', ...OVER]);
  expect(named.stderr).toContain(`snapshot ${theirs.slice(0, 8)} is of the host laptop2 from `);
  expect(await readFile(letter, 'utf8')).toBe('of laptop2');
  await rm(letter);
  const byId = await place.expectRun(['restore', theirs, '--in-place', '--json']);
  expect(jsonLines(byId).at(-1)).toMatchObject({ host: 'laptop2', started_at: expect.any(String) });
  expect(byId.stderr).toContain('not of this machine');
  expect(await readFile(letter, 'utf8')).toBe('of laptop2');
});

test.concurrent('if this machine has no snapshot, a restore of latest in place changes nothing and names the others', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  const web = await save(place, 'of web1', '--host', 'web1');
  await save(place, 'of laptop2', '--host', 'laptop2');
  await place.write({ letter: 'here' });
  const refused = await place.expectRun(['restore', 'latest', '--in-place', ...OVER], 2);
  expect(refused.stderr).toContain(`no snapshot of this machine (${hostname()})`);
  expect(refused.stderr).toContain(`web1 (${web.slice(0, 8)} from `);
  expect(refused.stderr).toContain('--host laptop2');
  expect(await readFile(join(place.source, 'letter'), 'utf8')).toBe('here');
});
