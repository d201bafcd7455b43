/** An object storage as a machine reaches it through a network that loses, delays and repeats. */
import { DestinationError } from '../../src/base/errors.ts';
import { extentOf } from '../../src/destination/byte-range.ts';
import type { ByteRange, Destination, ListedObject, ObjectStat } from '../../src/destination/destination.ts';
import { FIRST_MOMENT_MS, type Machine } from './machine.ts';
import type { Fault } from './plan.ts';
import type { ObjectStorage } from './storage.ts';

/** A client without an answer gives up after so long. */
const SILENCE_MS = 30_000;

type Method = 'put' | 'get' | 'stat' | 'list' | 'delete';

export interface NetworkOptions {
  readonly conditionalCreate: boolean;
}

export function networkDestination(
  machine: Machine,
  storage: ObjectStorage,
  { conditionalCreate }: NetworkOptions,
): Destination {
  const { world, chance } = machine;

  function latency(): number {
    return chance.next() < 0.05 ? chance.below(5_000) : 5 + chance.below(150);
  }

  /** Sends a request, lets it take effect at the storage, and brings the answer back. */
  async function call<T>(
    method: Method,
    key: string,
    signal: AbortSignal,
    effect: (fault: Fault | undefined) => T,
  ): Promise<T> {
    signal.throwIfAborted();
    const fault = machine.faultOf(method, key);
    if (fault !== undefined && !fault.kind.endsWith('-after')) await machine.suffer(fault);
    if (fault?.kind === 'outage') machine.offlineUntilMs = world.nowMs + fault.ms;
    if (fault?.kind === 'storage-jump') storage.offsetMs += fault.ms;
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const { pid } = machine;
    const answer = (work: () => void, ms: number): void => {
      if (machine.pid === pid) machine.after(ms, 'call', work);
    };
    const giveUp = (): void => answer(() => reject(silence(method, key)), SILENCE_MS);
    // A machine that has just fallen asleep sends when it wakes up.
    answer(() => {
      if (fault?.kind === 'lost-request' || world.nowMs < machine.offlineUntilMs) {
        giveUp();
        return;
      }
      const isLate = fault?.kind === 'late';
      if (isLate) giveUp();
      // From here on the request is on its way, whatever becomes of who sent it.
      world.events.add(world.nowMs + latency() + (isLate ? SILENCE_MS + fault.ms : 0), () => {
        const outcome = settledOf(() => effect(fault));
        world.trace?.push(
          `             ${machine.name} ${method} ${key}${outcome.error === undefined ? '' : ' fails'}`,
        );
        if (isLate) return;
        if (fault?.kind === 'lost-reply') giveUp();
        else answer(() => outcome.deliver(resolve, reject), latency());
        // The answer is on its way to who asked, not to who may run there later.
        if (fault?.kind.endsWith('-after') !== true) return;
        world.current = machine;
        void machine.suffer(fault);
      });
    }, 0);
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async function put(key: string, body: Uint8Array, signal: AbortSignal): Promise<ObjectStat> {
    if (!conditionalCreate && (await isThere(key, signal))) throw exists(key);
    return await call('put', key, signal, (fault) => {
      if (conditionalCreate && storage.get(key) !== undefined) throw exists(key);
      return statOf(storage.put(key, body, fault?.kind === 'hidden-put' ? { hiddenMs: fault.ms } : {}));
    });
  }

  async function isThere(key: string, signal: AbortSignal): Promise<boolean> {
    return await call('stat', key, signal, () => storage.get(key) !== undefined);
  }

  async function remove(key: string, signal: AbortSignal): Promise<void> {
    await call('delete', key, signal, (fault) => {
      storage.delete(key);
      if (fault?.kind !== 'delete-returns') return;
      world.events.add(world.nowMs + fault.ms, () => storage.bringBack(key));
    });
  }

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    let after = '';
    for (;;) {
      const pageLength = 3 + chance.below(60);
      const from = after;
      const { page, last, isEnd } = await call('list', prefix, signal, (fault) => {
        if (prefix === 'trash/' && from === '') machine.lookedMs = FIRST_MOMENT_MS + world.nowMs;
        if (prefix === 'packs/' && from === '') machine.reliedMs = machine.lookedMs;
        if (fault?.kind === 'broken-list') throw silence('list', prefix);
        const agoMs = fault?.kind === 'stale-list' ? fault.ms : 0;
        const rest = storage.list(prefix, agoMs).filter(({ key }) => key > from);
        const whole = rest.slice(0, pageLength);
        if (fault?.kind === 'partial-list')
          machine.lacking = { prefix, untilMs: world.nowMs + fault.ms, number: chance.below(2 ** 16) };
        const { lacking } = machine;
        const isPartial = lacking?.prefix === prefix && world.nowMs <= lacking.untilMs;
        const shown = isPartial ? whole.filter(({ key }) => isShown(key, lacking.number)) : whole;
        return { page: shown, last: whole.at(-1)?.key ?? '', isEnd: whole.length === rest.length };
      });
      if (page.length > 0) yield page.map(({ key, object }) => ({ key, ...statOf(object) }));
      if (isEnd) return;
      after = last;
    }
  }

  return {
    properties: {
      url: 'simulated:',
      conditionalCreate,
      canDelete: true,
      maxParallel: 4,
      remote: true,
      flatLists: true,
    },
    put,
    get: async (key, range, signal) => await call('get', key, signal, () => read(storage, key, range)),
    stat: async (key, signal) => await call('stat', key, signal, () => statOf(find(storage, key))),
    list,
    delete: remove,
    close: async () => {},
  };
}

/** Three of five keys; which ones, the number decides. */
function isShown(key: string, number: number): boolean {
  let hash = number;
  for (let at = 0; at < key.length; at += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) >>> 0;
  return hash % 5 < 3;
}

interface Outcome<T> {
  readonly error: unknown;
  readonly deliver: (resolve: (value: T) => void, reject: (error: unknown) => void) => void;
}

function settledOf<T>(work: () => T): Outcome<T> {
  try {
    const value = work();
    return { error: undefined, deliver: (resolve) => resolve(value) };
  } catch (error) {
    return { error, deliver: (_, reject) => reject(error) };
  }
}

function find(storage: Pick<ObjectStorage, 'get'>, key: string) {
  const found = storage.get(key);
  if (found !== undefined) return found;
  throw new DestinationError('not-found', `There is no ${key}`, {
    op: 'read',
    hint: 'Check.',
    details: { key },
  });
}

export function read(storage: Pick<ObjectStorage, 'get'>, key: string, range: ByteRange | undefined): Buffer {
  const { body } = find(storage, key);
  const { start, length } = extentOf(range, body.byteLength, key);
  return Buffer.from(body.subarray(start, start + length));
}

export function statOf({
  body,
  modifiedMs,
}: {
  readonly body: Buffer;
  readonly modifiedMs: number;
}): ObjectStat {
  return { size: body.byteLength, modifiedMs };
}

function exists(key: string): DestinationError {
  return new DestinationError('exists', `${key} exists`, { op: 'store', hint: 'Check.', details: { key } });
}

function silence(method: Method, key: string): DestinationError {
  return new DestinationError('unreachable', `No answer to ${method} ${key}`, {
    op: method,
    hint: 'Try again.',
    retry: 'now',
  });
}
