/** What somebody says on the command line about files that cannot be read. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPlace } from '../support/cli.ts';

interface Written {
  readonly sources: readonly {
    readonly acceptUnreadable?: readonly string[];
    readonly exclude?: { readonly patterns: readonly string[] };
  }[];
}

test('a file is left out by a pattern that names it alone, or accepted, in every source that has it', async () => {
  await using place = await openPlace();
  const inner = join(place.source, 'inner');
  await mkdir(inner);
  await writeFile(join(inner, 'a [1].txt'), 'x');
  for (const path of [place.source, inner]) await place.expectRun(['sources', 'add', path]);
  const written = async (): Promise<Written> =>
    JSON.parse(await readFile(join(place.state, 'config.json'), 'utf8')) as Written;
  const file = join(inner, 'a [1].txt');

  for (let times = 1; times <= 2; times += 1) await place.expectRun(['sources', 'accept', file]);
  expect((await written()).sources.map((source) => source.acceptUnreadable)).toEqual([[file], [file]]);

  const said = await place.expectRun(['sources', 'exclude', file]);
  expect(said.stdout).toContain('is left out of future backups');
  const patterns = (await written()).sources.map(({ exclude }) => exclude?.patterns.at(-1));
  expect(patterns).toEqual([String.raw`/inner/a \[1\].txt`, String.raw`/a \[1\].txt`]);
  // What was left out before stays so.
  expect((await written()).sources[0]?.exclude?.patterns).toContain('.cache/');

  const nowhere = await place.expectRun(['sources', 'accept', join(place.directory, 'else')], 2);
  expect(nowhere.stderr).toContain('is not in any source');
});
