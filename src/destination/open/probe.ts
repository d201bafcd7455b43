/**
 * Tests whether a destination keeps the promises that repositories rely on. Leaves nothing behind where it may delete.
 */
import { randomBytes } from 'node:crypto';
import { DestinationError, isAbort, isProtectedForNow } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import type { Clock } from '../../base/clock.ts';
import { formatBytes, formatDuration } from '../../base/units.ts';
import type { Destination } from '../destination.ts';

export interface ProbeFinding {
  readonly check:
    | 'store'
    | 'list'
    | 'read'
    | 'range'
    | 'large'
    | 'no replacing'
    | 'one of several'
    | 'delete';
  readonly status: 'ok' | 'warning' | 'error';
  readonly message: string;
  /** What to do about it; empty when there is nothing. */
  readonly hint: string;
}

/** Large enough to measure a speed, small enough for a slow line. */
const PROBE_BYTES = 1024 ** 2;
/** The size of the largest usual pack: 32 MiB plus the segment that was begun before that was reached. */
const LARGE_BYTES = 34 * 1024 ** 2;
/** The large object is tried only if it would take no longer than this, so as not to keep a slow line busy. */
const LARGE_MS = 120_000;
const RIVALS = 4;
const UNRELIABLE = 'Do not keep backups there: use another storage, or report this to whoever runs it.';

