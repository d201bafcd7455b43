/** How much of what is stored is sealed under which generation of keys. */
import { DestinationError } from '../../base/errors.ts';
import type { Destination } from '../../destination/destination.ts';
import { CIPHER_PLAIN } from '../../format/header.ts';
import { readIndexObjects } from '../chunk-index.ts';
import { parseLeaseKey } from '../lease-objects.ts';
import { packKey } from '../objects/listing.ts';
import { mapParallel } from '../objects/parallel.ts';
import type { Repository } from '../repository.ts';
import { readTombstones } from '../tombstones.ts';

/** Objects that are sealed, by what they are; packs and snapshots that are about to be deleted are counted apart. */
export interface GenerationUse {
  readonly generation: number;
  /** `unknown`: the keyring has no such generation, so that nobody can open these objects. */
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

/** Where the header has the cipher and the generation (docs/repository-format.md, section 5). */
const CIPHER_AT = 6;
const GENERATION_AT = 8;
const START_BYTES = 12;

const NAMED = /^(index|snapshots|trash|packs\/[0-9a-f]{2})\/([0-9a-f]{64})$/;
const HEAD = /^heads\/[0-9a-f]{32}\/\d{16}$/;
const SEALED_FOLDERS = ['packs/', 'index/', 'snapshots/', 'trash/', 'heads/', 'config/', 'leases/'] as const;
const CONFIG = /^config\/\d{1,16}$/;

/**
 * Looks at the header of every object, and of packs at what index objects say of it. Every generation of the keyring is
 * there, the oldest first. Contents that are stored without encryption are under none.
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

/** Whether nothing whatever is sealed under it. */
export function isUnused(use: GenerationUse): boolean {
  const { generation: _number, state: _state, ...amounts } = use;
  return Object.values(amounts).every((amount) => amount === 0);
}

/** Sizes by key: of two lists, since an object that one of them lacks may be all that a key is still needed for. */
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
 * The key generation that the object under `key` is sealed under. Undefined for what is gone, too short to have a header,
 * or not encrypted.
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
    // Heads, leases and tombstones are replaced all the time.
    if (error instanceof DestinationError && error.kind === 'not-found') return undefined;
    // Nothing can be read of an empty one.
    const isReply = error instanceof DestinationError && error.kind === 'corrupt-reply';
    if (isReply && (await destination.stat(key, signal)).size < START_BYTES) return undefined;
    throw error;
  }
}
