/** Records that a list does not show. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { findLost } from '../../../src/repository/chains/lost-records.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import { forgetSnapshots, listSnapshots } from '../../../src/repository/snapshots.ts';
import { readTombstones } from '../../../src/repository/tombstones.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tinyBackup } from '../../support/tiny-archiver.ts';

const { signal } = new AbortController();

test('what a list hides and is there when it is asked for by name is not lost; what is gone is', async () => {
  const clock = manualClock();
  const memory = createMemoryDestination(() => clock.now());
  const secret: Secret = { kind: 'machine', secret: randomBytes(32) };
  const options = { clock, stateDirectory: undefined, allowWeakCost: true };
  const made = { ...options, secrets: [{ secret, label: 'test' }], cost: { m: 64, t: 1, p: 1 } };
  const repository = await createRepository(memory, made, signal);
  const first = await tinyBackup(repository, { file: randomBytes(100) }, {}, signal);
  await forgetSnapshots(repository, [first.id], 'test', signal);
  const newest = await tinyBackup(repository, { file: randomBytes(100) }, {}, signal);
  const [mark] = (await readTombstones(repository, signal)).all;
  const hidden = new Set<string>();
  const lagging = hookedDestination(
    {
      ...memory,
      async *list(prefix, now) {
        for await (const page of memory.list(prefix, now)) yield page.filter(({ key }) => !hidden.has(key));
      },
    },
    {},
  );
  const host = await openRepository(lagging, secret, options, signal);
  hidden.add(`snapshots/${newest.id}`);
  expect((await listSnapshots(host, signal)).live).toEqual([]);
  expect(await findLost(host, signal)).toEqual([]);
  hidden.clear();
  hidden.add(`trash/${mark?.name}`);
  expect(await findLost(host, signal)).toEqual([]);
  await memory.delete(`snapshots/${newest.id}`, signal);
  expect(await findLost(host, signal)).toMatchObject([{ record: { name: newest.id } }]);
});
