import type { ChainPlace } from '../format/records.ts';
import { readNewestHeads } from './chain.ts';
import { writersOfKeys } from './chain-view.ts';
import type { Repository } from './repository.ts';
import type { SnapshotList } from './snapshots.ts';

/**
 * The places of records that cannot be read, by name, from the records that follow them and from heads. Those of
 * write-only keys are left out: the holder of one could give another's record a false place.
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
