/** A state directory that was copied, with both copies in use: the program says so, and every snapshot stays whole. */
import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { jsonLines, openPlace, type Outcome } from '../support/cli.ts';
import { restoredPath } from '../support/restored-path.ts';

it('is noticed by the copy that comes second, which names the other and goes on as a writer of its own', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  const copy = { env: { HOLDFAST_STATE_DIR: join(place.directory, 'copy') } };
  const backUp = async (
    version: string,
    options = {},
    more: readonly string[] = ['--json'],
  ): Promise<Outcome> => {
    await place.write({ 'note.txt': version });
    return await place.expectRun(['backup', place.source, ...more], 0, options);
  };
  await backUp('first');
  await cp(place.state, copy.env.HOLDFAST_STATE_DIR, { recursive: true });
  const [original] = jsonLines(await backUp('original')).slice(-1);
  const said = await backUp('copy', copy);
  const [copied] = jsonLines(said).slice(-1);
  expect(original?.['copied_identity']).toBeNull();
  expect(copied?.['copied_identity']).toMatchObject({ seq: 2, record: original?.['snapshot_id'] });
  const { host, at } = (copied?.['copied_identity'] ?? {}) as { host?: string; at?: string };
  expect(said.stderr).toContain(`of host ${host} from ${at} is record 2 of this machine`);

  // From now on each has a chain of its own, and nobody has anything to complain of.
  expect((await backUp('copy again', copy, [])).stderr).not.toContain('Warning');
  expect((await backUp('original again', {}, [])).stderr).not.toContain('Warning');
  const checked = await place.expectRun(['check', '--read-data', '--json']);
  expect(jsonLines(checked).at(-1)).toMatchObject({ status: 'ok', findings: [] });
  for (const [snapshot, content] of [
    [original, 'original'],
    [copied, 'copy'],
  ] as const) {
    const target = join(place.directory, 'restored');
    await place.expectRun(['restore', String(snapshot?.['snapshot_id']), '--target', target]);
    expect(await readFile(restoredPath(target, place.source, 'note.txt'), 'utf8')).toBe(content);
    await rm(target, { recursive: true });
  }
}, 60_000);
