import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { corrupt } from '../base/errors.ts';
import { waitsToAskAgain } from '../base/waits.ts';
import { OBJECT_TYPES } from '../format/header.ts';
import { decodeLease, encodeLease, leaseMap, type LeaseRecord } from '../format/lease-record.ts';
import { encodeSigned, MAX_EPOCH } from '../format/records.ts';
import { deleteIfAllowed, openRecord, sealObject } from './objects/objects.ts';
import type { Repository } from './repository.ts';

/** Milliseconds. */
export const LEASE_TIMES = Object.freeze({
  heartbeat: 60_000,
  /**
   * A lease whose newest epoch is older than this, by the storage's clock, is dead: four heartbeats may fail. Prune
   * removes dead leases; a backup that wakes up after that long still stores its next epoch.
   */
  expiry: 300_000,
  /** A holder gives up after this time without a heartbeat, one heartbeat before others may take over. */
  giveUp: 240_000,
  /** When wall clock and monotonic clock differ by more than this, the machine was asleep. */
  jump: 60_000,
  /** How long an aborted run still waits while it stores a lease, so that it can remove the lease again. */
  settle: 700,
  /** How long a release waits for the destination; after that the lease expires. */
  release: 10_000,
});

export const PRUNE_PURPOSE = 'prune';
const PRUNE_CODE = 1;
const SESSION_CODE = 2;
const CONTEXT_BYTES = 9;
/** A lease object as the destination shows it. */
export interface StoredLease {
  /** `prune` or `session.<16 hex>`. */
  readonly purpose: string;
  readonly epoch: number;
  /** When the storage received the lease, by its own clock. */
  readonly storedMs: number;
}

/**
 * Keys of leases that are dead whatever their age: those that this process has released but the storage keeps, and
 * those with a time in the future whose holders gave no sign of life within the expiry.
 */
const foundDead = new WeakMap<Repository, Set<string>>();

function addDead(repository: Repository, key: string): void {
  const dead = foundDead.get(repository) ?? new Set();
  dead.add(key);
  foundDead.set(repository, dead);
}

/** Removes a lease that must no longer count. If the storage refuses to delete it, the lease is remembered as dead. */
export async function dropLease(
  repository: Repository,
  { purpose, epoch }: Pick<StoredLease, 'purpose' | 'epoch'>,
  signal: AbortSignal,
): Promise<void> {
  const key = leaseKey(purpose, epoch);
  if (!(await deleteIfAllowed(repository, key, signal))) addDead(repository, key);
}

/** Whether a lease has no living holder. @param nowMs the storage's present time */
export function isDead(
  repository: Repository,
  { purpose, epoch, storedMs }: StoredLease,
  nowMs: number,
): boolean {
  if (nowMs - storedMs > LEASE_TIMES.expiry) return true;
  return foundDead.get(repository)?.has(leaseKey(purpose, epoch)) === true;
}

/**
 * The leases whose holders may be at work. If the storage's clock was ahead and has been corrected, leases have times
 * in the future and their age means nothing. In that case the function waits for one expiry to see which of them get a
 * heartbeat.
 *
 * @param nowMs the storage's present time
 */
export async function aliveOf(
  repository: Repository,
  leases: readonly StoredLease[],
  nowMs: number,
  signal: AbortSignal,
): Promise<readonly StoredLease[]> {
  const left = leases.filter((lease) => !isDead(repository, lease, nowMs));
  const isAhead = ({ storedMs }: StoredLease): boolean => storedMs - nowMs > LEASE_TIMES.expiry;
  if (!left.some(isAhead)) return left;
  const keyOf = ({ purpose, epoch }: StoredLease): string => leaseKey(purpose, epoch);
  const before = new Set((await listLeases(repository, 'leases/', signal)).map(keyOf));
  for (const lease of left) before.add(keyOf(lease));
  const isOver = waitsToAskAgain('other_session', undefined, LEASE_TIMES.expiry);
  try {
    await repository.clock.sleep(LEASE_TIMES.expiry, signal);
  } finally {
    isOver();
  }
  const since = (await listLeases(repository, 'leases/', signal)).filter((one) => !before.has(keyOf(one)));
  const living = new Set(since.map(({ purpose }) => purpose));
  for (const lease of left.filter(isAhead)) if (!living.has(lease.purpose)) addDead(repository, keyOf(lease));
  return left.filter((lease) => !isDead(repository, lease, nowMs));
}

/** The lease objects below `prefix`, by purpose and epoch. */
export async function listLeases(
  repository: Repository,
  prefix: string,
  signal: AbortSignal,
): Promise<StoredLease[]> {
  const leases: StoredLease[] = [];
  for await (const page of repository.destination.list(prefix, signal)) {
    for (const { key, modifiedMs } of page) {
      const parsed = parseLeaseKey(key);
      if (parsed !== undefined) leases.push({ ...parsed, storedMs: modifiedMs });
    }
  }
  return leases.sort((a, b) =>
    a.purpose === b.purpose ? a.epoch - b.epoch : a.purpose < b.purpose ? -1 : 1,
  );
}

