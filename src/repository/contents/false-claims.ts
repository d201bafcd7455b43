/**
 * Packs that claim chunks which they do not have. Anybody who may add objects can store packs without encryption, and
 * the holder of a write-only key packs of that key; both can name any chunk whose id they know. The order in which the
 * storage received packs keeps them from displacing a true one, but not where the true one was deleted or marked and the
 * chunk was stored again. So where packs of different makers claim one chunk, their bytes decide.
 */
import { ChunkHasher } from '../../codec/hash.ts';
import { writeOnlyMark } from '../../codec/write-only.ts';
import { CIPHER_PLAIN } from '../../format/header.ts';
import {
  fillTable,
  withLast,
  type ChunkIndex,
  type Claim,
  type KnownPack,
  type LoadedPacks,
} from '../chunk-index.ts';
import { isLostObject } from '../objects/lost-object.ts';
import { mapParallel } from '../objects/parallel.ts';
import type { Repository } from '../repository.ts';
import { fetchSegment, SegmentOpener } from './segment-reader.ts';

/**
 * The index of these packs. Those of which a claim was found to be false come last, so that a chunk is located there
 * only where no other pack claims it. One segment is read of each pack in a dispute, and none where there is no dispute.
 * @throws {DestinationError}
 */
export async function believed(
  repository: Repository,
  { packs, ...facts }: LoadedPacks,
  signal: AbortSignal,
): Promise<ChunkIndex> {
  const { maxParallel } = repository.destination.properties;
  const tried = new Set<string>();
  const liars = new Set<string>();
  for (let order = packs; ; order = withLast(packs, [liars])) {
    const { disputed, ...filled } = fillTable(order);
    const claims = [...disputed].flatMap(([number, claim]) => {
      const pack = filled.packs[number];
      return pack === undefined || tried.has(pack.name) ? [] : [{ pack, claim }];
    });
    const before = liars.size;
    await mapParallel(claims, maxParallel, async ({ pack, claim }) => {
      tried.add(pack.name);
      if (!(await isTrue(repository, pack, claim, signal))) liars.add(pack.name);
    });
    if (liars.size === before) return { ...facts, ...filled };
  }
}

async function isTrue(
  repository: Repository,
  pack: KnownPack,
  { id, location: { segment, offset, length } }: Claim,
  signal: AbortSignal,
): Promise<boolean> {
  const { destination, keys } = repository;
  const plain = pack.cipher === CIPHER_PLAIN;
  const salt = plain ? undefined : writeOnlyMark(keys.repository, pack.sealedBy).salt;
  try {
    const sealed = await fetchSegment(destination, pack, segment, signal);
    const raw = await repository.withKeys(() => new SegmentOpener(keys).open(pack, segment, sealed), signal);
    const found = new ChunkHasher(keys.idKey(pack.kind, { plain, salt })).id(
      raw.subarray(offset, offset + length),
    );
    return found.subarray(0, id.length).equals(id);
  } catch (error) {
    if (!isLostObject(error)) throw error;
    return false;
  }
}
