/** A destination that fails one chosen call, whatever it is: for sweeps over every call of an operation. */
import { DestinationError, type DestinationKind } from '../../src/base/errors.ts';
import type { Destination, ListedObject } from '../../src/destination/destination.ts';
import type { DestinationMethod } from './faulty-destination.ts';

/** `reply lost`: it is done, and the caller is told otherwise. `killed`: it and all calls after it fail. */
export type CallFailure = Exclude<DestinationKind, 'exists'> | 'reply lost' | 'killed';

/** What each method can come to at some store. That a key is taken would be a lie about a key that is free. */
const FAILURES: Readonly<Record<DestinationMethod, readonly CallFailure[]>> = {
  put: ['unreachable', 'full', 'denied', 'unsupported', 'reply lost', 'killed'],
  get: ['unreachable', 'denied', 'corrupt-reply', 'not-found', 'killed'],
  stat: ['unreachable', 'denied', 'not-found', 'killed'],
  list: ['unreachable', 'denied', 'corrupt-reply', 'killed'],
  delete: ['unreachable', 'denied', 'reply lost', 'killed'],
};

/** The ways that the method with the most of them has: a number below it chooses one for any method. */
export const MOST_FAILURES = Math.max(...Object.values(FAILURES).map(({ length }) => length));

export interface HitCall {
  /** Counted from 1. */
  readonly number: number;
  readonly method: DestinationMethod;
  /** The key, or the prefix of a list. */
  readonly key: string;
  readonly failure: CallFailure;
}

export interface FailingCalls extends Destination {
  /** Calls made so far. */
  calls(): number;
  /** The call that was made to fail; undefined while it has not come. */
  hit(): HitCall | undefined;
}

/** Fails the n-th call, counted from 1, in the numbered one of the ways in which its method can fail. */
export function failingCalls(inner: Destination, nth: number, way: number): FailingCalls {
  let calls = 0;
  let hit: HitCall | undefined;

  async function call<T>(method: DestinationMethod, key: string, work: () => Promise<T>): Promise<T> {
    calls += 1;
    const ways = FAILURES[method];
    if (calls === nth)
      hit = { number: calls, method, key, failure: ways[way % ways.length] ?? 'unreachable' };
    const fails = calls === nth || (calls > nth && hit?.failure === 'killed');
    if (!fails || hit === undefined) return await work();
    if (hit.failure === 'reply lost') await work();
    throw planned(hit);
  }

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    yield* await call('list', prefix, async () => {
      const pages: (readonly ListedObject[])[] = [];
      for await (const page of inner.list(prefix, signal)) pages.push(page);
      return pages;
    });
  }

  return {
    properties: inner.properties,
    put: async (key, body, signal) => await call('put', key, () => inner.put(key, body, signal)),
    get: async (key, range, signal) => await call('get', key, () => inner.get(key, range, signal)),
    stat: async (key, signal) => await call('stat', key, () => inner.stat(key, signal)),
    delete: async (key, signal) => await call('delete', key, () => inner.delete(key, signal)),
    list,
    close: async () => await inner.close(),
    calls: () => calls,
    hit: () => hit,
  };
}

function planned({ number, method, key, failure }: HitCall): DestinationError {
  const kind = failure === 'reply lost' || failure === 'killed' ? 'unreachable' : failure;
  return new DestinationError(kind, `planned: ${method} ${key} is call ${number}, ${failure}`);
}

/** How many ways there are to fail a call. */
export function waysOf({ method }: HitCall): number {
  return FAILURES[method].length;
}
