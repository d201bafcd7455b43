/** Whether a path is backed up is said by the settings, unless the command line says what would be. */
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonLines, openPlace } from '../support/cli.ts';

test.concurrent('explain goes by the sources and rules of the settings', async () => {
  await using place = await openPlace();
  await place.write({ '.cache/foo/a': 'x', 'letters/b.txt': 'x', 'letters/c.tmp': 'x' });
  const elsewhere = join(place.directory, 'other');
  await mkdir(elsewhere);
  const at = (name: string): string => join(place.source, name);
  const ask = async (...words: readonly string[]): Promise<string> =>
    (await place.expectRun(['explain', ...words])).stdout.trimEnd();

  // No rule leaves it out, and no source takes it in.
  expect(await ask(at('letters/b.txt'))).toMatch(
    /b\.txt is not backed up: it is in no protected folder\. .*sources add/,
  );

  await place.expectRun(['sources', 'add', place.source]);
  await place.expectRun(['sources', 'exclude', at('letters/c.tmp')]);
  expect(await ask(at('.cache/foo/a'))).toBe(
    `${at('.cache/foo/a')} is left out with the directory ${at('.cache')}: it matches the pattern '.cache/' from the rules of the source ${place.source}.`,
  );
  expect(await ask(at('letters/c.tmp'))).toContain('is left out');
  expect(await ask(at('letters/b.txt'))).toBe(
    `${at('letters/b.txt')} is backed up: no rule leaves it out. It is in the source ${place.source}.`,
  );
  expect(await ask(join(elsewhere, 'x'))).toMatch(
    new RegExp(
      `/x is not backed up: it is in no protected folder\\. To protect it, run: .*sources add ${elsewhere}$`,
    ),
  );
  expect(await ask(place.directory)).toContain(`only as far as it leads to the source ${place.source}`);
  expect(await ask(place.state)).toContain('is not backed up');
  const lines = jsonLines(await place.expectRun(['explain', '--json', at('.cache/foo/a'), elsewhere]));
  expect(lines).toMatchObject([
    { type: 'explanation', excluded: true, rule: 'pattern', source: place.source },
    { type: 'explanation', excluded: true, rule: 'no-source', source: null },
  ]);

  // What the command line says is judged in its place.
  expect(await ask('--source', place.source, at('.cache/foo/a'))).toContain(
    'is backed up: no rule leaves it out.',
  );
  expect(await ask('-e', '*.txt', at('letters/b.txt'))).toContain("the pattern '*.txt' from --exclude");

  const link = join(place.directory, 'link');
  await symlink(place.source, link);
  expect(await ask(join(link, '.cache/foo/a'))).toContain("the pattern '.cache/'");
});
