/** A server with a write-only key, by the commands that a person uses. */
// Turn 1 of 8.

import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compareTrees } from '../support/compare-trees.ts';
import { openPlace, type Place } from '../support/cli.ts';
import { restoredPath } from '../support/restored-path.ts';

let place: Place;
let keyFile: string;
/** As on another machine: its own state, no passphrase but the key file. */
let server: { readonly env: Record<string, string | undefined> };

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
  await place.write({ 'a.txt': 'one', 'd/b.txt': 'two' });
  await place.expectRun(['init']);
});
afterEach(async () => {
  await place[Symbol.asyncDispose]();
});

test('a key is made for a server, which backs up with it and reads nothing', async () => {
  const made = await place.expectRun(['keys', 'add', '--write-only', keyFile, '--label', 'web1']);
  expect(made.stdout).toContain('cannot read, forget or prune any backup');
  const text = await readFile(keyFile, 'utf8');
  expect(text).toMatch(/^holdfast-write-only:(?:[A-Z2-7]{7}-){7}[A-Z2-7]{7}\n$/);
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
  expect((await place.expectRun(['keys', 'list'])).stdout).toMatch(/write-only key 1\s+web1/);

  const backup = async (): Promise<Record<string, number>> => {
    const { stdout } = await place.expectRun(['backup', '--json', place.source], 0, server);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  };
  await backup();
  await place.write({ 'c.txt': 'three' });
  const second = await backup();
  expect(second).toMatchObject({ type: 'summary', files_new: 1, files_unchanged: 2 });

  for (const words of [
    ['snapshots'],
    ['restore', 'latest', '--target', join(place.directory, 'stolen')],
    ['check'],
    ['forget', '--keep-last', '1'],
    ['prune'],
    ['keys', 'list'],
  ]) {
    const { code, stdout, stderr } = await place.run(words, server);
    expect(code).toBeGreaterThan(0);
    expect(stderr).toContain('can add backups to the repository, but cannot read them');
    expect(stderr).toContain('--password-file');
    expect(stdout).toBe('');
  }

  const listed = await place.expectRun(['snapshots']);
  expect(listed.stdout.match(/complete, write-only key 1/g)).toHaveLength(2);

  const target = join(place.directory, 'restored');
  await place.expectRun(['restore', 'latest', '--target', target]);
  expect(compareTrees(place.source, restoredPath(target, place.source))).toEqual([]);
  await place.expectRun(['check', '--read-data']);
});

test('keys that are changed elsewhere leave the server at work, and rekey says what stays because of it', async () => {
  await place.expectRun(['keys', 'add', '--write-only', keyFile]);
  await place.expectRun(['backup', place.source], 0, server);
  await place.expectRun(['keys', 'rotate']);
  await place.expectRun(['backup', place.source], 0, server);
  const done = await place.expectRun(['keys', 'rekey']);
  expect(done.stdout).toMatch(/2 packs \(.*\) of write-only keys in use were not rewritten/);
  expect(done.stdout).toContain('Key generation 1 stays in the keyring');
  expect((await place.expectRun(['snapshots'])).stdout.match(/write-only key 1/g)).toHaveLength(2);
  await place.expectRun(['check', '--read-data']);
});

test('what goes wrong is said before anything is changed', async () => {
  await writeFile(keyFile, 'another key');
  const taken = await place.run(['keys', 'add', '--write-only', keyFile]);
  expect(taken.stderr).toContain('already exists');
  expect(await readFile(keyFile, 'utf8')).toBe('another key');
  expect((await place.expectRun(['keys', 'list'])).stdout).not.toContain('write-only');

  const both = await place.run(['keys', 'add', '--write-only', `${keyFile}2`, '--recovery-code']);
  expect(both.stderr).toContain('Only one kind of key');
  await writeFile(keyFile, `holdfast-write-only:${'AAAAAAA-'.repeat(7)}AAAAAAA`);
  const mistyped = await place.run(['backup', place.source], server);
  expect(mistyped.stderr).toContain('typing mistake');

  await place.expectRun(['keys', 'add', '--write-only', `${keyFile}3`]);
  const plain = { env: { ...server.env, HOLDFAST_PASSWORD_FILE: `${keyFile}3` } };
  const refused = await place.run(['backup', '--no-encryption', place.source], plain);
  expect(refused.stderr).toContain('cannot store anything unencrypted');
});
