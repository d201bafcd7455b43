import type { ChainPlace } from '../format/records.ts';
import { readNewestHeads } from './chain.ts';
import type { Repository } from './repository.ts';
import type { SnapshotList } from './snapshots.ts';

/** Where records stood that cannot be read, by their names: what follows them tells it, and heads do. */
export async function knownPlaces(
  repository: Repository,
  { live, tombstones }: Pick<SnapshotList, 'live' | 'tombstones'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ChainPlace>> {
  const places = new Map<string, ChainPlace>();
  for (const { chain, record } of await readNewestHeads(repository, signal))
    if (record !== undefined) places.set(record, { writer: chain.writer, seq: chain.seq });
  for (const { chain } of [...live, ...tombstones.all])
    places.set(chain.prev, { writer: chain.writer, seq: chain.seq - 1 });
  return places;
}
