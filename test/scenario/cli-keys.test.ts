// Turn 5 of 8.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatRecoveryCode, parseRecoveryCode } from '../../src/codec/recovery-code.ts';
import { jsonLines, openPlace, type Place } from '../support/cli.ts';
import { restoredPath } from '../support/restored-path.ts';

type Line = Readonly<Record<string, unknown>>;

/** With a snapshot and a recovery code, which is returned. */
async function prepare(place: Place): Promise<string> {
  const made = jsonLines(await place.expectRun(['init', '--json'])).at(-1);
  await place.write({ 'one.txt': 'one', 'deep/two.txt': 'two' });
  await place.expectRun(['backup', place.source]);
  return String(made?.['recovery_code']);
}

async function lines(place: Place, words: readonly string[]): Promise<readonly Line[]> {
  return jsonLines(await place.expectRun([...words, '--json']));
}

test('a drill proves the recovery code with nothing but what is typed, and changes nothing', async () => {
  await using place = await openPlace();
  const code = await prepare(place);
  const before = await place.expectRun(['check', '--json']);
  const file = join(place.directory, 'paper');
  // As people type it.
  await writeFile(file, `${code.toLowerCase().replaceAll('-', ' ')}\n`);
  const never = (await lines(place, ['keys', 'list'])).map((line) => line['last_drilled_at']);
  expect(never).toEqual([null, null]);
  const drill = ['keys', 'drill', '--files', '5', '--password-file', file];
  // A machine that has never seen the repository.
  await rm(join(place.state, 'repositories'), { recursive: true });
  const [result] = await lines(place, drill);
  expect(result).toMatchObject({ type: 'key_drill', kind: 'recovery', snapshots: 1, bytes: 6 });
  expect(result?.['files']).toEqual(
    expect.arrayContaining([{ path: join(place.source, 'one.txt'), size: 3 }]),
  );
  const keys = await lines(place, ['keys', 'list']);
  const drilled = keys.filter((line) => line['last_drilled_at'] !== null);
  expect(drilled).toMatchObject([{ id: result?.['id'], kind: 'recovery', last_drilled_at: result?.['at'] }]);
  const counts = ({ stdout }: { stdout: string }) =>
    (JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { packs: number }).packs;
  expect(counts(await place.expectRun(['check', '--json']))).toBe(counts(before));

  const wrong = parseRecoveryCode(code);
  wrong[0] = (wrong[0] ?? 0) ^ 1;
  await writeFile(file, formatRecoveryCode(wrong));
  await place.expectRun(drill, 12);
  // The passphrase is no code.
  await place.expectRun(['keys', 'drill'], 12);
  expect(await lines(place, ['keys', 'drill', '--passphrase'])).toMatchObject([{ kind: 'passphrase' }]);
  const both = await lines(place, ['keys', 'list']);
  await writeFile(
    file,
    code.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')),
  );
  expect((await place.run(drill)).code).not.toBe(0);
  expect(await lines(place, ['keys', 'list'])).toEqual(both);
});

test('keys are rotated, everything is sealed anew, and it is told how far that has come', async () => {
  await using place = await openPlace();
  await prepare(place);
  expect(await lines(place, ['keys', 'rotate'])).toEqual([{ type: 'keys_rotated', generation: 2 }]);
  const [old, current] = await lines(place, ['keys', 'generations']);
  expect(old).toMatchObject({ generation: 1, state: 'old', packs: 2, snapshots: 1 });
  expect(current).toMatchObject({ generation: 2, state: 'current', packs: 0, snapshots: 0 });
  const planned = (await lines(place, ['keys', 'rekey', '--dry-run'])).at(-1);
  expect(planned).toMatchObject({ dry_run: true, rewrite: { packs: 2 }, snapshots: 1 });
  const [before] = await lines(place, ['snapshots']);
  const done = (await lines(place, ['keys', 'rekey', '--limit-rate', '10MiB'])).at(-1);
  expect(done).toMatchObject({
    type: 'rekey',
    packs_rewritten: 2,
    packs_left: 0,
    generations: [{ generation: 1, outcome: 'in use' }],
    after: [
      { generation: 1, packs: 0, packs_marked: 2, snapshots: 0 },
      { generation: 2, snapshots: 1 },
    ],
  });
  const [after] = await lines(place, ['snapshots']);
  expect(done?.['snapshots']).toEqual([{ old_snapshot_id: before?.['id'], snapshot_id: after?.['id'] }]);
  const target = join(place.directory, 'back');
  await place.expectRun(['restore', 'latest', '--target', target]);
  expect(await readFile(restoredPath(target, place.source, 'one.txt'), 'utf8')).toBe('one');
  await place.expectRun(['check', '--read-data']);
});

test('removing a key says what it does not take back, and what does', async () => {
  await using place = await openPlace();
  await prepare(place);
  const [, code] = await lines(place, ['keys', 'list']);
  const { stdout } = await place.expectRun(['keys', 'remove', String(code?.['id'])]);
  expect(stdout).toContain('can still read');
  for (const command of ['holdfast keys rekey', 'holdfast init', 'holdfast copy'])
    expect(stdout).toContain(command);
  await writeFile(join(place.directory, 'new'), 'another passphrase');
  const replaced = await place.expectRun([
    'keys',
    'passwd',
    '--new-password-file',
    join(place.directory, 'new'),
  ]);
  expect(replaced.stdout).toContain('can still read');
});