export function parseLeaseKey(key: string): { purpose: string; epoch: number } | undefined {
  const match = /^leases\/(prune|session\.[0-9a-f]{16})\/(\d{16})$/.exec(key);
  const purpose = match?.[1];
  const epoch = Number(match?.[2]);
  return purpose === undefined || epoch > MAX_EPOCH ? undefined : { purpose, epoch };
}

export function leaseKey(purpose: string, epoch: number): string {
  return `leases/${purpose}/${String(epoch).padStart(16, '0')}`;
}

/** The first epoch cannot know its own storage time and says 0. */
export function newLeaseRecord(repository: Repository, nonce: string): LeaseRecord {
  return { writer: repository.writer.memory.writer, nonce, startedMs: 0, host: hostname(), pid: process.pid };
}

/**
 * Returns the storage time of the new object.
 * @param seenMs for the right to prune: what the storage's clock should say at this moment
 */
export async function putLease(
  repository: Repository,
  purpose: string,
  epoch: number,
  record: LeaseRecord,
  signal: AbortSignal,
  seenMs = 0,
): Promise<number> {
  const context = leaseContext(purpose, epoch);
  const plaintext =
    purpose === PRUNE_PURPOSE
      ? encodeSigned(leaseMap(record, { epoch, seenMs }), (map) => repository.sign('hf1/lease', map))
      : encodeLease(record);
  const { bytes } = sealObject(repository.keys, OBJECT_TYPES.lease, context, plaintext);
  const { modifiedMs } = await repository.destination.put(leaseKey(purpose, epoch), bytes, signal);
  return modifiedMs;
}

export async function readLease(
  repository: Repository,
  purpose: string,
  epoch: number,
  signal: AbortSignal,
): Promise<LeaseRecord> {
  const bytes = await repository.destination.get(leaseKey(purpose, epoch), undefined, signal);
  return await repository.withKeys(() => openLease(repository, bytes, purpose, epoch), signal);
}

/** @throws {RepositoryError} CORRUPT_DATA when the lease is damaged or belongs under another key */
export function openLease(
  repository: Repository,
  bytes: Buffer,
  purpose: string,
  epoch: number,
): LeaseRecord {
  const object = leaseKey(purpose, epoch);
  const { context, plaintext } = openRecord(repository.keys, OBJECT_TYPES.lease, bytes, object);
  const record = decodeLease(plaintext, object);
  const belongs = purpose === PRUNE_PURPOSE || purpose === `session.${record.nonce}`;
  if (!belongs || !context.equals(leaseContext(purpose, epoch)))
    throw corrupt(object, 'it is stored under another key');
  return record;
}

/** The storage's present time. Only an object that was just written tells it, so one is written and removed again. */
export async function probeStorageClock(repository: Repository, signal: AbortSignal): Promise<number> {
  const session = randomBytes(8).toString('hex');
  const purpose = `session.${session}`;
  const late = lateSignal(signal);
  const storedMs = await putLease(repository, purpose, 1, newLeaseRecord(repository, session), late);
  const { destination } = repository;
  if (destination.properties.canDelete) await dropLease(repository, { purpose, epoch: 1 }, late);
  signal.throwIfAborted();
  return storedMs;
}

/**
 * A signal that aborts a little later than `signal`, so that an object being stored is not left behind for want of a
 * moment.
 */
export function lateSignal(signal: AbortSignal, laterMs: number = LEASE_TIMES.settle): AbortSignal {
  const late = new AbortController();
  const abort = (): void => {
    setTimeout(() => late.abort(signal.reason), laterMs).unref();
  };
  if (signal.aborted) late.abort(signal.reason);
  else signal.addEventListener('abort', abort, { once: true });
  return late.signal;
}

export function leaseContext(purpose: string, epoch: number): Buffer {
  const context = Buffer.alloc(CONTEXT_BYTES);
  context[0] = purpose === PRUNE_PURPOSE ? PRUNE_CODE : SESSION_CODE;
  context.writeBigUInt64BE(BigInt(epoch), 1);
  return context;
}

/** The commit window as a part of the grace period. */
const PART = 1 / 6;

/**
 * The most time, in milliseconds of the storage's clock, that may pass between a run's last check that everything it
 * relies on exists and the commit of its snapshot. A snapshot that is stored later is checked again afterwards, and
 * stays only if all of that still exists.
 */
export function commitWindowMs({ config }: Repository): number {
  return config.graceSeconds * 1_000 * PART + LEASE_TIMES.heartbeat;
}
