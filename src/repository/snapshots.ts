import { corrupt, DestinationError, RepositoryError } from '../base/errors.ts';
import { FULL_KEYS, isFull, type StoredBy } from '../base/stored-by.ts';
import { unknownGeneration } from '../codec/keys.ts';
import { writeOnlyMark } from '../codec/write-only.ts';
import { decodeHeader, OBJECT_TYPES } from '../format/header.ts';
import {
  type ChainPlace,
  type ChainPosition,
  decodeChainContext,
  decodeSnapshot,
  encodeChainContext,
  encodeSnapshot,
  type SnapshotRecord,
} from '../format/records.ts';
import { writersOfKeys } from './chain-view.ts';
import { appendRecord, leaveCopiedIdentity, readNewestHeads, type SealedRecord } from './chain.ts';
import { ForgottenMeanwhile } from './forgotten-meanwhile.ts';
import { getNamed } from './metadata-cache.ts';
import { listNamed } from './objects/listing.ts';
import { damageTo } from './objects/lost-object.ts';
import { type OpenedObject, openObject, sealObject, sha256 } from './objects/objects.ts';
import { mapParallel } from './objects/parallel.ts';
import { putTombstone } from './put-tombstone.ts';
import type { Repository } from './repository.ts';
import { withReserve } from './reserve.ts';
import { inOrderOfRuns, runPlace } from './run-order.ts';
import { asToldByWriteOnlyKey, storedByKey, storedWith, withoutJob } from './told-record.ts';
import { readTombstones, type Tombstones } from './tombstones.ts';

export interface Snapshot {
  /** SHA-256 of the stored object; people see the first 8 digits. */
  readonly id: string;
  readonly record: SnapshotRecord;
  readonly chain: ChainPosition;
  /** Key generation under which the snapshot is sealed. */
  readonly generation: number;
  /** Which keys stored the snapshot first, even if another host has stored it again or copied it since. */
  readonly storedBy: StoredBy;
  /** When the storage first received the snapshot, by its own clock. Known only for listed snapshots of write-only keys. */
  readonly storedMs?: number | undefined;
}

export interface CommittedSnapshot extends Snapshot {
  /** When the snapshot was stored, by the storage's clock. */
  readonly storedMs: number;
}

/** The distinct salts of snapshots whose chunk ids have keys of their own. */
export function saltsOf(snapshots: readonly Snapshot[]): Buffer[] {
  const salts = snapshots.flatMap(({ record }) => record.salt ?? []);
  return [...new Map(salts.map((salt) => [salt.toString('hex'), salt])).values()];
}

export interface DamagedSnapshot {
  readonly id: string;
  readonly error: RepositoryError;
  /**
   * Number of the write-only key that sealed the object: set when its bytes match its name, so that no other key can
   * have made it.
   */
  readonly sealedBy?: number | undefined;
}

export interface SnapshotList {
  /** Live snapshots in the order in which they were made, oldest first. */
  readonly live: readonly Snapshot[];
  /** Snapshot objects that could not be read. Each stops prune, unless a write-only key in use sealed it. */
  readonly damaged: readonly DamagedSnapshot[];
  /** Snapshot objects that are tombstoned but still stored. */
  readonly forgotten: readonly string[];
  readonly tombstones: Tombstones;
}

/** Snapshots with more errors than this are not kept in memory: they cost more memory than reading them again is worth. */
const REMEMBERED_ERRORS = 100;
/**
 * Live snapshots as last listed, by id, for each open repository. An id is the digest of the stored bytes, so entries
 * cannot go stale.
 */
const remembered = new WeakMap<Repository, ReadonlyMap<string, Snapshot>>();

/**
 * Lists every snapshot of the repository. With `remembered`, snapshots that were read before are not read again; this
 * suits a backup, which need not notice later damage to them.
 */
