/** The life of a repository at a remote place, by the built program: nothing here knows what kind of place it is. */
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { jsonLines, openPlace, type RunOptions } from '../support/cli.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { makeTortureTree } from '../support/torture-tree.ts';

/** The time limit of a test with one. */
export const CYCLE_MS = 600_000;

/**
 * First backup, incremental one, forget, prune, check of all data, restore and comparison. `variables` are the
 * environment of the commands, which has the credentials.
 */
export async function repositoryCycle(
  location: string,
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  await using place = await openPlace();
  const options: RunOptions = { env: { ...variables, HOLDFAST_REPOSITORY: location } };
  const run = async (...words: readonly string[]) =>
    jsonLines(await place.expectRun([...words, '--json'], 0, options));
  await run('init');
  // What no destination has a part in is left to the tests of the restorer.
  await makeTortureTree(join(place.source, 'torture'), { without: ['times', 'many'] });
  await place.write({
    'random.bin': randomBytes(5_000_000),
    'changing.bin': randomBytes(3_000_000),
    'removed.bin': randomBytes(3_000_000),
  });
  const first = (await run('backup', place.source)).at(-1);
  expect(first).toMatchObject({ type: 'summary', files_failed: 0, files_unchanged: 0 });

  await writeFile(join(place.source, 'changing.bin'), randomBytes(3_000_000));
  await rm(join(place.source, 'removed.bin'));
  const second = (await run('backup', place.source)).at(-1);
  expect(second).toMatchObject({ files_failed: 0, files_changed: 1, files_new: 0 });
  expect(Number(second?.['bytes_uploaded'])).toBeLessThan(6_000_000);
  expect(await run('snapshots')).toHaveLength(2);

  await run('forget', '--keep-last', '1');
  const pruned = await run('prune', '--grace', '0s', '--no-other-writers');
  expect(JSON.stringify(pruned)).toMatch(/removed/);
  expect(await run('snapshots')).toHaveLength(1);
  await run('check', '--read-data');

  const target = join(place.directory, 'back');
  const ownership = process.getuid?.() === 0 ? ['--restore-ownership'] : [];
  await run('restore', 'latest', '--target', target, ...ownership);
  const restored = join(target, place.source);
  const differences = compareTrees(place.source, restored).map(shownDifference);
  expect(differences).toEqual([]);
}
