/** What somebody is told who gets less into a backup than was meant, or names a thing in another way. */
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openPlace, type Outcome, type Place } from '../support/cli.ts';

async function openInitialised(): Promise<Place> {
  const place = await openPlace();
  await place.expectRun(['init']);
  return place;
}

function last({ stdout }: Outcome): Record<string, unknown> {
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
}

describe('a source', () => {
  test.concurrent('that a file in it, or all patterns together, leave out is told of', async () => {
    await using place = await openInitialised();
    await place.write({ a: 'x', 'below/b': 'y' });
    const backUp = async (...words: readonly string[]): Promise<Outcome> =>
      await place.expectRun(['backup', '--json', ...words, place.source]);
    expect(last(await backUp())).toMatchObject({ sources_left_out: [], sources_emptied: [] });
    const byPatterns = await backUp('-e', '*');
    expect(byPatterns.stderr).toContain(
      "the rules exclude everything in it (2 entries): a, as it matches the pattern '*' from --exclude",
    );
    expect(last(byPatterns)).toMatchObject({ sources_left_out: [place.source] });
    await place.write({ '.nobackup': '' });
    const byMarker = await backUp('--exclude-if-present', '.nobackup');
    expect(byMarker.stderr).toContain(`${place.source} was backed up`);
    expect(last(byMarker)).toMatchObject({ files_total: 1, sources_left_out: [place.source] });
    await place.write({ 'CACHEDIR.TAG': 'Signature: 8a477f597d28d172789f06886806bc55' });
    const dry = await place.expectRun(['backup', '-n', '--exclude-caches', place.source]);
    expect(dry.stderr).toContain('CACHEDIR.TAG marks it as a cache');
    expect((await backUp('-e', 'a')).stderr).not.toContain('Warning');
  });

  test.concurrent('of several that lost its files, or became a link, is told of by itself', async () => {
    await using place = await openInitialised();
    await place.write({ 'one/a': 'x', 'two/b': 'y', 'three/c': 'z' });
    const paths = ['one', 'two', 'three'].map((name) => join(place.source, name));
    await place.expectRun(['backup', ...paths]);
    await rm(join(place.source, 'one/a'));
    await rm(join(place.source, 'two'), { recursive: true });
    await symlink('three', join(place.source, 'two'));
    const emptied = await place.expectRun(['backup', '--json', ...paths]);
    for (const path of paths.slice(0, 2)) expect(emptied.stderr).toContain(`${path} had 1 file`);
    expect(last(emptied)).toMatchObject({ sources_emptied: paths.slice(0, 2).toSorted(), files_total: 1 });
  });

  test.concurrent('is one however often and by whatever name it is named', async () => {
    await using place = await openInitialised();
    await place.write({ 'real/deep/f': 'x', 'real/x': '1', 'a/x': '2' });
    await symlink('../real/deep', join(place.source, 'a/link'));
    const at = (path: string): string => `${place.source}/${path}`;
    await place.expectRun(['backup', at('real/deep')]);
    const again = await place.expectRun([
      'backup',
      '--json',
      ...['real/deep', 'real/deep/', 'a/link/', 'a/link/.', 'a/link/../deep'].map(at),
    ]);
    expect(last(again)).toMatchObject({ files_total: 1, files_unchanged: 1, files_new: 0 });
    // As the system goes, `..` leads out of the directory behind the link.
    await place.expectRun(['backup', at('a/link/../x')]);
    const listed = await place.expectRun(['ls', 'latest', at('a/link/../x')]);
    expect(listed.stdout).toContain(at('real/x'));
  });
});

describe('a state directory that takes no writes', () => {
  // Nobody, not even root, can make anything there.
  test.runIf(process.platform === 'linux')(
    'is no hindrance to reading, and one to a backup before it reads anything',
    async () => {
      await using place = await openInitialised();
      await place.write({ a: 'x' });
      await place.expectRun(['backup', place.source]);
      await mkdir(join(place.directory, 'target'));
      const options = { env: { HOLDFAST_STATE_DIR: '/proc/holdfast' } };
      for (const words of [
        ['snapshots'],
        ['ls', 'latest'],
        ['check'],
        ['prune', '-n'],
        ['forget', '--keep-last', '1', '-n'],
        ['backup', '-n', place.source],
        ['restore', 'latest', '--target', join(place.directory, 'target')],
      ]) {
        const { stderr } = await place.expectRun(words, 0, options);
        expect(stderr, words[0]).toContain('HOLDFAST_STATE_DIR');
      }
      const refused = await place.expectRun(['backup', place.source], 1, options);
      expect(refused.stderr).toContain('The state directory');
      expect(refused.stderr).toContain('HOLDFAST_STATE_DIR');
    },
  );
});

test.concurrent('a time zone that is not understood is told of, and one of whole hours is understood', async () => {
  await using place = await openInitialised();
  const listed = async (zone: string): Promise<string> =>
    (await place.expectRun(['snapshots'], 0, { env: { TZ: zone } })).stderr;
  expect(await listed('CET-1CEST,M3.5.0,M10.5.0/3')).toContain('not a known time zone');
  for (const zone of ['MSK-3', '<+03>-3', 'Europe/Berlin', '']) expect(await listed(zone)).toBe('');
});
