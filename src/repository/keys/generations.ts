/** Counts how much is sealed under each key generation. */
import { DestinationError } from '../../base/errors.ts';
import type { Destination } from '../../destination/destination.ts';
import { CIPHER_PLAIN } from '../../format/header.ts';
import { readIndexObjects } from '../chunk-index.ts';
import { parseLeaseKey } from '../lease-objects.ts';
import { packKey } from '../objects/listing.ts';
import { mapParallel } from '../objects/parallel.ts';
import type { Repository } from '../repository.ts';
import { readTombstones } from '../tombstones.ts';

/** The sealed objects of one generation by kind; packs and snapshots that are about to be deleted are counted separately. */
export interface GenerationUse {
  readonly generation: number;
  /** `unknown`: the keyring lacks this generation, so nobody can open these objects. */
  readonly state: 'current' | 'old' | 'unknown';
  packs: number;
  packBytes: number;
  /** Packs with a tombstone, which a prune deletes after the grace period. */
  markedPacks: number;
  markedPackBytes: number;
  indexObjects: number;
  snapshots: number;
  forgottenSnapshots: number;
  tombstones: number;
  heads: number;
  configurations: number;
  leases: number;
}

/** Offsets of the cipher and the generation in a header (docs/repository-format.md, section 5). */
const CIPHER_AT = 6;
const GENERATION_AT = 8;
const START_BYTES = 12;

const NAMED = /^(index|snapshots|trash|packs\/[0-9a-f]{2})\/([0-9a-f]{64})$/;
const HEAD = /^heads\/[0-9a-f]{32}\/\d{16}$/;
const SEALED_FOLDERS = ['packs/', 'index/', 'snapshots/', 'trash/', 'heads/', 'config/', 'leases/'] as const;
const CONFIG = /^config\/\d{1,16}$/;

/**
 * Reads the header of every object; for packs, index objects give the generation instead. The result has every
 * generation of the keyring, the oldest first. Packs without encryption belong to none.
 *
 * @throws {RepositoryError} {DestinationError}
 */
export async function surveyGenerations(
  repository: Repository,
  signal: AbortSignal,
): Promise<readonly GenerationUse[]> {
  repository.requireReading();
  const { destination } = repository;
  const uses = new Map<number, GenerationUse>();
  const tombstones = await readTombstones(repository, signal);
  const indexed = await packsInIndex(repository, signal);
  const listed = await listSealed(destination, signal);
  for (const { g } of repository.keyring.generations) uses.set(g, nothingUnder(repository, g));
  await mapParallel([...listed], destination.properties.maxParallel, async ([key, size]) => {
    const generation = indexed.has(key)
      ? indexed.get(key)
      : await generationOfObject(repository, key, signal);
    if (generation === undefined) return;
    const use = uses.get(generation) ?? nothingUnder(repository, generation);
    uses.set(generation, use);
    count(use, key, size, tombstones);
  });
  return [...uses.values()].sort((a, b) => a.generation - b.generation);
}

/** Whether nothing at all is sealed under the generation. */
export function isUnused(use: GenerationUse): boolean {
  const { generation: _number, state: _state, ...amounts } = use;
  return Object.values(amounts).every((amount) => amount === 0);
}

/** Sizes by key, from two lists: an object that one list lacks may be the only one that still needs a generation. */
async function listSealed(
  destination: Destination,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  for (const prefix of ['', ...SEALED_FOLDERS]) {
    for await (const page of destination.list(prefix, signal))
      for (const { key, size } of page) if (isSealed(key)) sizes.set(key, size);
  }
  return sizes;
}

function isSealed(key: string): boolean {
  return NAMED.test(key) || HEAD.test(key) || CONFIG.test(key) || parseLeaseKey(key) !== undefined;
}

function nothingUnder({ keyring }: Repository, generation: number): GenerationUse {
  return {
    generation,
    state: keyring.generations.find(({ g }) => g === generation)?.state ?? 'unknown',
    packs: 0,
    packBytes: 0,
    markedPacks: 0,
    markedPackBytes: 0,
    indexObjects: 0,
    snapshots: 0,
    forgottenSnapshots: 0,
    tombstones: 0,
    heads: 0,
    configurations: 0,
    leases: 0,
  };
}

function count(
  use: GenerationUse,
  key: string,
  size: number,
  tombstones: { readonly packs: ReadonlySet<string>; readonly snapshots: ReadonlySet<string> },
): void {
  const name = key.slice(key.lastIndexOf('/') + 1);
  const folder = key.slice(0, key.indexOf('/'));
  if (folder === 'packs') {
    const marked = tombstones.packs.has(name);
    if (marked) {
      use.markedPacks += 1;
      use.markedPackBytes += size;
    } else {
      use.packs += 1;
      use.packBytes += size;
    }
  } else if (folder === 'snapshots') {
    if (tombstones.snapshots.has(name)) use.forgottenSnapshots += 1;
    else use.snapshots += 1;
  } else if (folder === 'index') use.indexObjects += 1;
  else if (folder === 'trash') use.tombstones += 1;
  else if (folder === 'heads') use.heads += 1;
  else if (folder === 'config') use.configurations += 1;
  else use.leases += 1;
}

/** Generations of the packs that index objects describe, by key; undefined for those without encryption. */
async function packsInIndex(
  repository: Repository,
  signal: AbortSignal,
): Promise<Map<string, number | undefined>> {
  const objects = await readIndexObjects(repository, [], signal);
  const packs = [...objects.values()].flatMap((object) => object.packs);
  return new Map(
    packs.map(({ name, cipher, generation }) => [
      packKey(name),
      cipher === CIPHER_PLAIN ? undefined : generation,
    ]),
  );
}

/**
 * The key generation under which the object `key` is sealed. Undefined for an object that is gone, too short to have a
 * header, or not encrypted.
 * @throws {DestinationError}
 */
export async function generationOfObject(
  { destination }: Repository,
  key: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    const start = await destination.get(key, { offset: 0, length: START_BYTES }, signal);
    if (start.length < START_BYTES || start[CIPHER_AT] === CIPHER_PLAIN) return undefined;
    return start.readUInt32BE(GENERATION_AT);
  } catch (error) {
    // Heads, leases and tombstones are replaced constantly, so one may be gone by now.
    if (error instanceof DestinationError && error.kind === 'not-found') return undefined;
    // An empty object cannot be read in part.
    const isReply = error instanceof DestinationError && error.kind === 'corrupt-reply';
    if (isReply && (await destination.stat(key, signal)).size < START_BYTES) return undefined;
    throw error;
  }
}
