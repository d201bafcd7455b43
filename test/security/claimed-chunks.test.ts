/**
 * A pack that anybody may have made claims a chunk: no writer takes it for the chunk, whatever becomes of the true one.
 * Otherwise a backup that came while the true pack was marked for deletion would rely on the claim, and the next prune
 * would delete all that there was of it.
 */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { loadForReading, loadForWriting } from '../../src/repository/contents/index-for.ts';
import { addKey } from '../../src/repository/keys/keys.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import { prune, SILENT_PRUNE } from '../../src/repository/prune/prune.ts';
import { forgetSnapshots } from '../../src/repository/snapshots.ts';
import { readPackDirectory } from '../../src/repository/chunk-index.ts';
import { lastPacks, readTombstones } from '../../src/repository/tombstones.ts';
import { Sealing } from '../attacker/sealing.ts';
import { manualClock } from '../support/manual-clock.ts';
import { tinyBackup } from '../support/tiny-archiver.ts';

const GRACE_MS = 72 * 3_600_000;
const { signal } = new AbortController();

test.each([
  ['that is not encrypted', true],
  ['of a write-only key', false],
])('a pack %s is relied on by no backup of others', async (_whose, plain) => {
  const clock = manualClock();
  const destination = createMemoryDestination(() => clock.now());
  const own = { kind: 'machine', secret: randomBytes(32) } as const;
  const thief = { kind: 'write-only', secret: randomBytes(32) } as const;
  const cost = { m: 64, t: 1, p: 1 };
  const options = { clock, stateDirectory: undefined };
  const repository = await createRepository(
    destination,
    { ...options, secrets: [{ secret: own, label: 'own' }], cost },
    signal,
  );
  await addKey(repository, { secret: thief, label: 'server', cost }, signal);
  const tree = { letter: randomBytes(20_000) };
  const first = await tinyBackup(repository, tree, {}, signal);

  const opened = await openRepository(destination, thief, options, signal);
  const tombstones = await readTombstones(repository, signal);
  const ids: Buffer[] = [];
  const { packs } = await loadForReading(repository, lastPacks(tombstones), signal);
  await forgetSnapshots(repository, [first.id], 'test', signal);
  await clock.advance(GRACE_MS);
  const again = await openRepository(destination, own, options, signal);
  await prune(again, {}, SILENT_PRUNE, signal);
  for (const { name, kind, length } of packs) {
    const { directory } = await readPackDirectory(repository, name, length, signal);
    for (let at = 0; at < directory.ids.length; at += directory.idBytes) {
      const id = directory.ids.subarray(at, at + directory.idBytes);
      ids.push(Buffer.from(id));
      const claimed = directory.lengths[at / directory.idBytes] ?? 0;
      const { key, body } = new Sealing(opened).pack(randomBytes(claimed), id, kind, plain);
      await destination.put(key, body, signal);
    }
  }

  const marks = await readTombstones(repository, signal);
  expect([...marks.packs].toSorted()).toEqual(packs.map(({ name }) => name).toSorted());

  const writing = await loadForWriting(repository, { marked: marks.packs, plain: false }, signal);
  expect(ids.map((id) => writing.table.find(id))).toEqual(ids.map(() => undefined));
  // Whoever reads finds the true packs as long as they are there.
  const reading = await loadForReading(repository, lastPacks(marks), signal);
  expect(ids.every((id) => reading.table.find(id) !== undefined)).toBe(true);
});
