import { DestinationError, RepositoryError } from '../base/errors.ts';
import { OBJECT_TYPES } from '../format/header.ts';
import { decodeSnapshot, type ChainPosition } from '../format/records.ts';
import { openObject } from './objects/objects.ts';
import type { Repository } from './repository.ts';
import type { ForeignRecord } from './writer-state.ts';

/** Finds out, as far as it can be read, who wrote a record as this writer on another machine, and when. */
export async function describeForeign(
  repository: Repository,
  { writer, seq }: Pick<ChainPosition, 'writer' | 'seq'>,
  record: string | undefined,
  signal: AbortSignal,
): Promise<ForeignRecord> {
  const unknown = { writer, seq, record: record ?? null, host: null, atMs: null };
  if (record === undefined) return unknown;
  try {
    const key = `snapshots/${record}`;
    const bytes = await repository.destination.get(key, undefined, signal);
    const { plaintext } = openObject(repository.keys, OBJECT_TYPES.snapshot, bytes, key, record);
    const { host, startedMs } = decodeSnapshot(plaintext, key);
    return { ...unknown, host, atMs: startedMs };
  } catch (error) {
    // It may be a tombstone, or a snapshot that prune has removed meanwhile; all that matters is that the record existed.
    if (!(error instanceof DestinationError) && !(error instanceof RepositoryError)) throw error;
    return unknown;
  }
}

/** The warning for the user. */
export function foreignText({ seq, record, host, atMs }: ForeignRecord): string {
  const what = record === null ? 'a record' : `snapshot ${record.slice(0, 8)}`;
  const by = host === null ? '' : ` of host ${host}`;
  const at = atMs === null ? '' : ` from ${new Date(atMs).toISOString()}`;
  return [
    `A copy of this machine's state directory is in use, or an older one was restored: ${what}${by}${at} is record ${seq} of this machine, which did not write it.`,
    'No data is lost: this machine continues under a new identity.',
  ].join(' ');
}
