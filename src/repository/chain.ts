import { corrupt, DestinationError, isAbort, RepositoryError, StateError } from '../base/errors.ts';
import type { Destination } from '../destination/destination.ts';
import { OBJECT_TYPES } from '../format/header.ts';
import {
  type ChainPlace,
  type ChainPosition,
  decodeChainContext,
  decodeHead,
  encodeChainContext,
  encodeHead,
} from '../format/records.ts';
import { deleteIfAllowed, type OpenedObject, openRecord, sealObject } from './objects/objects.ts';
import { describeForeign } from './foreign-record.ts';
import { lateSignal } from './lease-objects.ts';
import { damageTo } from './objects/lost-object.ts';
import { mapParallel } from './objects/parallel.ts';
import { rememberSeen } from './remember-seen.ts';
import type { Repository } from './repository.ts';
import { readTombstones } from './tombstones.ts';

/** How many heads of a writer are kept. */
const HEADS_KEPT = 64;

/** Where this writer's next record goes. */
function nextPosition(repository: Repository): ChainPosition {
  const { writer, seq, prev } = repository.writer.memory;
  return { writer, seq: seq + 1, prev };
}

/** A record of a chain, ready to be stored. */
export interface SealedRecord {
  readonly key: string;
  /** SHA-256 of the bytes. */
  readonly name: string;
  readonly bytes: Buffer;
}

export interface Appended {
  readonly position: ChainPosition;
  readonly name: string;
  /** When the record was stored, by the storage's clock. */
  readonly storedMs: number;
}

/**
 * Stores the next record of this writer's chain, then its head. This runs exclusively, and the record is announced in
 * the writer's memory before it is stored, since two records with one number would look like a fork. A ring that power
 * loss could still take is made durable first: without its keys the record would be lost.
 *
 * @param seal makes the record for its place in the chain
 * @param live the number of this writer's live snapshots once the record is stored
 * @param look called immediately before the record is stored; if it throws, nothing is stored
 */
export async function appendRecord(
  repository: Repository,
  seal: (position: ChainPosition) => SealedRecord,
  { live, look }: { readonly live: number; readonly look?: (() => Promise<void>) | undefined },
  signal: AbortSignal,
): Promise<Appended> {
  const { destination, writer } = repository;
  const append = async (): Promise<Appended> => {
    await settleAnnounced(repository, signal);
    // Does nothing unless the ring could not be made durable when the repository was opened.
    await rememberSeen(destination, writer, { ring: repository.ringNumber }, signal);
    const position = nextPosition(repository);
    const { key, name, bytes } = seal(position);
    await writer.remember({ announced: { seq: position.seq, record: name, key } });
    await look?.();
    const { modifiedMs } = await destination.put(key, bytes, signal);
    await advanceChain(repository, position, name, live, signal);
    return { position, name, storedMs: modifiedMs };
  };
  return await writer.exclusively(append, signal);
}

/**
 * Call this before appending a record, with the live snapshots. If one of them has this writer's id and a higher number
 * than this host remembers, a copy of its state is in use elsewhere; this host then goes on as a new writer, so that no
 * number is given twice.
 */
export async function leaveCopiedIdentity(
  repository: Repository,
  live: readonly { readonly id: string; readonly chain: ChainPosition }[],
  signal: AbortSignal,
): Promise<void> {
  const { writer } = repository;
  const newer = ({ chain }: { readonly chain: ChainPosition }): boolean =>
    chain.writer === writer.memory.writer && chain.seq > writer.memory.seq;
  // First compare with the memory of this process. Another process of this host may have appended since, so `leave`
  // looks again under the lock.
  if (!live.some(newer)) return;
  const leave = async (): Promise<void> => {
    await settleAnnounced(repository, signal);
    const foreign = live.findLast(newer);
    if (foreign === undefined) return;
    await writer.becomeAnother(await describeForeign(repository, foreign.chain, foreign.id, signal));
  };
  await writer.exclusively(leave, signal);
}

