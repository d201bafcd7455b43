import { DestinationError, RepositoryError, corrupt, planted } from '../base/errors.ts';
import { unknownGeneration } from '../codec/keys.ts';
import { OBJECT_TYPES } from '../format/header.ts';
import {
  decodeChainContext,
  MAX_EPOCH,
  decodeTombstone,
  signedPart,
  type ChainPlace,
  type ChainPosition,
  type TombstoneRecord,
} from '../format/records.ts';
import { listNamed } from './objects/listing.ts';
import { damageTo, isUnreadObject } from './objects/lost-object.ts';
import { getNamed } from './metadata-cache.ts';
import { openRecord, sha256 } from './objects/objects.ts';
import { mapParallel } from './objects/parallel.ts';
import type { Repository } from './repository.ts';

export interface Tombstone {
  readonly name: string;
  readonly record: TombstoneRecord;
  readonly chain: ChainPosition;
  /** It was signed for that place; else whoever has a write-only key may have put it there. */
  readonly bound: boolean;
  /** SHA-256 of what is signed: one that is sealed once more is the same record. */
  readonly signed: string;
  /** Key generation that it is sealed under. */
  readonly generation: number;
  /** The storage's clock. */
  readonly storedMs: number;
}

export interface Tombstones {
  readonly all: readonly Tombstone[];
  readonly snapshots: ReadonlySet<string>;
  readonly packs: ReadonlySet<string>;
  /** Objects below trash/ that are not valid tombstones of this repository, and so have no effect. */
  readonly ignored: readonly {
    readonly name: string;
    readonly error: RepositoryError;
    /** It never was a tombstone: it is what was stored, and nobody who may remove anything has made it. */
    readonly isStrange: boolean;
  }[];
}

/** Prune replaces tombstones while others read them; a list that changed under the reader is read again so often. */
const READ_TRIES = 5;

/** Why packs are marked that were damaged and of which everything that is needed was stored anew. */
export const REPAIRED = 'repaired';

/** Why packs are marked that are damaged: nothing relies on them, and they stay while a snapshot needs what no other holds. */
export const DAMAGED = 'damaged';

export function repairedPacks(tombstones: Tombstones): ReadonlySet<string> {
  return packsMarked(tombstones, REPAIRED);
}

export function damagedPacks(tombstones: Tombstones): ReadonlySet<string> {
  return packsMarked(tombstones, DAMAGED);
}

/** Packs in which damage was found. Such a mark is never taken back: nothing is to rely on them again. */
export function unsoundPacks(tombstones: Tombstones): ReadonlySet<string> {
  return new Set([...damagedPacks(tombstones), ...repairedPacks(tombstones)]);
}

/** Whether such a mark is one of these. */
export function isOfUnsound({ kind, reason }: TombstoneRecord): boolean {
  return kind === 'packs' && (reason === REPAIRED || reason === DAMAGED);
}

/** Sets of names of packs: a chunk is located in packs of a later set only where no others hold it. */
export type LastPacks = readonly ReadonlySet<string>[];

/**
 * What is marked for deletion is sound, and comes before what holds damage.
 * @param unsound further packs in which damage was found
 */
export function lastPacks(tombstones: Tombstones, unsound: Iterable<string> = []): LastPacks {
  return [tombstones.packs, new Set([...unsoundPacks(tombstones), ...unsound])];
}

/**
 * The highest epoch of the prune lease that they tell. Some may have been written after somebody planted a lease whose epoch
 * none can come to.
 */
export function highestFence({ all }: Pick<Tombstones, 'all'>): number {
  return all.reduce(
    (high, { record: { fence } }) => (fence > MAX_EPOCH / 2 ? high : Math.max(high, fence)),
    0,
  );
}

function packsMarked({ all }: Tombstones, reason: string): ReadonlySet<string> {
  const marks = all.filter(({ record }) => record.kind === 'packs' && record.reason === reason);
  return new Set(marks.flatMap(({ record }) => record.names));
}

