/** A destination that fails as planned, and says so when a planned fault never came about. */
import { setTimeout as delay } from 'node:timers/promises';
import { DestinationError } from '../../src/base/errors.ts';
import type { ByteRange, Destination, ListedObject, ObjectStat } from '../../src/destination/destination.ts';

export type DestinationMethod = 'put' | 'get' | 'stat' | 'list' | 'delete';

/** Which calls a fault hits: among those of its method whose key or prefix begins with `under`. */
interface Aim {
  readonly on: DestinationMethod;
  /** Default: every key. */
  readonly under?: string;
  /** Counted from 1, the default. */
  readonly nth?: number;
  /** How many calls in a row from there on; default 1. */
  readonly times?: number;
}

export type Fault = Aim &
  (
    | {
        readonly fault: 'fail';
        readonly error: DestinationError;
        /** List only. */ readonly afterPages?: number;
      }
    /** The object is stored, but the caller is told otherwise. */
    | { readonly on: 'put'; readonly fault: 'lose-reply'; readonly error: DestinationError }
    /** The caller is told that the object is stored, but it is not. */
    | { readonly on: 'put'; readonly fault: 'lose-object' }
    /** Puts fail with kind `full` beyond this many bytes; deletes give space back. */
    | { readonly on: 'put'; readonly fault: 'run-out-of-space'; readonly bytes: number }
    | { readonly on: 'get'; readonly fault: 'truncate'; readonly toBytes: number }
    | { readonly on: 'get'; readonly fault: 'flip-bit'; readonly bit: number }
    | { readonly on: 'list'; readonly fault: 'drop'; readonly drops: (key: string) => boolean }
    | { readonly on: 'list'; readonly fault: 'end-early'; readonly afterObjects: number }
    | { readonly fault: 'delay'; readonly ms: number }
  );

export interface FaultyDestination extends Destination, Disposable {
  /** Throws when a planned fault never fired: never reached, or without effect on what it hit. */
  assertFired(): void;
}

interface Armed {
  readonly plan: Fault;
  seen: number;
  fired: number;
}

