/** Somebody changes the keys while a backup runs, and the keyring that it began with is removed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { archive } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { rotateKeys } from '../../src/repository/keys/keys.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { never, openEngine, requestFor } from '../support/engine.ts';
import { hookedDestination } from '../support/hooked-destination.ts';

test('a first backup goes on with the new one', async () => {
  const inner = createMemoryDestination();
  await using engine = await openEngine({ destination: inner });
  writeFileSync(join(engine.source, 'file'), Buffer.alloc(100_000, 'x'));
  const keeper = await engine.open(inner);
  let isReplaced = false;
  const hooked = hookedDestination(inner, {
    put: async (key) => {
      if (isReplaced || !key.startsWith('index/')) return;
      isReplaced = true;
      await rotateKeys(keeper, never);
      await inner.delete('keys/ring-1', never);
    },
  });
  const { snapshot } = await archive(requestFor(await engine.open(hooked), [engine.source]), SILENT, never);
  expect(isReplaced).toBe(true);
  expect(keeper.ringNumber).toBe(2);
  const { live } = await listSnapshots(await engine.open(inner), never);
  expect(live.map(({ id }) => id)).toEqual([snapshot.id]);
});
