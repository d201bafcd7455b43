/** What people and programs read of snapshots: lists, searches, comparisons, archives. */
import { PassThrough } from 'node:stream';
import { asByteString } from '../../src/base/byte-path.ts';
import { RepositoryError } from '../../src/base/errors.ts';
import { diffSnapshots } from '../../src/browse/diff.ts';
import { findEntries } from '../../src/browse/find.ts';
import { listEntries } from '../../src/browse/list.ts';
import { SnapshotTrees } from '../../src/browse/snapshot-trees.ts';
import { writeTar } from '../../src/browse/tar.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { readingIndex, storedBy } from './judged.ts';
import { Broken } from './promises.ts';
import { THIEF_KEY } from './scene.ts';

/** Of entries: as many as docs/repository-format.md allows a snapshot of next to nothing. */
const MOST = 200_000;
const ROOT = asByteString('/');

/** @throws {Broken} when it never ends; and what reading a snapshot of somebody honest ends with */
export async function readSome(
  repository: Repository,
  random: SeededRandom,
  signal: AbortSignal,
): Promise<void> {
  const { live } = await listSnapshots(repository, signal);
  const index = await readingIndex(repository, signal);
  const trees = new SnapshotTrees(repository, index);
  const [left] = live.filter((one) => storedBy(one) === undefined);
  const newest = live.at(-1);
  const some = live.filter((one) => storedBy(one) === THIEF_KEY || one === newest || random.next() < 0.2);
  const across = { left, trees };
  for (const snapshot of some) {
    try {
      switch (random.below(4)) {
        case 0:
          await count('a list', listEntries(trees.reader(snapshot), snapshot, WHOLE, signal));
          break;
        case 1:
          await count('a search', findEntries(trees, [snapshot], { patterns: ['t*'] }, {}, signal));
          break;
        case 2:
          await compare(across, snapshot, signal);
          break;
        default:
          await archive(repository, index, snapshot, signal);
      }
    } catch (error) {
      if (!(error instanceof RepositoryError) || storedBy(snapshot) !== THIEF_KEY) throw error;
    }
  }
}

const WHOLE = { path: ROOT, recursive: true };

async function compare(
  { left, trees }: { readonly left: Snapshot | undefined; readonly trees: SnapshotTrees },
  right: Snapshot,
  signal: AbortSignal,
): Promise<void> {
  if (left === undefined) return;
  const sides = [left, right].map((snapshot) => ({ snapshot, path: ROOT })) as [never, never];
  await count('a comparison', diffSnapshots(trees, ...sides, { directoryTimes: true }, signal));
}

async function archive(
  repository: Repository,
  index: Parameters<typeof writeTar>[1],
  snapshot: Snapshot,
  signal: AbortSignal,
): Promise<void> {
  let bytes = 0;
  const out = new PassThrough();
  out.on('data', (part: Buffer) => {
    bytes += part.length;
    if (bytes > 512 * 2 * MOST) out.destroy(new Broken('bounded', 'an archive has no end'));
  });
  const options = { path: ROOT, names: 'full' as const, onSkipped: () => {} };
  await writeTar(repository, index, snapshot, options, out, signal);
}

async function count(what: string, entries: AsyncIterable<unknown>): Promise<void> {
  let n = 0;
  for await (const _ of entries) {
    n += 1;
    if (n > MOST) throw new Broken('bounded', `${what} has more than ${MOST} entries`);
  }
}
