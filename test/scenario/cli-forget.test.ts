/** Which snapshots "forget" means. */
import { expect, test } from 'vitest';
import { jsonLines, openPlace, type Place } from '../support/cli.ts';

async function backUpAs(place: Place, host: string): Promise<string> {
  const summary = jsonLines(await place.expectRun(['backup', '--json', '--host', host, place.source])).at(-1);
  return String(summary?.['snapshot_id']);
}

test('the newest of a host is forgotten, and not the newest of another one that came later', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ 'a.txt': 'content' });
  const ours = await backUpAs(place, 'ours');
  const theirs = await backUpAs(place, 'theirs');
  const [dry] = jsonLines(
    await place.expectRun(['forget', 'latest', '--host', 'ours', '--dry-run', '--json']),
  );
  expect(dry).toMatchObject({ remove: [ours] });
  await place.expectRun(['forget', 'latest', '--host', 'ours']);
  expect(jsonLines(await place.expectRun(['snapshots', '--json'])).map(({ id }) => id)).toEqual([theirs]);
  const { stderr } = await place.expectRun(['forget', 'latest', '--host', 'ours'], 1);
  expect(stderr).toContain('There is no snapshot "latest"');
});
