/** A storage that does not list a tombstone shows a forgotten snapshot as the newest one: no rule may go by that. */
// Turn 4 of 8.
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonLines, openPlace, type Place } from '../support/cli.ts';
import { openDaemonSite } from '../support/daemon-site.ts';

const retention = { keepLast: 1, keepDaily: null, keepWeekly: null, keepMonthly: null, keepWithin: null };

/** Hides the only tombstone of a repository, and shows it again when it is disposed of. */
function hideTombstone(repository: string): Disposable {
  const [name = '', ...others] = readdirSync(join(repository, 'trash'));
  expect(others).toEqual([]);
  const shown = join(repository, 'trash', name);
  const hidden = join(repository, '..', 'hidden');
  renameSync(shown, hidden);
  return { [Symbol.dispose]: () => renameSync(hidden, shown) };
}

async function idsOf(place: Place): Promise<readonly unknown[]> {
  return jsonLines(await place.expectRun(['snapshots', '--json'])).map(({ id }) => id);
}

test('forget by rules stops, and removes nothing', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ a: 'older' });
  await place.expectRun(['backup', place.source]);
  const [older] = await idsOf(place);
  await place.write({ a: 'newer' });
  await place.expectRun(['backup', place.source]);
  await place.expectRun(['forget', 'latest']);
  {
    using _ = hideTombstone(place.repository);
    const refused = await place.run(['forget', '--keep-last', '1']);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no tombstone names it; the rules remove nothing until that is resolved/),
    });
  }
  expect(await idsOf(place)).toEqual([older]);
  await place.expectRun(['forget', '--keep-last', '1']);
  expect(await idsOf(place)).toEqual([older]);
});

test('the job that applies the rules of the settings fails, and removes nothing', async () => {
  await using site = await openDaemonSite();
  site.write({ a: 'older' });
  await site.backUp();
  site.write({ a: 'newer' });
  await site.backUp();
  await site.configure({ retention, maintenance: { prune: 'off', jitter: '0s' } });
  const [newer, older] = await site.agent.snapshots({ limit: 10 });
  await site.agent.forgetSnapshot(String(newer?.id));
  await site.configure({ retention, maintenance: { prune: 'every 3h', jitter: '0s' } });
  const pruneIsDue = async (): Promise<unknown> => {
    const known = site.jobs();
    site.clock.skip(3 * 3_600_000);
    return await site.endOfNext('prune', known);
  };
  {
    using _ = hideTombstone(join(site.state, 'repository'));
    expect(await pruneIsDue()).toMatchObject({ status: 'failed', error: { code: 'CORRUPT_DATA' } });
  }
  expect(await pruneIsDue()).toMatchObject({ status: 'completed' });
  expect((await site.agent.snapshots({ limit: 10 })).map(({ id }) => id)).toEqual([older?.id]);
});
