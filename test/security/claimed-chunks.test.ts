/**
 * A pack that anybody may have made claims a chunk: no writer takes it for the chunk, whatever becomes of the true one.
 * Otherwise a backup that came while the true pack was marked for deletion would rely on the claim, and the next prune
 * would delete all that there was of it.
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { ChunkHasher } from '../../src/codec/hash.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { check } from '../../src/repository/check/check.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { loadForReading, loadForWriting } from '../../src/repository/contents/index-for.ts';
import { addKey } from '../../src/repository/keys/keys.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import { takeStock } from '../../src/repository/prune/prune-stock.ts';
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

describe('an older claim, after the true copy was stored again', () => {
  const content = randomBytes(5_000);

  test.each([
    ['of a write-only key, which a pack that is not encrypted claims', true],
    ['that is not encrypted, which a pack of a write-only key claims', false],
  ])('does not displace a chunk %s', async (_whose, isPlainClaim) => {
    const { repository, destination, web, thief, clock } = await service();
    const plain = !isPlainClaim;
    const salt = plain ? undefined : web.keys.writeOnlyMark?.salt;
    const id = new ChunkHasher(repository.keys.idKey('data', { plain, salt })).id(content);
    const put = async (sealing: Sealing, bytes: Buffer, isPlain: boolean): Promise<string> => {
      const { key, body } = sealing.pack(bytes, id, 'data', isPlain);
      await destination.put(key, body, signal);
      await clock.advance(1_000);
      return key.slice(-64);
    };
    // Two of them: when the first is found out, the second is the next in order.
    await put(new Sealing(thief), randomBytes(5_000), isPlainClaim);
    await put(new Sealing(thief), randomBytes(5_000), isPlainClaim);
    const right = await put(new Sealing(web), content, plain);

    const reading = await loadForReading(repository, [], signal);
    const found = reading.table.find(id);
    expect(reading.packs[found?.pack ?? -1]?.name).toBe(right);
    const stock = await takeStock(repository, clock.now(), signal);
    expect(stock.index.packs[stock.index.table.find(id)?.pack ?? -1]?.name).toBe(right);
    const { findings } = await check(repository, { readData: false, workers: 0 }, SILENT_CHECK, signal);
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  test('costs nothing where no two makers claim one chunk', async () => {
    const { repository, destination, web, thief } = await service();
    for (const sealing of [new Sealing(web), new Sealing(thief)])
      for (const plain of [true, false]) {
        const { key, body } = sealing.pack(content, randomBytes(24), 'data', plain);
        await destination.put(key, body, signal);
      }
    const get = vi.spyOn(destination, 'get');
    await loadForReading(repository, [], signal);
    // The start, the end and the directory of each pack; no segment.
    expect(get.mock.calls.filter(([key]) => key.startsWith('packs/'))).toHaveLength(4 * 3);
  });
});

async function service() {
  const clock = manualClock();
  const destination = createMemoryDestination(() => clock.now());
  const secretOf = (kind: 'machine' | 'write-only') => ({ kind, secret: randomBytes(32) });
  const [own, web, thief] = [secretOf('machine'), secretOf('write-only'), secretOf('write-only')];
  const cost = { m: 64, t: 1, p: 1 };
  const options = { clock, stateDirectory: undefined };
  const secrets = [{ secret: own, label: 'own' }];
  const repository = await createRepository(destination, { ...options, secrets, cost }, signal);
  await addKey(repository, { secret: web, label: 'web', cost }, signal);
  await addKey(repository, { secret: thief, label: 'server', cost }, signal);
  return {
    clock,
    destination,
    repository: await openRepository(destination, own, options, signal),
    web: await openRepository(destination, web, options, signal),
    thief: await openRepository(destination, thief, options, signal),
  };
}
