import { encodeIndexedPack, type IndexedPack } from '../../format/index-object.ts';
import { isDamage, readIndexObjects, readPackDirectory } from '../chunk-index.ts';
import { IndexWriter } from '../contents/index-writer.ts';
import { keepCopies } from '../keys/keep-copies.ts';
import { listNamed } from '../objects/listing.ts';
import { mapParallel } from '../objects/parallel.ts';
import type { Repository } from '../repository.ts';
import { removeUnreadable } from './unreadable-records.ts';

export interface RecoverReport {
  /** Packs that the new index objects name. */
  readonly packs: number;
  readonly chunks: number;
  /** Names of the index objects that were written. */
  readonly written: readonly string[];
  /** Number of index objects that the new ones supersede; prune removes them. */
  readonly superseded: number;
  /** Packs whose own directory cannot be read and whose entry was taken from an older index object. */
  readonly keptFromIndex: readonly UnreadablePack[];
  /** Packs whose directory cannot be read and that no index object describes: their content is out of reach. */
  readonly unreadable: readonly UnreadablePack[];
  /** Keys of key slots, keyring and configuration that were damaged or gone and were restored from their second copies. */
  readonly putBack: readonly string[];
  /** Keys of the damaged heads and tombstones, and planted objects, that were deleted: see unreadable-records.ts. */
  readonly removed: readonly string[];
}

export interface UnreadablePack {
  readonly name: string;
  readonly reason: string;
}

/** New index objects are stored whenever this much is pending, so that memory stays bounded. */
const FLUSH_BYTES = 48 * 1024 * 1024;

/**
 * Rebuilds the index from the packs' own directories, without needing any index object. Existing index objects are
 * superseded, not deleted. Also restores damaged keys and configuration from their copies, and removes damaged heads
 * and tombstones.
 *
 * @throws {DestinationError}
 */
export async function recover(repository: Repository, signal: AbortSignal): Promise<RecoverReport> {
  const { destination } = repository;
  // Listed before the packs, so that the list of packs has every pack that these name.
  const superseded = [...(await listNamed(destination, 'index/', signal)).keys()];
  const packs = await listNamed(destination, 'packs/', signal);
  const writer = new IndexWriter(repository);
  const written: string[] = [];
  const damaged: UnreadablePack[] = [];
  let chunks = 0;
  let indexed = 0;
  const add = (pack: IndexedPack): void => {
    writer.add(encodeIndexedPack(pack));
    chunks += pack.directory.lengths.length;
    indexed += 1;
  };
  await mapParallel(packs, destination.properties.maxParallel, async ([name, { size }]) => {
    signal.throwIfAborted();
    try {
      add(await readPackDirectory(repository, name, size, signal));
    } catch (error) {
      if (!isDamage(error)) throw error;
      damaged.push({ name, reason: error.message });
    }
    if (writer.pendingBytes >= FLUSH_BYTES) written.push(...(await writer.flush([], signal)));
  });
  const known =
    damaged.length === 0 ? new Map<string, IndexedPack>() : await packsInIndex(repository, signal);
  const keptFromIndex: UnreadablePack[] = [];
  const unreadable: UnreadablePack[] = [];
  for (const pack of damaged) {
    const described = known.get(pack.name);
    if (described === undefined || described.directory.packLength !== packs.get(pack.name)?.size) {
      unreadable.push(pack);
      continue;
    }
    add(described);
    keptFromIndex.push(pack);
  }
  written.push(...(await writer.flush(superseded, signal)));
  const putBack = await keepCopies(repository, signal);
  const removed = await removeUnreadable(repository, signal);
  const rest = { keptFromIndex, unreadable, putBack, removed };
  return { packs: indexed, chunks, written, superseded: superseded.length, ...rest };
}

/** Copies of the packs' directories from all readable index objects. */
async function packsInIndex(repository: Repository, signal: AbortSignal): Promise<Map<string, IndexedPack>> {
  const objects = await readIndexObjects(repository, [], signal);
  return new Map(
    [...objects.values()].flatMap(({ packs }) => packs.map((pack) => [pack.name, pack] as const)),
  );
}