/** Where the snapshots and tombstones that these name stood in their chains, as far as they say it. */
export function placesIn(tombstones: readonly Tombstone[]): Map<string, ChainPlace> {
  const places = new Map<string, ChainPlace>();
  for (const { record } of tombstones)
    for (const [n, place] of (record.places ?? []).entries()) {
      const name = record.names[n];
      if (name !== undefined && place !== undefined) places.set(name, place);
    }
  return places;
}

/** Reads every tombstone. Unsigned, wrongly signed and damaged ones have no effect and are reported. */
export async function readTombstones(repository: Repository, signal: AbortSignal): Promise<Tombstones> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await readListed(repository, signal);
    } catch (error) {
      const vanished = error instanceof DestinationError && error.kind === 'not-found';
      if (!vanished || tries === READ_TRIES) throw error;
    }
  }
}

async function readListed(repository: Repository, signal: AbortSignal): Promise<Tombstones> {
  const { destination } = repository;
  const all: Tombstone[] = [];
  const ignored: Tombstones['ignored'][number][] = [];
  const listed = await listNamed(destination, 'trash/', signal);
  await mapParallel(listed, destination.properties.maxParallel, async ([name, { modifiedMs }]) => {
    let bytes: Buffer | undefined;
    try {
      bytes = await getNamed(repository, 'trash/', name, signal);
      // One that other keys sealed counts: a writer that ignored it could rely on what is about to be deleted.
      const read = bytes;
      const open = (): Omit<Tombstone, 'storedMs'> => openTombstone(repository, read, name);
      all.push({ ...(await repository.withKeys(open, signal)), storedMs: modifiedMs });
    } catch (error) {
      const damage = damageTo(error);
      // What was spoiled on its way says nothing of the tombstone, and may name what is about to be deleted.
      const isSpoiled = error instanceof DestinationError && !isUnreadObject(error);
      if (damage === undefined || isSpoiled) throw error;
      const isStrange = bytes !== undefined && isNoTombstone(repository, bytes, name, damage);
      ignored.push({ name, error: damage, isStrange });
    }
  });
  const named = (kind: TombstoneRecord['kind']): Set<string> =>
    new Set(all.filter((one) => one.record.kind === kind).flatMap((one) => one.record.names));
  return { all, snapshots: named('snapshots'), packs: named('packs'), ignored };
}

/** What is sealed and cannot be understood may be of a newer program, and what keys are lacking for of anybody. */
function isNoTombstone({ keys }: Repository, bytes: Buffer, name: string, damage: RepositoryError): boolean {
  if (sha256(bytes) !== name || unknownGeneration(damage) !== undefined) return false;
  if (damage.code !== 'CORRUPT_DATA') return false;
  let plaintext: Buffer;
  try {
    ({ plaintext } = openRecord(keys, OBJECT_TYPES.tombstone, bytes, name));
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    return true;
  }
  try {
    decodeTombstone(plaintext, name);
    return true;
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    return false;
  }
}

/** @throws {RepositoryError} CORRUPT_DATA when it is damaged or not signed by the administrator */
function openTombstone(repository: Repository, bytes: Buffer, name: string): Omit<Tombstone, 'storedMs'> {
  const object = `tombstone ${name}`;
  const opened = openRecord(repository.keys, OBJECT_TYPES.tombstone, bytes, object, name);
  const { context, generation, plaintext } = opened;
  // Before anything is done about what it says: that a newer program is needed, above all.
  const { signed, signature } = signedPart(plaintext, object);
  if (!repository.signed('hf1/tomb', signed, signature)) {
    throw corrupt(object, 'it is not signed by the administrator key');
  }
  const { record, chain: place } = decodeTombstone(plaintext, object);
  if (place?.equals(context) === false)
    throw planted(object, 'it was signed for another place in the chain of a writer');
  const chain = decodeChainContext(context, object);
  return { name, record, chain, bound: place !== undefined, signed: sha256(signed), generation };
}
