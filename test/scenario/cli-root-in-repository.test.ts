// Turn 6 of 8.
/** Root may use the repository of a person: what it stores there belongs to the person afterwards. */
import { chown, lstat, mkdir, readdir, symlink } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jsonLines, openPlace, type Place, type RunOptions } from '../support/cli.ts';

/** `daemon` of every Linux. */
const UID = 1;

const canDrop =
  process.getuid?.() === 0 && spawnSync('setpriv', [`--reuid=${UID}`, '--clear-groups', 'true']).status === 0;

async function ofPerson(place: Place): Promise<RunOptions> {
  for (const name of ['repository', 'person-state']) {
    const directory = join(place.directory, name);
    await mkdir(directory, { mode: 0o700 });
    await chown(directory, UID, UID);
  }
  await place.write({ a: 'content' });
  spawnSync('chmod', ['-R', 'a+rX', place.directory]);
  spawnSync('chmod', ['0711', place.directory]);
  return {
    under: ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups'],
    env: { HOLDFAST_STATE_DIR: join(place.directory, 'person-state'), NODE_COMPILE_CACHE: undefined },
  };
}

async function owners(directory: string): Promise<readonly number[]> {
  const found = await readdir(directory, { recursive: true });
  const uids = await Promise.all(found.map(async (name) => (await lstat(join(directory, name))).uid));
  return [...new Set(uids)];
}

describe.runIf(canDrop)('root in the repository of a person', () => {
  test('leaves nothing behind that the person cannot use', async () => {
    await using place = await openPlace();
    const person = await ofPerson(place);
    await place.expectRun(['init'], 0, person);
    await place.expectRun(['backup', place.source], 0, person);
    await place.write({ b: 'of root' });
    await place.expectRun(['backup', place.source]);
    expect(await owners(place.repository)).toEqual([UID]);
    await place.expectRun(['forget', '--keep-last', '1', '--prune']);
    expect(await owners(place.repository)).toEqual([UID]);
    await place.expectRun(['backup', place.source], 0, person);
    await place.expectRun(['check', '--read-data'], 0, person);
    expect(jsonLines(await place.expectRun(['snapshots', '--json'], 0, person))).toHaveLength(2);
  });

  test('gives nothing away outside of it, where a link leads', async () => {
    await using place = await openPlace();
    const person = await ofPerson(place);
    await place.expectRun(['init'], 0, person);
    const elsewhere = join(place.directory, 'of-root');
    await mkdir(elsewhere, { mode: 0o700 });
    await symlink(elsewhere, join(place.repository, 'packs'));
    await place.run(['backup', place.source]);
    expect(await readdir(elsewhere)).not.toEqual([]);
    expect(await owners(elsewhere)).toEqual([0]);
    expect((await lstat(elsewhere)).uid).toBe(0);
  });

  test('whose earlier files the person may not read is named, with the command', async () => {
    await using place = await openPlace();
    const person = await ofPerson(place);
    await place.expectRun(['init'], 0, person);
    await place.expectRun(['backup', place.source], 0, person);
    spawnSync('chown', ['-R', 'root', join(place.repository, 'snapshots')]);
    const { stderr } = await place.expectRun(['snapshots'], 1, person);
    expect(stderr).toContain(' belongs to root, although the directory is yours. To have it back: ');
    expect(stderr).toContain(`sudo chown -R daemon ${place.repository}`);
  });
});
