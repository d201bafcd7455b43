import type { ChainPlace } from '../format/records.ts';
import { readNewestHeads } from './chain.ts';
import { writersOfKeys } from './chain-view.ts';
import type { Repository } from './repository.ts';
import type { SnapshotList } from './snapshots.ts';

/**
 * Where records stood that cannot be read, by their names: what follows them tells it, and heads do. Not those of write-only
 * keys: whoever has one could give another's record a place that it never had.
 */
export async function knownPlaces(
  repository: Repository,
  { live, tombstones }: Pick<SnapshotList, 'live' | 'tombstones'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ChainPlace>> {
  const places = new Map<string, ChainPlace>();
  const keyOf = writersOfKeys(repository);
  const isBelieved = ({ writer }: ChainPlace): boolean => keyOf(writer) === undefined;
  for (const { chain, record } of await readNewestHeads(repository, signal))
    if (record !== undefined && isBelieved(chain))
      places.set(record, { writer: chain.writer, seq: chain.seq });
  for (const { chain } of [...live, ...tombstones.all.filter(({ bound }) => bound)])
    if (isBelieved(chain)) places.set(chain.prev, { writer: chain.writer, seq: chain.seq - 1 });
  return places;
}