/** `using faulty = faultyDestination(…)` asserts by itself at the end of the test. */
export function faultyDestination(inner: Destination, plans: readonly Fault[]): FaultyDestination {
  const armed: readonly Armed[] = plans.map((plan) => ({ plan, seen: 0, fired: 0 }));
  const storedBytes = new Map<string, number>();

  /** The faults that hit this call, after the delays among them have passed. */
  async function faultsOf(
    on: DestinationMethod,
    key: string,
    signal: AbortSignal,
  ): Promise<readonly Armed[]> {
    signal.throwIfAborted();
    const due = armed.filter((fault) => {
      const { plan } = fault;
      if (plan.on !== on || !key.startsWith(plan.under ?? '')) return false;
      fault.seen += 1;
      if (plan.fault === 'run-out-of-space') return true;
      const nth = plan.nth ?? 1;
      return fault.seen >= nth && fault.seen < nth + (plan.times ?? 1);
    });
    for (const fault of due) {
      if (fault.plan.fault !== 'delay') continue;
      fault.fired += 1;
      await delay(fault.plan.ms, undefined, { signal }).finally(() => signal.throwIfAborted());
    }
    return due;
  }

  function failIfPlanned(due: readonly Armed[]): void {
    for (const fault of due) {
      if (fault.plan.fault !== 'fail') continue;
      fault.fired += 1;
      throw fault.plan.error;
    }
  }

  function refuseBeyondSpace(due: readonly Armed[], body: Uint8Array): void {
    for (const fault of due) {
      if (fault.plan.fault !== 'run-out-of-space') continue;
      const usedBytes = [...storedBytes.values()].reduce((sum, bytes) => sum + bytes, 0);
      if (usedBytes + body.byteLength <= fault.plan.bytes) continue;
      fault.fired += 1;
      throw new DestinationError('full', 'No space is left', { hint: 'Free some space.', retry: 'later' });
    }
  }

  async function put(key: string, body: Uint8Array, signal: AbortSignal): Promise<ObjectStat> {
    const due = await faultsOf('put', key, signal);
    failIfPlanned(due);
    refuseBeyondSpace(due, body);
    const lost = due.find(({ plan }) => plan.fault === 'lose-object');
    if (lost !== undefined) {
      lost.fired += 1;
      return { size: body.byteLength, modifiedMs: 0 };
    }
    const stored = await inner.put(key, body, signal);
    storedBytes.set(key, body.byteLength);
    for (const fault of due) {
      if (fault.plan.fault !== 'lose-reply') continue;
      fault.fired += 1;
      throw fault.plan.error;
    }
    return stored;
  }

  async function get(key: string, range: ByteRange | undefined, signal: AbortSignal): Promise<Buffer> {
    const due = await faultsOf('get', key, signal);
    failIfPlanned(due);
    let bytes = await inner.get(key, range, signal);
    for (const fault of due) {
      const damaged = damage(fault.plan, bytes);
      if (damaged.equals(bytes)) continue;
      fault.fired += 1;
      bytes = damaged;
    }
    return bytes;
  }

  async function stat(key: string, signal: AbortSignal): Promise<ObjectStat> {
    failIfPlanned(await faultsOf('stat', key, signal));
    return inner.stat(key, signal);
  }

  async function remove(key: string, signal: AbortSignal): Promise<void> {
    failIfPlanned(await faultsOf('delete', key, signal));
    await inner.delete(key, signal);
    storedBytes.delete(key);
  }

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    const due = await faultsOf('list', prefix, signal);
    failIfPlanned(due.filter(({ plan }) => plan.fault === 'fail' && (plan.afterPages ?? 0) === 0));
    let pages = 0;
    let objects = 0;
    for await (const page of inner.list(prefix, signal)) {
      const { kept, ended } = shorten(due, page, objects);
      if (kept.length > 0) yield kept;
      if (ended) return;
      objects += page.length;
      pages += 1;
      failIfPlanned(due.filter(({ plan }) => plan.fault === 'fail' && plan.afterPages === pages));
    }
  }

  function assertFired(): void {
    const idle = armed.filter(({ fired }) => fired === 0);
    if (idle.length === 0) return;
    const texts = idle.map(({ plan, seen }) => `${plan.fault} on ${plan.on} (${seen} calls seen)`);
    throw new Error(`Planned faults never fired: ${texts.join(', ')}`);
  }

  return {
    properties: inner.properties,
    put,
    get,
    stat,
    list,
    delete: remove,
    close: () => inner.close(),
    assertFired,
    [Symbol.dispose]: assertFired,
  };
}

function damage(plan: Fault, bytes: Buffer): Buffer {
  if (plan.fault === 'truncate') return bytes.subarray(0, plan.toBytes);
  if (plan.fault !== 'flip-bit' || bytes.byteLength === 0) return bytes;
  const flipped = Buffer.from(bytes);
  const index = Math.floor(plan.bit / 8) % bytes.byteLength;
  flipped.writeUInt8(flipped.readUInt8(index) ^ (1 << (plan.bit % 8)), index);
  return flipped;
}

/** What is left of a page that begins at object number `from` of the whole list. */
function shorten(
  due: readonly Armed[],
  page: readonly ListedObject[],
  from: number,
): { readonly kept: readonly ListedObject[]; readonly ended: boolean } {
  let kept = page;
  let ended = false;
  for (const fault of due) {
    const { plan } = fault;
    const before = kept.length;
    if (plan.fault === 'drop') kept = kept.filter(({ key }) => !plan.drops(key));
    if (plan.fault === 'end-early') {
      kept = kept.slice(0, Math.max(0, plan.afterObjects - from));
      ended ||= kept.length < before;
    }
    if (kept.length < before) fault.fired += 1;
  }
  return { kept, ended };
}
