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
import { listNumbered } from './listing.ts';
import { openObject, sealObject } from './objects.ts';
import type { Repository } from './repository.ts';

/** How many heads of a writer are kept. */
const HEADS_KEPT = 64;

/** Where this writer's next record goes. */
export function nextPosition(repository: Repository): ChainPosition {
  const { writer, seq, prev } = repository.writer.memory;
  return { writer, seq: seq + 1, prev };
}

/**
 * Where this writer's next record goes, once it is known whether the last one that was announced was stored: two
 * records with one number would look like a fork.
 */
export async function claimPosition(repository: Repository, signal: AbortSignal): Promise<ChainPosition> {
  const { destination, writer } = repository;
  const { announced } = writer.memory;
  if (announced !== undefined) {
    const stored = await isStored(destination, announced.key, signal);
    const found = stored && announced.seq > writer.memory.seq;
    await writer.remember({
      ...(found ? { seq: announced.seq, prev: announced.record } : {}),
      announced: undefined,
    });
  }
  return nextPosition(repository);
}

/** Stores a record of the chain under a key that its name is part of, after it was noted that this will be done. */
export async function putRecord(
  repository: Repository,
  position: ChainPosition,
  object: { readonly key: string; readonly name: string; readonly bytes: Buffer },
  signal: AbortSignal,
): Promise<void> {
  const { key, name, bytes } = object;
  await repository.writer.remember({ announced: { seq: position.seq, record: name, key } });
  await repository.destination.put(key, bytes, signal);
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
export async function advanceChain(
  repository: Repository,
  position: ChainPosition,
  record: string,
  live: number,
  signal: AbortSignal,
): Promise<void> {
  await repository.writer.remember({ seq: position.seq, prev: record, announced: undefined });
  const { bytes } = sealObject(
    repository.keys,
    OBJECT_TYPES.head,
    encodeChainContext(position),
    encodeHead({ record, live }),
  );
  const prefix = `heads/${position.writer}/`;
  await repository.destination.put(`${prefix}${headNumber(position.seq)}`, bytes, signal);
  if (!repository.destination.properties.canDelete) return;
  const old = (await listNumbered(repository.destination, prefix, signal)).slice(0, -HEADS_KEPT);
  for (const seq of old) await repository.destination.delete(`${prefix}${headNumber(seq)}`, signal);
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
