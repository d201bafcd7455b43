/** Opens what a backup begins with: a session in the repository, the list of snapshots and the index. */
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
  /** The chunks that new snapshots may rely on. */
  readonly index: ChunkIndex;
  /** For reading the trees of older snapshots. Unlike `index` it includes packs that are damaged in part. */
  readonly readable: IndexSource;
  /** Called with a pack in which damage was found; throws unless that pack is already known to be damaged. */
  readonly onDamage: (pack: string) => void;
}

/** Opens a session and loads the index. Disposing of the result releases the session. */
export async function openRun(
  repository: Repository,
  { plain, damaged }: { readonly plain: boolean; readonly damaged: DamagedParts },
  signal: AbortSignal,
): Promise<OpenRun> {
  await using stack = new AsyncDisposableStack();
  // In parallel with the lists: the session only has to exist before the first pack is stored.
  const opening = openSession(repository, {}, signal);
  stack.defer(async () => {
    const [opened] = await Promise.allSettled([opening]);
    if (opened.status === 'fulfilled') await opened.value.release();
  });
  const there = whatIsThere(repository, signal, { plain, remembered: true, damaged: damaged.packs });
  const [session, { snapshots, index }] = await Promise.all([opening, there]);
  // Later lists must come from the destination, not from the first look.
  repository.lookAnew();
  const { tombstones } = snapshots;
  const unsound = new Set([...unsoundPacks(tombstones), ...damaged.packs]);
  // What is still readable in a damaged pack need not be read from the source again. Most marked packs are long gone,
  // and then the second index is not needed.
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
