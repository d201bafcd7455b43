// Turn 6 of 8.
// What removes or changes a snapshot takes `latest` of this machine and says whose went; filters that leave nothing are an error.
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonLines, openPlace, type Place } from '../support/cli.ts';

async function save(place: Place, ...words: readonly string[]): Promise<string> {
  const outcome = await place.expectRun(['backup', '--json', place.source, ...words]);
  return String(jsonLines(outcome).at(-1)?.['snapshot_id']);
}

async function listed(place: Place): Promise<readonly string[]> {
  return jsonLines(await place.expectRun(['snapshots', '--json'])).map(({ id }) => String(id));
}

async function filled(): Promise<Place> {
  const place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ letter: 'text' });
  return place;
}

test.concurrent('forget latest removes the newest of this machine, although another one stored later', async () => {
  await using place = await filled();
  const older = await save(place);
  const mine = await save(place);
  const theirs = await save(place, '--host', 'laptop2');

  const shown = await place.expectRun(['forget', 'latest', '--dry-run']);
  expect(shown.stdout).toContain(mine.slice(0, 8));
  const removed = await place.expectRun(['forget', 'latest']);
  expect(removed.stdout).toMatch(new RegExp(`^${mine.slice(0, 8)} .* ${hostname()} .*${place.source}\\n`));
  expect(removed.stdout).toContain('1 snapshot removed.');
  expect((await listed(place)).toSorted()).toEqual([older, theirs].toSorted());

  const named = await place.expectRun(['forget', 'latest', '--host', 'laptop2']);
  expect(named.stdout).toMatch(new RegExp(`^${theirs.slice(0, 8)} .* laptop2 `));
  expect(await listed(place)).toEqual([older]);
});

test.concurrent('if this machine has no snapshot, latest is neither removed nor changed, and the others are named', async () => {
  await using place = await filled();
  const theirs = await save(place, '--host', 'laptop2');
  for (const words of [
    ['forget', 'latest'],
    ['tag', 'latest', '--pin'],
  ]) {
    const { stderr } = await place.expectRun(words, 2);
    expect(stderr).toContain(`no snapshot of this machine (${hostname()})`);
    expect(stderr).toContain(`laptop2 (${theirs.slice(0, 8)} from `);
  }
  expect(await listed(place)).toEqual([theirs]);
});

test.concurrent('tag latest changes the newest of this machine', async () => {
  await using place = await filled();
  const mine = await save(place);
  await save(place, '--host', 'laptop2');
  const { stdout } = await place.expectRun(['tag', 'latest', '--add', 'x']);
  expect(stdout).toContain(`${mine.slice(0, 8)}  is now `);
});

test.concurrent('while a snapshot cannot be read, latest is not removed or changed, and readers say that it may be older', async () => {
  await using place = await filled();
  const older = await save(place);
  const newest = await save(place);
  const file = join(place.repository, 'snapshots', newest);
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(60) ^ 1, 60);
  writeFileSync(file, bytes);

  for (const words of [
    ['forget', 'latest'],
    ['tag', 'latest~0', '--add', 'x'],
  ])
    expect((await place.expectRun(words, 2)).stderr).toContain('1 snapshot cannot be read, so "latest');
  expect(await listed(place)).toEqual([older]);

  const target = join(place.directory, 'back');
  const { stderr } = await place.expectRun(['restore', 'latest', '--target', target]);
  expect(stderr).toContain('1 snapshot cannot be read and is left out, so "latest" may mean an older one');
});

test.concurrent('find in latest is find in the newest that the filters leave', async () => {
  await using place = await filled();
  const mine = await save(place);
  await save(place, '--host', 'laptop2');
  const words = ['find', 'letter', '--snapshot', 'latest', '--host', hostname(), '--json'];
  expect(jsonLines(await place.expectRun(words))).toMatchObject([{ snapshot_id: mine }]);
});

test.concurrent('filters that leave no snapshot are an error of what is searched or copied, and say what is there', async () => {
  await using place = await filled();
  await save(place);
  const other = ['-r', join(place.directory, 'other')];
  await place.expectRun(['init', ...other]);
  const filters = ['--host', 'mistyped'];
  for (const [words, outcome] of [
    [['find', 'letter'], 'Nothing was searched'],
    [['versions', join(place.source, 'letter')], 'Nothing was searched'],
    [['copy', ...other, '--from', place.repository], 'Nothing was copied'],
  ] as const) {
    const { stderr } = await place.expectRun([...words, ...filters], 1);
    expect(stderr).toContain(`${outcome}: the repository has 1 snapshot, and none is of the host mistyped`);
  }
});
