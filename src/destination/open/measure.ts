/** Measures how fast a destination stores and reads, and how far its clock is off. Leaves nothing behind. */
import { randomBytes } from 'node:crypto';
import { DestinationError, isAbort } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import type { Destination } from '../destination.ts';

export interface Measured {
  /** Bytes a second; null where it was not measured, or took too long. */
  readonly writeSpeed: number | null;
  readonly readSpeed: number | null;
  /** Seconds that the destination's clock is ahead of ours, negative when behind; null where that cannot be told. */
  readonly clockSkewSeconds: number | null;
}

export const UNMEASURED: Measured = { writeSpeed: null, readSpeed: null, clockSkewSeconds: null };

/** Stored first, to find out how much can be stored in the time available. */
const FIRST_BYTES = 256 * 1024;
const MOST_BYTES = 8 * 1024 ** 2;
/** Milliseconds that storing and reading should take each. */
const AIM_MS = 2_000;
/** Milliseconds after which measuring a slow place is given up. */
const PATIENCE_MS = 20_000;
/** Milliseconds that removing the objects may take. */
const REMOVE_MS = 10_000;

/**
 * Stores and reads up to 8 MiB, as much as takes about two seconds. What fails or takes too long is left unmeasured.
 * Nothing is tried where it could not be removed again.
 * @throws the signal's reason when that aborts
 */
export async function measureDestination(
  destination: Destination,
  clock: Clock,
  signal: AbortSignal,
): Promise<Measured> {
  const { canDelete, keepsDeleted, retainDays } = destination.properties;
  if (!canDelete || keepsDeleted !== undefined || retainDays !== undefined) return UNMEASURED;
  const prefix = `probe-${randomBytes(8).toString('hex')}`;
  const patience = new AbortController();
  const waiting = new AbortController();
  void clock.sleep(PATIENCE_MS, waiting.signal).then(
    () => patience.abort(),
    () => undefined,
  );
  const limited = AbortSignal.any([signal, patience.signal]);
  let measured = UNMEASURED;
  try {
    const first = await timedPut(destination, `${prefix}-s`, FIRST_BYTES, clock, limited);
    measured = { ...measured, clockSkewSeconds: skewOf(first) };
    const bytes = Math.round(Math.min(MOST_BYTES, Math.max(FIRST_BYTES, (first.speed * AIM_MS) / 1000)));
    const second = await timedPut(destination, `${prefix}-l`, bytes, clock, limited);
    measured = { ...measured, writeSpeed: Math.round(second.speed) };
    const began = clock.monotonic();
    await destination.get(`${prefix}-l`, undefined, limited);
    const speed = (bytes / Math.max(1, clock.monotonic() - began)) * 1000;
    measured = { ...measured, readSpeed: Math.round(speed) };
  } catch (error) {
    signal.throwIfAborted();
    if (!isAbort(error) && !(error instanceof DestinationError)) throw error;
  } finally {
    waiting.abort();
    // Also after an abort. An object that cannot be removed does no harm, as no repository uses its name.
    const keys = [`${prefix}-s`, `${prefix}-l`];
    const removing = AbortSignal.timeout(REMOVE_MS);
    await Promise.allSettled(keys.map(async (key) => await destination.delete(key, removing)));
  }
  return measured;
}

interface TimedPut {
  /** Bytes a second. */
  readonly speed: number;
  readonly beganMs: number;
  readonly endedMs: number;
  /** Time of the object by the destination's clock. */
  readonly storedMs: number;
}

async function timedPut(
  destination: Destination,
  key: string,
  bytes: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<TimedPut> {
  const body = randomBytes(bytes);
  const beganMs = clock.now();
  const began = clock.monotonic();
  const { modifiedMs: storedMs } = await destination.put(key, body, signal);
  const tookMs = Math.max(1, clock.monotonic() - began);
  return { speed: (bytes / tookMs) * 1000, beganMs, endedMs: beganMs + tookMs, storedMs };
}

/**
 * The object was stored at some time between begin and end, so only a time outside of that is a difference. Two seconds
 * are tolerated, as some stores keep times to two seconds only.
 */
function skewOf({ beganMs, endedMs, storedMs }: TimedPut): number | null {
  if (!Number.isFinite(storedMs) || storedMs <= 0) return null;
  if (storedMs > endedMs) return Math.round((storedMs - endedMs) / 100) / 10;
  const behindMs = beganMs - 2_000 - storedMs;
  return behindMs > 0 ? -Math.round(behindMs / 100) / 10 : 0;
}