interface Probe {
  readonly destination: Destination;
  /** Common to all objects of this probe, and to no object of a repository. */
  readonly prefix: string;
  readonly key: string;
  readonly body: Buffer;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Runs all checks. Failures are findings; only an aborted signal rejects. */
export async function probeDestination(
  destination: Destination,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly ProbeFinding[]> {
  // Readers of a repository ignore keys that do not belong to one.
  const prefix = `probe-${randomBytes(8).toString('hex')}`;
  const probe = {
    destination,
    prefix,
    key: `${prefix}-a`,
    body: randomBytes(PROBE_BYTES),
    clock,
    signal,
  };
  try {
    const began = clock.monotonic();
    const stored = await guarded('store', async () => await tryStore(probe));
    const tookMs = clock.monotonic() - began;
    // Without a stored object the other checks have nothing to work on.
    if (stored.status === 'error') {
      // The object may be there although storing it failed.
      await removeAll(probe, signal).catch(() => 0);
      return [stored];
    }
    return [
      stored,
      await guarded('list', async () => await tryList(probe)),
      await guarded('read', async () => await tryRead(probe)),
      await guarded('range', async () => await tryRange(probe)),
      ...(destination.properties.remote
        ? [await guarded('large', async () => await tryLarge(probe, tookMs))]
        : []),
      await guarded('no replacing', async () => await tryReplace(probe)),
      await guarded('one of several', async () => await tryRivals(probe)),
      await guarded('delete', async () => await tryDelete(probe)),
    ];
  } catch (error) {
    // Aborted: what was stored is removed all the same.
    await removeAll(probe, new AbortController().signal).catch(() => 0);
    throw error;
  }
}

async function guarded(
  check: ProbeFinding['check'],
  look: () => Promise<Omit<ProbeFinding, 'check'>>,
): Promise<ProbeFinding> {
  try {
    return { check, ...(await look()) };
  } catch (error) {
    if (isAbort(error) || !(error instanceof DestinationError)) throw error;
    return { check, status: 'error', message: error.message, hint: error.hint };
  }
}

function good(message: string): Omit<ProbeFinding, 'check'> {
  return { status: 'ok', message, hint: '' };
}

function bad(message: string): Omit<ProbeFinding, 'check'> {
  return { status: 'error', message, hint: UNRELIABLE };
}

async function tryStore({ destination, key, body, clock, signal }: Probe) {
  const began = clock.monotonic();
  const { size } = await destination.put(key, body, signal);
  const tookMs = Math.max(1, clock.monotonic() - began);
  if (size !== body.byteLength) return bad(`${body.byteLength} bytes were written, but ${size} were stored`);
  return good(`${formatBytes(size)} in ${Math.round(tookMs)} ms (${formatBytes((size / tookMs) * 1000)}/s)`);
}

async function tryList({ destination, prefix, key, body, signal }: Probe) {
  const found = await listed(destination, prefix, signal);
  const [only] = found;
  if (found.length !== 1 || only?.key !== key || only.size !== body.byteLength)
    return bad('A new object does not appear in the list');
  return good('A new object appears in the list at once, with its size');
}

async function tryRead({ destination, key, body, clock, signal }: Probe) {
  const began = clock.monotonic();
  const found = await destination.get(key, undefined, signal);
  const tookMs = clock.monotonic() - began;
  if (!found.equals(body)) return bad('Data does not read back as it was stored');
  return good(`Data reads back as stored, in ${Math.max(1, Math.round(tookMs))} ms`);
}

async function tryRange({ destination, key, body, signal }: Probe) {
  const middle = await destination.get(key, { offset: 1_000, length: 5_000 }, signal);
  const end = await destination.get(key, { offset: -100, length: 100 }, signal);
  if (!middle.equals(body.subarray(1_000, 6_000)) || !end.equals(body.subarray(-100)))
    return bad('Part of an object does not read back as it was stored');
  return good('Parts of an object can be read, including from its end');
}

/** Stores an object of a pack's size, as servers and proxies may have limits that small objects do not reach. */
async function tryLarge({ destination, prefix, signal }: Probe, tookMs: number) {
  const { canDelete, keepsDeleted, retainDays } = destination.properties;
  const size = formatBytes(LARGE_BYTES);
  if (!canDelete || keepsDeleted !== undefined || retainDays !== undefined)
    return good(`Storing an object of ${size} was not tested, because it could not be deleted`);
  const wouldTakeMs = (tookMs * LARGE_BYTES) / PROBE_BYTES;
  if (wouldTakeMs > LARGE_MS)
    return good(
      `Storing an object of ${size} was not tested, because it would take about ${formatDuration(Math.ceil(wouldTakeMs / 60_000) * 60_000)}`,
    );
  const key = `${prefix}-c`;
  await destination.put(key, randomBytes(LARGE_BYTES), signal);
  await destination.delete(key, signal);
  return good(`Objects of ${size}, the size backups use, can be stored`);
}

async function tryReplace({ destination, key, body, signal }: Probe) {
  if (await creates(destination, key, Buffer.from('another'), signal))
    return bad('An object can be replaced unnoticed');
  if (!(await destination.get(key, undefined, signal)).equals(body))
    return bad('An object changed although replacing it was refused');
  return good('Existing objects are never replaced');
}

/** Stores one key from several callers at once: writers on several machines rely on exactly one of them succeeding. */
async function tryRivals({ destination, prefix, signal }: Probe) {
  const key = `${prefix}-b`;
  const bodies = Array.from({ length: RIVALS }, () => randomBytes(1_000));
  const won = await Promise.all(bodies.map(async (body) => await creates(destination, key, body, signal)));
  const winners = bodies.filter((_, index) => won[index] === true);
  const found = await destination.get(key, undefined, signal);
  const [winner] = winners;
  if (winners.length === 1 && winner !== undefined && found.equals(winner))
    return good(`If ${RIVALS} writers create the same object at once, one succeeds`);
  if (!destination.properties.conditionalCreate)
    return {
      status: 'warning' as const,
      message: `If ${RIVALS} writers create the same object at once, ${winners.length} succeed`,
      hint: 'Let only one machine write to this repository.',
    };
  return bad(
    `If ${RIVALS} writers create the same object at once, ${winners.length} are told that they succeeded`,
  );
}

async function tryDelete(probe: Probe) {
  const { destination, prefix, key, signal } = probe;
  if (!destination.properties.canDelete)
    return {
      status: 'warning' as const,
      message: `These credentials cannot delete anything; ${prefix}-* stays there`,
      hint: 'This protects the backups if this machine is broken into. To free space, prune with credentials that can delete.',
    };
  try {
    await removeAll(probe, signal);
  } catch (error) {
    if (!isProtectedForNow(error)) throw error;
    return {
      status: 'warning' as const,
      message: `${error.message}; ${prefix}-* stays there until then`,
      hint: `Backups work nevertheless. ${holdfast`prune`} removes data that is no longer needed once its protection period has ended.`,
    };
  }
  const left = await listed(destination, prefix, signal);
  if (left.length > 0) return bad('A deleted object is still listed');
  try {
    await destination.get(key, undefined, signal);
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'not-found')
      return good(deletedFrom(destination));
    throw error;
  }
  return bad('A deleted object can still be read');
}

function deletedFrom({ properties: { keepsDeleted, retainDays } }: Destination): string {
  const kept = `Deleted objects are no longer listed; the store itself keeps the ${formatBytes(PROBE_BYTES)} of the test`;
  if (retainDays !== undefined) return `${kept} for ${retainDays} days`;
  if (keepsDeleted !== undefined)
    return `${kept} as an older version, until a rule of the bucket removes those`;
  return 'Deleted objects are gone; the test left nothing behind';
}

async function creates(
  destination: Destination,
  key: string,
  body: Buffer,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await destination.put(key, body, signal);
    return true;
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'exists') return false;
    throw error;
  }
}

async function removeAll({ destination, prefix }: Probe, signal: AbortSignal): Promise<void> {
  for (const name of ['a', 'b', 'c']) await destination.delete(`${prefix}-${name}`, signal);
}

async function listed(destination: Destination, prefix: string, signal: AbortSignal) {
  const found: { readonly key: string; readonly size: number }[] = [];
  for await (const page of destination.list(prefix, signal)) found.push(...page);
  return found;
}
