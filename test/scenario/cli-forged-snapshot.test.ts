/** A machine with a write-only key stores a snapshot with another's name and paths: what the commands say of it. */
// Turn 6 of 8.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPlace, type Place } from '../support/cli.ts';

let place: Place;
let keyFile: string;
let server: { readonly env: Record<string, string | undefined> };
const ids = { genuine: '', forged: '' };

beforeEach(async () => {
  place = await openPlace();
  keyFile = join(place.directory, 'web1.key');
  server = {
    env: {
      HOLDFAST_PASSWORD: undefined,
      HOLDFAST_PASSWORD_FILE: keyFile,
      HOLDFAST_STATE_DIR: join(place.directory, 'server-state'),
    },
  };
  await place.write({ 'a.txt': 'genuine' });
  await place.expectRun(['init']);
  await place.expectRun(['keys', 'add', '--write-only', keyFile, '--label', 'web1']);
  ids.genuine = await backup();
  await place.write({ 'a.txt': 'forged' });
  ids.forged = await backup(server);
});
afterEach(async () => {
  await place[Symbol.asyncDispose]();
});

async function backup(as?: typeof server): Promise<string> {
  const { stdout } = await place.expectRun(['backup', '--json', '--host', 'db1', place.source], 0, as);
  const { snapshot_id: id } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { snapshot_id: string };
  return id;
}

test('latest is what full keys stored, and the other one is named with the way to it', async () => {
  const file = join(place.source, 'a.txt');
  for (const words of [
    ['cat', 'latest', file],
    ['cat', 'latest', '--host', 'db1', file],
  ]) {
    const { stdout, stderr } = await place.expectRun(words);
    expect(stdout).toBe('genuine');
    expect(stderr).toContain(
      `Note: write-only key 1 (web1) has a newer one: ${ids.forged.slice(0, 8)} from `,
    );
    expect(stderr).toContain('Choose it with --stored-by 1.');
  }
  const own = await place.expectRun(['cat', 'latest', '--stored-by', '1', file]);
  expect(own.stdout).toBe('forged');
  expect(own.stderr).toContain('stored by write-only key 1 (web1): whoever has that key chose its host');
  const target = join(place.directory, 'restored');
  const restored = await place.expectRun(['restore', 'latest', '--host', 'db1', '--target', target]);
  expect(restored.stderr).toContain('has a newer one');
  expect(await readFile(join(target, file), 'utf8')).toBe('genuine');
  const named = await place.expectRun(['restore', ids.forged, '--target', join(place.directory, 'named')]);
  expect(named.stdout).toContain(`of snapshot ${ids.forged.slice(0, 8)} of the host db1 from `);
  expect(named.stdout).toContain(', stored by write-only key 1 (web1),');
  for (const command of ['ls', 'tar', 'find'])
    expect((await place.expectRun(words(command))).stdout).not.toContain('forged');
});

function words(command: string): readonly string[] {
  if (command === 'find') return ['find', 'a.txt', '-s', 'latest', '--json'];
  return [command, 'latest'];
}

test('every list names who stored what', async () => {
  const table = await place.expectRun(['snapshots']);
  expect(table.stdout).toMatch(/complete\n/);
  expect(table.stdout).toContain('complete, write-only key 1 (web1)');
  const listed = (await place.expectRun(['snapshots', '--json'])).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; stored_by: object });
  expect(listed.map(({ stored_by: by }) => by)).toEqual([
    { key: 'full', write_only_key: null, label: null, text: 'full keys' },
    expect.objectContaining({ write_only_key: 1, label: 'web1', text: 'write-only key 1 (web1)' }),
  ]);
  const only = await place.expectRun(['snapshots', '--stored-by', 'full', '--json']);
  expect(only.stdout).toContain(ids.genuine);
  expect(only.stdout).not.toContain(ids.forged);
  const versions = await place.expectRun(['versions', join(place.source, 'a.txt')]);
  expect(versions.stdout).toContain('write-only key 1 (web1)');
  const found = await place.expectRun(['find', 'a.txt']);
  expect(found.stdout).toContain('write-only key 1 (web1)');
  const plan = await place.expectRun(['forget', '--keep-last', '1', '--dry-run']);
  expect(plan.stdout).toContain('write-only key 1 (web1)');
  expect(plan.stdout).not.toMatch(/remove\s/);
  const diff = await place.expectRun(['diff', ids.genuine, ids.forged]);
  expect(diff.stderr).toContain('write-only key 1 (web1)');
});

test('where only write-only keys stored, one is taken and said, and of two one has to be chosen', async () => {
  await place.expectRun(['forget', ids.genuine]);
  const file = join(place.source, 'a.txt');
  const one = await place.expectRun(['cat', 'latest', file]);
  expect(one.stderr).toContain('stored by write-only key 1 (web1)');
  await writeFile(join(place.directory, 'first'), await readFile(keyFile));
  const second = join(place.directory, 'web2.key');
  await place.expectRun(['keys', 'add', '--write-only', second, '--label', 'web2']);
  await backup({
    env: { ...server.env, HOLDFAST_PASSWORD_FILE: second, HOLDFAST_STATE_DIR: `${place.directory}/s2` },
  });
  const both = await place.run(['cat', 'latest', file]);
  expect(both.code).toBe(1);
  expect(both.stderr).toContain('write-only key 1 (web1), write-only key 2 (web2)');
  expect(both.stderr).toContain('--stored-by 1 or --stored-by 2');
  expect((await place.expectRun(['cat', 'latest', '--stored-by', '2', file])).stdout).toBe('forged');
  expect((await place.run(['ls', 'latest', '--stored-by', 'web1'])).code).toBe(2);
});