export async function listSnapshots(
  repository: Repository,
  signal: AbortSignal,
  options: { readonly remembered?: boolean } = {},
): Promise<SnapshotList> {
  repository.requireReading();
  const known = options.remembered === true ? remembered.get(repository) : undefined;
  const tombstones = await readTombstones(repository, signal);
  const { destination } = repository;
  const objects = await listNamed(destination, 'snapshots/', signal);
  const listed = [...objects.keys()];
  const forgotten = listed.filter((id) => tombstones.snapshots.has(id));
  const standing = listed.filter((id) => !tombstones.snapshots.has(id));
  const damaged: DamagedSnapshot[] = [];
  const read = await mapParallel(standing, destination.properties.maxParallel, async (id) => {
    try {
      return known?.get(id) ?? (await readSnapshot(repository, id, signal));
    } catch (error) {
      const damage = damageTo(error);
      if (damage === undefined) throw error;
      const { sealedBy } = damage.details;
      damaged.push({ id, error: damage, ...(typeof sealedBy === 'number' ? { sealedBy } : {}) });
      return undefined;
    }
  });
  const standingMs = ({ id }: Snapshot): number | undefined => objects.get(id)?.modifiedMs;
  const there = read
    .filter((one) => one !== undefined)
    .map((one) =>
      isFull(one.storedBy) || one.storedMs !== undefined ? one : { ...one, storedMs: standingMs(one) },
    );
  const live = inOrderOfRuns(there, standingMs);
  if (options.remembered === true) {
    const kept = live.filter(({ record }) => record.errors.length <= REMEMBERED_ERRORS);
    remembered.set(repository, new Map(kept.map((one) => [one.id, one])));
  }
  return { live, damaged, forgotten, tombstones };
}

/** @throws {RepositoryError} SNAPSHOT_NOT_FOUND, CORRUPT_DATA */
export async function readSnapshot(
  repository: Repository,
  id: string,
  signal: AbortSignal,
): Promise<Snapshot> {
  repository.requireReading();
  let bytes: Buffer;
  try {
    bytes = await getNamed(repository, 'snapshots/', id, signal);
  } catch (error) {
    if (!(error instanceof DestinationError) || error.kind !== 'not-found') throw error;
    throw new RepositoryError('SNAPSHOT_NOT_FOUND', `There is no snapshot ${id}`, { cause: error });
  }
  try {
    return await openSnapshot(repository, bytes, id, signal);
  } catch (error) {
    const key = unknownGeneration(error) === undefined ? keyThatSealed(bytes, id) : undefined;
    if (!(error instanceof RepositoryError) || key === undefined) throw error;
    const { code, message, hint, details } = error;
    throw new RepositoryError(code, message, { hint, details: { ...details, sealedBy: key }, cause: error });
  }
}

/**
 * Number of the write-only key that sealed a snapshot, from its header. Undefined for full keys, and when the bytes do
 * not match the id, since the header can then not be trusted.
 */
function keyThatSealed(bytes: Buffer, id: string): number | undefined {
  try {
    const { sealedBy } = decodeHeader(bytes, `snapshot ${id}`);
    return sealedBy !== 0 && sha256(bytes) === id ? sealedBy : undefined;
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    return undefined;
  }
}

async function openSnapshot(
  repository: Repository,
  bytes: Buffer,
  id: string,
  signal: AbortSignal,
): Promise<Snapshot> {
  const object = `snapshot ${id}`;
  const open = (): OpenedObject => openObject(repository.keys, OBJECT_TYPES.snapshot, bytes, object, id);
  const { context, generation, plaintext, sealedBy } = await repository.withKeys(open, signal);
  const told = decodeSnapshot(plaintext, object);
  const facts = { id, chain: decodeChainContext(context, object), generation };
  if (sealedBy === 0) {
    const { writeOnly } = told;
    if (writeOnly === undefined) return { ...facts, record: told, storedBy: FULL_KEYS };
    const storedBy = storedByKey(repository.keyring, writeOnly.number, told.salt);
    return { ...facts, record: withoutJob(told), storedBy, storedMs: writeOnly.storedMs };
  }
  const { salt } = writeOnlyMark(repository.keys.repository, sealedBy);
  if (told.plain || told.salt?.equals(salt) !== true)
    throw corrupt(object, 'the write-only key that sealed it is not allowed to use the chunks that it names');
  return {
    ...facts,
    record: asToldByWriteOnlyKey(told),
    storedBy: storedByKey(repository.keyring, sealedBy, salt),
  };
}

/**
 * Stores a snapshot: the commit point of a backup. Returns it with its id.
 * @param live the number of this writer's live snapshots once the snapshot is stored
 * @param look called immediately before the snapshot is stored; if it throws, nothing is stored
 */
