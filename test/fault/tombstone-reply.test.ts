/** Tombstones that cannot be read: what is spoiled on its way, and what lies on a bad sector. */
import { beforeEach, expect, test } from 'vitest';
import { DestinationError } from '../../src/base/errors.ts';
import { putTombstone } from '../../src/repository/put-tombstone.ts';
import { readTombstones } from '../../src/repository/tombstones.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { never, openEngine } from '../support/engine.ts';
import { hookedDestination } from '../support/hooked-destination.ts';

const PACK = 'ab'.repeat(32);
/** What reading a tombstone fails with. */
let failure: ((key: string) => DestinationError) | undefined;
let failed = 0;

beforeEach(() => {
  failure = undefined;
  failed = 0;
});

async function marked() {
  const destination = hookedDestination(createMemoryDestination(), {
    get: (key) => {
      if (!key.startsWith('trash/') || failure === undefined) return;
      failed += 1;
      throw failure(key);
    },
  });
  const engine = await openEngine({ destination });
  const record = { kind: 'packs' as const, names: [PACK], reason: 'test', atMs: Date.now(), fence: 1 };
  await putTombstone(engine.repository, record, { live: 0 }, never);
  return engine;
}

test('a reply that is spoiled on its way is an error: whoever ignored the mark could rely on what is about to go', async () => {
  await using engine = await marked();
  failure = () => new DestinationError('corrupt-reply', 'The reply ends early', { op: 'read' });
  await expect(readTombstones(engine.repository, never)).rejects.toThrow('The reply ends early');
  expect(failed).toBe(1);
});

test('one on a bad sector is told as ignored, as a damaged one is: prune cannot read it either', async () => {
  await using engine = await marked();
  failure = (key) =>
    new DestinationError('corrupt-reply', 'The drive cannot read it', {
      op: 'read',
      details: { errno: 'EIO', key },
    });
  const { packs, ignored } = await readTombstones(engine.repository, never);
  expect([failed, packs.size, ignored.length]).toEqual([1, 0, 1]);
});
