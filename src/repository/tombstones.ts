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
  /** Whether the tombstone was signed for that place; otherwise the holder of a write-only key may have put it there. */
  readonly bound: boolean;
  /** SHA-256 of the signed bytes: two tombstones with the same value are one record that was sealed twice. */
  readonly signed: string;
  /** Key generation under which the tombstone is sealed. */
  readonly generation: number;
  /** When the storage received the tombstone, by its own clock. */
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
    /**
     * Whether the object never was a tombstone: its bytes match its name, and nobody with the right to remove anything
     * has made it.
     */
    readonly isStrange: boolean;
  }[];
}

/** How many times a list is read when tombstones vanish from it: prune replaces tombstones while others read them. */
const READ_TRIES = 5;

/** Reason of a mark for packs that were damaged and whose needed content was stored anew. */
export const REPAIRED = 'repaired';

/**
 * Reason of a mark for damaged packs. Nothing relies on them, and they stay while a snapshot needs chunks that no other
 * pack holds.
 */
export const DAMAGED = 'damaged';

function repairedPacks(tombstones: Tombstones): ReadonlySet<string> {
  return packsMarked(tombstones, REPAIRED);
}

export function damagedPacks(tombstones: Tombstones): ReadonlySet<string> {
  return packsMarked(tombstones, DAMAGED);
}

/** Packs in which damage was found. Such a mark is never taken back, so that nothing relies on them again. */
export function unsoundPacks(tombstones: Tombstones): ReadonlySet<string> {
  return new Set([...damagedPacks(tombstones), ...repairedPacks(tombstones)]);
}

/** Whether the tombstone marks packs as damaged or repaired. */
export function isOfUnsound({ kind, reason }: TombstoneRecord): boolean {
  return kind === 'packs' && (reason === REPAIRED || reason === DAMAGED);
}

/** Sets of names of packs: a chunk is located in packs of a later set only where no others hold it. */
export type LastPacks = readonly ReadonlySet<string>[];

/**
 * The packs to be used last: first those marked for deletion, which are sound, then those with damage.
 * @param unsound further packs in which damage was found
 */
export function lastPacks(tombstones: Tombstones, unsound: Iterable<string> = []): LastPacks {
  return [tombstones.packs, new Set([...unsoundPacks(tombstones), ...unsound])];
}

/**
 * The highest fence, an epoch of the prune lease, among the tombstones. Implausibly high ones are ignored: they come
 * from a prune that followed a planted lease.
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

/** The places in their chains of the snapshots and tombstones that these tombstones name, as far as they state them. */
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
      // Unknown keys are fetched first, since a writer that ignored such a tombstone could rely on a pack that is about
      // to be deleted.
      const read = bytes;
      const open = (): Omit<Tombstone, 'storedMs'> => openTombstone(repository, read, name);
      all.push({ ...(await repository.withKeys(open, signal)), storedMs: modifiedMs });
    } catch (error) {
      const damage = damageTo(error);
      // An error in transfer proves nothing about the tombstone, which may name objects that are about to be deleted.
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

/**
 * Whether the object is certainly no tombstone. Not certain are an object that opens but cannot be decoded, which may
 * be by a newer program, and one under an unknown generation, which may be by anybody.
 */
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
  // The signature is checked before anything that the plaintext claims, above all that a newer program is needed.
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