export async function commitSnapshot(
  repository: Repository,
  record: SnapshotRecord,
  { live, look }: { readonly live: number; readonly look?: () => Promise<void> },
  signal: AbortSignal,
): Promise<CommittedSnapshot> {
  const plaintext = encodeSnapshot(record);
  if (plaintext.length > 16 * 1024 * 1024)
    throw corrupt('the new snapshot', 'its record is larger than 16 MiB');
  // Refuses to store a record that no reader would accept.
  decodeSnapshot(plaintext, 'the new snapshot');
  let stored: SealedRecord | undefined;
  let { generation } = repository.keys;
  const seal = (position: ChainPosition): SealedRecord => {
    const context = encodeChainContext(position);
    const sealed = sealObject(repository.keys, OBJECT_TYPES.snapshot, context, plaintext);
    generation = repository.keys.generation;
    stored = { ...sealed, key: `snapshots/${sealed.name}` };
    return stored;
  };
  const { position, name, storedMs } = await appendRecord(repository, seal, { live, look }, signal);
  if (stored?.name === name) repository.cache.keep(stored.key, stored.bytes);
  return {
    id: name,
    record,
    chain: position,
    generation,
    storedBy: storedWith(repository.keyring, record),
    storedMs,
  };
}

/**
 * Marks snapshots as forgotten. They vanish from every list; prune removes them and their data after the grace period.
 * Snapshots that cannot be read may be named, too, to give them up.
 *
 * @param countingOn ids of snapshots that must remain: if another host has forgotten one of them meanwhile, nothing is
 * forgotten
 * @throws {RepositoryError} REPOSITORY_LOCKED when a snapshot of `countingOn` is gone
 */
export async function forgetSnapshots(
  repository: Repository,
  ids: readonly string[],
  reason: string,
  signal: AbortSignal,
  { countingOn = [] }: { readonly countingOn?: readonly string[] } = {},
): Promise<void> {
  if (ids.length === 0) return;
  await withReserve(
    repository,
    async () => await forget(repository, ids, { reason, countingOn }, signal),
    signal,
  );
}

async function forget(
  repository: Repository,
  ids: readonly string[],
  { reason, countingOn }: { readonly reason: string; readonly countingOn: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const forgotten = new Set(ids);
  const list = await listSnapshots(repository, signal);
  const meanwhile = new ForgottenMeanwhile(repository, list.tombstones);
  const look = async (): Promise<void> => {
    const gone = countingOn.length === 0 ? [] : await meanwhile.allOf(countingOn, signal);
    // A snapshot that got other tags was stored again under a new id, so its data is still held.
    const lost = gone.find((id) => !meanwhile.isReplaced(id));
    if (lost !== undefined) throw countedOnAndGone(lost);
  };
  await look();
  const { live } = list;
  const chains = new Map<string, ChainPlace>(live.map(({ id, chain }) => [id, chain]));
  const isRead = ids.every((id) => chains.has(id));
  const others = isRead ? chains : await knownPlaces(repository, list, signal);
  const places = ids.map((id) => chains.get(id) ?? others.get(id));
  const atMs = repository.clock.now();
  const record = { kind: 'snapshots' as const, names: ids, places, reason, atMs, fence: 0 };
  await leaveCopiedIdentity(repository, live, signal);
  const { writer } = repository.writer.memory;
  const own = live.filter((one) => one.chain.writer === writer && !forgotten.has(one.id)).length;
  await putTombstone(repository, record, { live: own, look }, signal);
}

function countedOnAndGone(id: string): RepositoryError {
  return new RepositoryError(
    'REPOSITORY_LOCKED',
    `Somebody else removed snapshot ${id}, which was to be kept`,
    { hint: 'Nothing was removed because of it. Run this again.', retry: 'later' },
  );
}

/**
 * The `writeOnly` field for a record that stands for this snapshot: which write-only key stored the snapshot first, and
 * when. Without it a full key would vouch for whatever the holder of the write-only key claims.
 *
 * @param nowMs used where the time at which the storage received the snapshot is not known
 */
export function writeOnlyOrigin(
  { storedBy, storedMs }: Snapshot,
  nowMs: number,
): SnapshotRecord['writeOnly'] {
  return isFull(storedBy) ? undefined : { number: storedBy.number, storedMs: storedMs ?? nowMs };
}

/** The record with which a snapshot is stored again under a new id. @param nowMs as for `writeOnlyOrigin` */
export function recordAgain(snapshot: Snapshot, nowMs: number): SnapshotRecord {
  const { id, record } = snapshot;
  const run = runPlace(snapshot);
  return { ...record, original: record.original ?? id, run, writeOnly: writeOnlyOrigin(snapshot, nowMs) };
}

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
