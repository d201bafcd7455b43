// Turn 6 of 8.
/** A working directory that was deleted is missed only by what needs it. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jsonLines, openPlace, outcomeOf, type Place } from '../support/cli.ts';
import { restoredPath } from '../support/restored-path.ts';

/** Runs the program in a directory that is deleted before. */
const gone = {
  under: ['sh', '-c', 'd=$(mktemp -d "$PWD/gone-XXXX"); cd "$d"; rmdir "$d"; exec "$@"', 'sh'],
};

const SAID =
  'Error: The current directory no longer exists\nGo to another one (cd) and run the command again.\n';

/** With a backup of one file. */
async function openBackup(): Promise<Place> {
  const place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ a: 'content' });
  await place.expectRun(['backup', place.source]);
  return place;
}

describe.concurrent('in a working directory that was deleted', () => {
  test('commands with absolute paths work', async () => {
    await using place = await openBackup();
    const target = join(place.directory, 'target');
    for (const words of [
      ['backup', place.source],
      ['explain', join(place.source, 'a')],
      ['snapshots'],
      ['ls', 'latest', place.source],
      ['restore', 'latest', '--target', target],
      ['check'],
      ['forget', '--keep-last', '1', '--prune'],
      ['start', '--once', '--source', place.source],
      ['check', '--read-data'],
    ])
      await place.expectRun(words, 0, gone);
    expect(await readFile(restoredPath(target, place.source, 'a'), 'utf8')).toBe('content');
  });

  test('the agent backs up', async () => {
    await using place = await openPlace();
    await place.write({ a: 'content' });
    const child = place.start(['start', '--source', place.source, '--port', '0', '--json'], {
      ...gone,
      env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined },
    });
    const ending = outcomeOf(child);
    let said = '';
    child.stdout?.on('data', (bytes: Buffer) => {
      if ((said += bytes.toString()).includes('"type":"job"')) child.kill('SIGTERM');
    });
    const { code, stdout } = await ending;
    expect(code).toBe(0);
    expect(jsonLines({ stdout }).find(({ type }) => type === 'job')).toMatchObject({ status: 'completed' });
  });

  test('what needs it ends with 2, and says so', async () => {
    await using place = await openBackup();
    await writeFile(join(place.directory, 'pw'), 'correct horse battery staple');
    for (const words of [
      ['backup', '.'],
      ['backup', '--stdin-name', 'x', '--stdin-command', '--', 'tar', 'c', '.'],
      ['backup', 'source'],
      ['backup', place.source, '--exclude-file', 'patterns'],
      ['snapshots', '--password-file', 'pw'],
      ['snapshots', '-r', '../repository'],
      ['restore', 'latest', '--target', 'target'],
      ['ls', 'latest', 'a'],
      ['explain', 'a'],
      ['sources', 'add', 'a'],
      ['init', '-r', 'other'],
      ['doctor', '--bundle', 'facts.json'],
    ]) {
      const { stderr, stdout } = await place.expectRun(words, 2, gone);
      expect({ words, stderr, stdout }).toEqual({ words, stderr: SAID, stdout: '' });
    }
    const state = { ...gone, env: { HOLDFAST_STATE_DIR: 'state' } };
    expect(jsonLines(await place.expectRun(['snapshots', '--json'], 2, state))).toEqual([
      {
        type: 'error',
        code: 'USAGE',
        message: 'The current directory no longer exists',
        hint: 'Go to another one (cd) and run the command again.',
      },
    ]);
  });
});
