import { DestinationError, corrupt } from '../base/errors.ts';
import type { Destination } from '../destination/destination.ts';
import { OBJECT_TYPES } from '../format/header.ts';
import {
  decodeChainContext,
  decodeHead,
  encodeChainContext,
  encodeHead,
  type ChainPosition,
} from '../format/records.ts';
import { openObject, sealObject } from './objects.ts';
import type { Repository } from './repository.ts';

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

/**
 * Stores the next record of this writer's chain, and then the head. Nothing else may extend the chain meanwhile, and
 * that a record is about to be stored is noted before: two records with one number would look like a fork.
 *
 * @param seal makes the record for its place in the chain
 * @param live the number of this writer's live snapshots once it is stored
 */
export async function appendRecord(
  repository: Repository,
  seal: (position: ChainPosition) => SealedRecord,
  live: number,
  signal: AbortSignal,
): Promise<{ position: ChainPosition; name: string }> {
  const { destination, writer } = repository;
  const append = async (): Promise<{ position: ChainPosition; name: string }> => {
    await settleAnnounced(repository, signal);
    const position = nextPosition(repository);
    const { key, name, bytes } = seal(position);
    await writer.remember({ announced: { seq: position.seq, record: name, key } });
    await destination.put(key, bytes, signal);
    await advanceChain(repository, position, name, live, signal);
    return { position, name };
  };
  return await writer.exclusively(append, signal);
}

/** A run that died may have stored the record it had announced, or not. */
async function settleAnnounced({ destination, writer }: Repository, signal: AbortSignal): Promise<void> {
  const { announced, seq } = writer.memory;
  if (announced === undefined) return;
  const stored = announced.seq > seq && (await isStored(destination, announced.key, signal));
  await writer.remember({
    ...(stored ? { seq: announced.seq, prev: announced.record } : {}),
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
 * After a record is stored: remembers it and writes the head. The record alone is the commit; a head that could not be
 * written is made good by the next one.
 */
async function advanceChain(
  repository: Repository,
  position: ChainPosition,
  record: string,
  live: number,
  signal: AbortSignal,
): Promise<void> {
  await repository.writer.remember({ seq: position.seq, prev: record, announced: undefined });
  try {
    await putHead(repository, position, { record, live }, signal);
  } catch (error) {
    // The record stands: whoever was told of a failure would make it a second time. A head that is there already means
    // that somebody else writes as this writer.
    if (!(error instanceof DestinationError) || error.kind === 'exists') throw error;
  }
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
    await repository.destination.delete(`${prefix}${headNumber(seq)}`, signal);
}

/**
 * Numbers of the heads that are not kept any more: the one that falls out now, and now and then some of those that runs
 * which were broken off have left.
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
  readonly chain: ChainPosition;
  readonly record: string;
  readonly live: number;
}

/**
 * The newest head of every writer.
 * @throws {RepositoryError} CORRUPT_DATA when one is damaged, or an older one stands in its place
 */
export async function readNewestHeads(repository: Repository, signal: AbortSignal): Promise<Head[]> {
  const newest = new Map<string, number>();
  for await (const page of repository.destination.list('heads/', signal)) {
    for (const { key } of page) {
      const match = /^heads\/([0-9a-f]{32})\/(\d{16})$/.exec(key);
      const writer = match?.[1];
      const seq = Number(match?.[2]);
      if (writer !== undefined) newest.set(writer, Math.max(seq, newest.get(writer) ?? 0));
    }
  }
  const heads: Head[] = [];
  for (const [writer, seq] of newest) {
    const key = `heads/${writer}/${headNumber(seq)}`;
    let bytes: Buffer;
    try {
      bytes = await repository.destination.get(key, undefined, signal);
    } catch (error) {
      // Another process may have trimmed this head between the list and the read; a newer one then stands.
      if (error instanceof DestinationError && error.kind === 'not-found') continue;
      throw error;
    }
    const { context, plaintext } = openObject(repository.keys, OBJECT_TYPES.head, bytes, key);
    const chain = decodeChainContext(context);
    if (chain.writer !== writer || chain.seq !== seq) throw corrupt(key, 'it stands under another key');
    heads.push({ chain, ...decodeHead(plaintext, key) });
  }
  return heads;
}

function headNumber(seq: number): string {
  return String(seq).padStart(16, '0');
}
