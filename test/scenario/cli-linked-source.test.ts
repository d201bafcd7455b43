/** Commands that are given a path as people know it, which leads through a symbolic link to where the files are. */
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../src/cli/command/exit-codes.ts';
import { jsonLines, openPlace } from '../support/cli.ts';
import { restoredPath } from '../support/restored-path.ts';

describe.concurrent('a source behind a symbolic link', () => {
  test('is listed, compared and restored by its own path, also when the link leads elsewhere since', async () => {
    await using place = await openPlace();
    await place.write({ 'a.txt': 'one', 'below/b.txt': 'two' });
    const link = join(place.directory, 'link');
    symlinkSync(place.source, link);
    await place.expectRun(['init']);
    await place.expectRun(['backup', `${link}/`]);
    const look = async (): Promise<void> => {
      const { stdout } = await place.expectRun(['ls', 'latest', link]);
      expect(stdout).toContain('a.txt');
      expect(jsonLines(await place.expectRun(['snapshots', '--path', link, '--json']))).toHaveLength(1);
      expect((await place.expectRun(['cat', 'latest', `${link}/below/b.txt`])).stdout).toBe('two');
      expect(jsonLines(await place.expectRun(['versions', `${link}/a.txt`, '--json']))).toHaveLength(1);
      await place.expectRun(['diff', `latest:${link}`, `latest:${place.source}`]);
      const target = join(place.directory, 'back');
      await place.expectRun(['restore', 'latest', `${link}/below`, '--target', target]);
      expect(readFileSync(restoredPath(target, place.source, 'below/b.txt'), 'utf8')).toBe('two');
      rmSync(target, { recursive: true });
    };
    await look();
    rmSync(link);
    mkdirSync(join(place.directory, 'empty'));
    symlinkSync(join(place.directory, 'empty'), link);
    await look();
  });

  test('a filter that no snapshot passes is what is said of, not the repository', async () => {
    await using place = await openPlace();
    await place.write({ 'a.txt': 'one' });
    await place.expectRun(['init']);
    await place.expectRun(['backup', place.source]);
    const { stderr } = await place.expectRun(['ls', 'latest', '--path', '/nothere'], EXIT.failed);
    expect(stderr).toContain('the repository has 1 snapshot, and none is of the path /nothere');
    const { stderr: far } = await place.expectRun(['ls', 'latest~3', '--path', place.source], EXIT.failed);
    expect(far).toContain('the repository has 1');
  });
});
