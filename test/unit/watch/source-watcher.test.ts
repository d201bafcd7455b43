/** Why a reader of a watched source has to look at everything. */
import { expect, test } from 'vitest';
import { UNWALKED_MS } from '../../../src/watch/change-log.ts';
import { hastyClock } from '../../support/hasty-clock.ts';
import { openWatched } from './watched-source.ts';

test('a source that is looked at again and again says so each time, however long it is watched', async () => {
  const clock = hastyClock();
  await using watched = await openWatched(() => {}, { poll: true, clock });
  for (let day = 0; day < 4; day += 1) {
    clock.skip(UNWALKED_MS / 2 + 1);
    expect(watched.taken()).toEqual(['[the file system of the source does not report changes]']);
  }
  // Whatever fell due since then has been done.
  watched.watcher.unknown('that is due once a day', clock.now() - 1_000);
  expect(watched.watcher.isUnknownTo('')).toBe(false);
});