/** Finds out whether the record that a run announced before it died was stored. Other hosts may have removed it since. */
async function settleAnnounced(repository: Repository, signal: AbortSignal): Promise<void> {
  const { destination, writer } = repository;
  const { announced, seq } = writer.memory;
  if (announced === undefined) return;
  const isNew = announced.seq > seq;
  const stands = isNew && (await isStored(destination, announced.key, signal));
  // The next record names this one as its predecessor, so it must survive power loss.
  if (stands) await destination.makeDurable?.([announced.key], signal);
  // A record is named by a tombstone before it is removed, so a tombstoned record was stored and its number is used up.
  const counts =
    stands || (isNew && (await readTombstones(repository, signal)).snapshots.has(announced.record));
  await writer.remember({
    ...(counts ? { seq: announced.seq, prev: announced.record } : {}),
    announced: undefined,
  });
}

async function isStored(destination: Destination, key: string, signal: AbortSignal): Promise<boolean> {
  try {
    await destination.stat(key, signal);
    return true;
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'not-found') return false;
    throw error;
  }
}

/**
 * Remembers a record that was just stored and writes its head. The record alone is the commit; if one of these steps
 * fails, the next run makes up for it.
 */
async function advanceChain(
  repository: Repository,
  position: ChainPosition,
  record: string,
  live: number,
  signal: AbortSignal,
): Promise<void> {
  // Failures from here on are not reported, since the caller would store the record a second time.
  try {
    await repository.writer.remember({ seq: position.seq, prev: record, announced: undefined });
  } catch (error) {
    // The record was announced, so the next run finds out that it is stored.
    if (!(error instanceof StateError)) throw error;
  }
  // An abort at this moment still leaves time to write the head of the record.
  const late = lateSignal(signal);
  try {
    await putHead(repository, position, { record, live }, late);
  } catch (error) {
    // The reason of an abort may be any error, such as a lost lease.
    if (isAbort(error) || late.aborted) return;
    if (!(error instanceof DestinationError)) throw error;
    if (error.kind === 'exists') await settleTakenNumber(repository, position, record, late);
  }
}

/** Handles a head that exists already: unless it is our own, somebody else writes as this writer. */
async function settleTakenNumber(
  repository: Repository,
  { writer, seq }: ChainPosition,
  record: string,
  signal: AbortSignal,
): Promise<void> {
  const key = `heads/${writer}/${headNumber(seq)}`;
  let other: string | undefined;
  try {
    other = (await readHead(repository, key, signal)).record;
  } catch (error) {
    // An unreadable head does not affect either record; check reports a damaged one.
    if (!(error instanceof DestinationError) && !(error instanceof RepositoryError)) throw error;
    // Anyone who may add objects can plant an object that no key opens, so damage proves nothing. REFUSED means that
    // this is a write-only key, which cannot tell.
    if (error instanceof RepositoryError && error.code !== 'REFUSED') return;
  }
  if (other === record) return;
  await repository.writer.becomeAnother(await describeForeign(repository, { writer, seq }, other, signal));
}

async function putHead(
  repository: Repository,
  position: ChainPosition,
  head: { readonly record: string; readonly live: number },
  signal: AbortSignal,
): Promise<void> {
  const { bytes } = sealObject(
    repository.keys,
    OBJECT_TYPES.head,
    encodeChainContext(position),
    encodeHead(head),
  );
  const prefix = `heads/${position.writer}/`;
  await repository.destination.put(`${prefix}${headNumber(position.seq)}`, bytes, signal);
  if (!repository.destination.properties.canDelete) return;
  for (const seq of await outdatedHeads(repository, prefix, position.seq, signal))
    await deleteIfAllowed(repository, `${prefix}${headNumber(seq)}`, signal);
}

/**
 * Numbers of the heads that are due for deletion: normally the one that `newest` displaces, and every `HEADS_KEPT`
 * records also older ones that interrupted runs left behind.
 */
async function outdatedHeads(
  { destination }: Repository,
  prefix: string,
  newest: number,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const oldest = newest - HEADS_KEPT + 1;
  if (oldest <= 1) return [];
  if (newest % HEADS_KEPT !== 0) return [oldest - 1];
  const outdated: number[] = [];
  for await (const page of destination.list(prefix, signal)) {
    for (const { key } of page) {
      const number = key.slice(prefix.length);
      if (/^\d{16}$/.test(number) && Number(number) < oldest) outdated.push(Number(number));
    }
  }
  return outdated.slice(0, HEADS_KEPT);
}

export interface Head {
  readonly chain: ChainPlace;
  /** Undefined where the head cannot be read: its key still shows that there was such a record. */
  readonly record: string | undefined;
  readonly live: number | undefined;
}

