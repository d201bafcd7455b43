/** What a backup begins with: a session in the repository, and what is stored there already. */
import { loadForReading } from '../repository/contents/index-for.ts';
import type { ChunkIndex, IndexSource } from '../repository/chunk-index.ts';
import type { Lease } from '../repository/lease.ts';
import type { Repository } from '../repository/repository.ts';
import type { SnapshotList } from '../repository/snapshots.ts';
import { openSession } from '../repository/take-lease.ts';
import { lastPacks, unsoundPacks } from '../repository/tombstones.ts';
import type { DamagedParts } from './before/damaged-parts.ts';
import { whatIsThere } from './before/what-is-there.ts';

export interface OpenRun extends AsyncDisposable {
  readonly session: Lease;
  readonly snapshots: SnapshotList;
  /** What new snapshots may rely on. */
  readonly index: ChunkIndex;
  /** What the trees of older ones are read by: also packs that are damaged in part. */
  readonly readable: IndexSource;
  /** Told of the pack in which something was found damaged; throws unless that is known. */
  readonly onDamage: (pack: string) => void;
}

/** The session ends with what is returned. */
export async function openRun(
  repository: Repository,
  damaged: DamagedParts,
  signal: AbortSignal,
): Promise<OpenRun> {
  await using stack = new AsyncDisposableStack();
  // Beside the lists: it has to stand before the first pack is stored.
  const opening = openSession(repository, {}, signal);
  stack.defer(async () => {
    const [opened] = await Promise.allSettled([opening]);
    if (opened.status === 'fulfilled') await opened.value.release();
  });
  const there = whatIsThere(repository, signal, { remembered: true, damaged: damaged.packs });
  const [session, { snapshots, index }] = await Promise.all([opening, there]);
  // What the first look listed is not needed any more.
  repository.lookAnew();
  const { tombstones } = snapshots;
  const unsound = new Set([...unsoundPacks(tombstones), ...damaged.packs]);
  // What can still be read of a damaged pack need not be read from the source; most are long gone.
  const areThere = [...unsound].some((name) => index.leftOut.has(name));
  const parts = stack.move();
  return {
    session,
    snapshots,
    index,
    readable: areThere
      ? async () => await loadForReading(repository, lastPacks(tombstones, unsound), signal)
      : index,
    onDamage: (pack) => {
      if (!unsound.has(pack)) damaged.found(pack, index);
    },
    [Symbol.asyncDispose]: async () => await parts.disposeAsync(),
  };
}
