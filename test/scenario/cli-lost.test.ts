/** Snapshots that are gone from the storage for good: nothing is removed by lists that lack them, until they are given up. */
// Turn 7 of 8.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonLines, openPlace, type Place } from '../support/cli.ts';

async function openWithBackups(count: number): Promise<{ readonly place: Place; readonly ids: string[] }> {
  const place = await openPlace();
  await place.expectRun(['init']);
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    await place.write({ file: `version ${n}` });
    const saved = jsonLines(await place.expectRun(['backup', '--json', place.source])).at(-1);
    ids.push(String(saved?.['snapshot_id']));
  }
  return { place, ids };
}

async function lose(place: Place, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) await rm(join(place.repository, 'snapshots', id));
}

test.concurrent('what is lost stops rules and prune, is shown, and is given up once', async () => {
  const { place, ids } = await openWithBackups(3);
  await using _ = place;
  const [first = '', second = '', third = ''] = ids;
  await lose(place, second);
  for (const words of [['forget', '--keep-last', '1'], ['prune']]) {
    const refused = await place.run(words);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('holdfast forget --lost') });
  }
  const shown = await place.expectRun(['forget', '--lost', '--dry-run']);
  expect(shown.stdout).toMatch(
    new RegExp(`^Gone: ${second.slice(0, 8)}, record 2 of .*\\n1 record would be`),
  );
  expect((await place.run(['prune'])).code).toBe(1);

  const given = jsonLines(await place.expectRun(['forget', '--lost', '--json']));
  expect(given).toMatchObject([{ dry_run: false, lost: [{ id: second, number: 2 }] }]);
  expect((await place.expectRun(['forget', '--lost'])).stdout).toMatch(/^Nothing is missing/);
  await place.expectRun(['check']);
  await place.expectRun(['forget', '--keep-last', '1']);
  await place.expectRun(['prune']);
  expect(jsonLines(await place.expectRun(['snapshots', '--json'])).map(({ id }) => id)).toEqual([third]);
  expect(first).not.toBe('');
});

test.concurrent('also where nothing tells the names any more', async () => {
  const { place, ids } = await openWithBackups(4);
  await using _ = place;
  // Of the first nothing is left that names it: what came after it has gone, too.
  await lose(place, ...ids.slice(0, 3));
  for (const head of await readdir(join(place.repository, 'heads'), { recursive: true, withFileTypes: true }))
    if (head.isFile() && !head.name.endsWith('4')) await rm(join(head.parentPath, head.name));
  expect((await place.run(['prune'])).code).toBe(1);
  expect((await place.run(['check'])).stdout).toMatch(/gone for good.*forget --lost$/m);
  const [given] = jsonLines(await place.expectRun(['forget', '--lost', '--json']));
  expect(given?.['lost']).toMatchObject([
    { number: 1, id: null },
    { number: 2, id: null },
    { number: 3, id: ids[2] },
  ]);
  await place.expectRun(['check']);
  await place.expectRun(['prune']);
  await place.write({ file: 'last' });
  await place.expectRun(['backup', place.source]);
  await place.expectRun(['check', '--read-data']);
});

test.concurrent('nothing is given up of a whole repository, nor together with rules', async () => {
  const { place } = await openWithBackups(2);
  await using _ = place;
  await place.expectRun(['forget', 'latest']);
  expect((await place.expectRun(['forget', '--lost'])).stdout).toBe(
    'Nothing is missing: every snapshot and every list of removals is present.\n',
  );
  expect(await readdir(join(place.repository, 'trash'))).toHaveLength(1);
  for (const words of [['--keep-last', '1'], ['latest'], ['--prune']])
    expect((await place.run(['forget', '--lost', ...words])).code).toBe(2);
});

test.concurrent('an empty list where something was saved is warned of, on a machine that has seen nothing, too', async () => {
  const { place, ids } = await openWithBackups(2);
  await using _ = place;
  const elsewhere = { HOLDFAST_STATE_DIR: join(place.directory, 'elsewhere') };
  await lose(place, ...ids);
  for (const env of [{}, elsewhere]) {
    const listed = await place.run(['snapshots'], { env });
    expect(listed).toMatchObject({ code: 0, stdout: 'There are no snapshots.\n' });
    expect(listed.stderr).toContain('snapshots that were saved here are missing');
    expect((await place.run(['ls', 'latest'], { env })).stderr).toContain('are missing');
    const restored = await place.run(['restore', 'latest', '--target', join(place.directory, 'back')], {
      env,
    });
    expect(restored.stderr).toContain('are missing');
  }
  await place.expectRun(['forget', '--lost']);
  expect(await place.run(['snapshots'])).toMatchObject({
    stdout: 'There are no snapshots yet.\n',
    stderr: '',
  });
});
