/** The records of leases, which show that a backup is at work or that somebody prunes. */
import { decodeCborMap, encodeCbor, type CborMap, type RecordReader } from './cbor.ts';
import { MAX_EPOCH, oneOf, requireVersion, type Signed } from './records.ts';

export interface LeaseRecord {
  readonly writer: string;
  readonly nonce: string;
  readonly startedMs: number;
  readonly host: string;
  readonly pid: number;
}

/** The fields that make a lease the right to prune: the administrator signs its epoch and the time at which it is stored. */
export interface PruneRight {
  readonly epoch: number;
  /** What the storage's clock should show when the lease is stored. */
  readonly seenMs: number;
}

export function encodeLease(lease: LeaseRecord): Buffer {
  return encodeCbor(leaseMap(lease));
}

export function leaseMap(lease: LeaseRecord, right?: PruneRight): CborMap {
  return {
    v: 1,
    writer: Buffer.from(lease.writer, 'hex'),
    nonce: Buffer.from(lease.nonce, 'hex'),
    started: lease.startedMs,
    host: lease.host,
    pid: lease.pid,
    ...(right === undefined ? {} : { purpose: 'prune', epoch: right.epoch, seen: right.seenMs }),
  };
}

export function decodeLease(bytes: Buffer, object: string): LeaseRecord {
  return leaseOf(decodeCborMap(bytes, object));
}

function leaseOf(map: RecordReader): LeaseRecord {
  requireVersion(map);
  return {
    writer: map.bytes('writer', 16).toString('hex'),
    nonce: map.bytes('nonce', 8).toString('hex'),
    startedMs: map.integer('started'),
    host: map.text('host'),
    pid: map.integer('pid'),
  };
}

/** @throws {RepositoryError} CORRUPT_DATA when the lease is not signed, as those of previews of 0.1 */
export function decodePruneLease(bytes: Buffer, object: string): Signed<LeaseRecord & PruneRight> {
  const map = decodeCborMap(bytes, object);
  const right = { epoch: map.integer('epoch', 1, MAX_EPOCH), seenMs: map.integer('seen') };
  oneOf(map, 'purpose', ['prune'] as const);
  return {
    record: { ...leaseOf(map), ...right },
    signed: map.encodedWithout('signature'),
    signature: map.bytes('signature', 64),
  };
}