/**
 * The newest head of every writer. A head that is damaged, or was replaced by an older one, does not fail the call: its
 * writer may be gone and never store another. Such a head is returned with the place that its key states.
 */
export async function readNewestHeads(repository: Repository, signal: AbortSignal): Promise<Head[]> {
  const newest = new Map<string, number>();
  for await (const page of repository.destination.list('heads/', signal)) {
    for (const { key } of page) {
      const place = headPlace(key);
      if (place !== undefined) newest.set(place.writer, Math.max(place.seq, newest.get(place.writer) ?? 0));
    }
  }
  return await readHeads(
    repository,
    [...newest].map(([writer, seq]) => ({ writer, seq })),
    signal,
  );
}

/**
 * Reads heads beyond the known numbers by name. A list may lag behind what is stored, and one that hides a new record
 * hides its head as well.
 *
 * @param known the highest number of every writer
 */
export async function readLaterHeads(
  repository: Repository,
  known: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<readonly Head[]> {
  const { maxParallel } = repository.destination.properties;
  const found = await mapParallel(known, maxParallel, async ([writer, seq]) => {
    const later: Head[] = [];
    // Writers keep no more heads than this; the limit holds against a storage that makes up objects.
    while (later.length < HEADS_KEPT) {
      const [head] = await readHeads(repository, [{ writer, seq: seq + later.length + 1 }], signal);
      if (head === undefined) break;
      later.push(head);
    }
    return later;
  });
  return found.flat();
}

/** Every stored head, including older ones: they give the names of records that are gone. */
export async function readAllHeads(repository: Repository, signal: AbortSignal): Promise<readonly Head[]> {
  const places: ChainPlace[] = [];
  for await (const page of repository.destination.list('heads/', signal))
    places.push(...page.map(({ key }) => headPlace(key)).filter((place) => place !== undefined));
  return await readHeads(repository, places, signal);
}

async function readHeads(
  repository: Repository,
  places: readonly ChainPlace[],
  signal: AbortSignal,
): Promise<Head[]> {
  const heads: Head[] = [];
  for (const { writer, seq } of places) {
    const key = `heads/${writer}/${headNumber(seq)}`;
    try {
      heads.push(await readHead(repository, key, signal));
    } catch (error) {
      // Another process may have deleted this head since it was listed; a newer one exists then.
      if (error instanceof DestinationError && error.kind === 'not-found') continue;
      // Any damage, NEWER_FORMAT included: anyone can store a head that claims to need a newer program.
      if (damageTo(error) === undefined) throw error;
      heads.push({ chain: { writer, seq }, record: undefined, live: undefined });
    }
  }
  return heads;
}

/**
 * The place that the key of a head states; undefined for any other key. Records count from 1, so what stands under 0 is
 * no head: nobody could give up the record that it tells of.
 */
export function headPlace(key: string): ChainPlace | undefined {
  const [, writer, seq] = /^heads\/([0-9a-f]{32})\/(\d{16})$/.exec(key) ?? [];
  return writer === undefined || Number(seq) === 0 ? undefined : { writer, seq: Number(seq) };
}

/** Whether a head can be read. Undefined when it is gone by now, or its damage is not CORRUPT_DATA. */
export async function canReadHead(
  repository: Repository,
  key: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  try {
    await readHead(repository, key, signal);
    return true;
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'not-found') return undefined;
    const damage = damageTo(error);
    if (damage === undefined) throw error;
    return damage.code === 'CORRUPT_DATA' ? false : undefined;
  }
}

/** @throws {RepositoryError} CORRUPT_DATA when the head is damaged, or belongs under another key */
async function readHead(repository: Repository, key: string, signal: AbortSignal): Promise<Head> {
  const bytes = await repository.destination.get(key, undefined, signal);
  const open = (): OpenedObject => openRecord(repository.keys, OBJECT_TYPES.head, bytes, key);
  const { context, plaintext } = await repository.withKeys(open, signal);
  const chain = decodeChainContext(context, key);
  if (key !== `heads/${chain.writer}/${headNumber(chain.seq)}`)
    throw corrupt(key, 'it is stored under another key');
  return { chain, ...decodeHead(plaintext, key) };
}

function headNumber(seq: number): string {
  return String(seq).padStart(16, '0');
}
