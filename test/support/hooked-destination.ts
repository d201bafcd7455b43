/** A destination that lets a test do something at a chosen moment of a run. */

import type { Destination } from '../../src/destination/destination.ts';
import type { DestinationMethod } from './faulty-destination.ts';

/** Awaited before a call goes on; what it throws is the call's failure. `count` is that of this method so far, from 1. */
export type Hook = (key: string, count: number) => Promise<void> | void;

export function hookedDestination(
  inner: Destination,
  hooks: Partial<Readonly<Record<DestinationMethod, Hook>>>,
): Destination {
  const counts = new Map<DestinationMethod, number>();
  const before = async (method: DestinationMethod, key: string): Promise<void> => {
    const count = (counts.get(method) ?? 0) + 1;
    counts.set(method, count);
    await hooks[method]?.(key, count);
  };
  return {
    properties: inner.properties,
    put: async (key, body, signal) => {
      await before('put', key);
      return await inner.put(key, body, signal);
    },
    get: async (key, range, signal) => {
      await before('get', key);
      return await inner.get(key, range, signal);
    },
    stat: async (key, signal) => {
      await before('stat', key);
      return await inner.stat(key, signal);
    },
    async *list(prefix, signal) {
      await before('list', prefix);
      yield* inner.list(prefix, signal);
    },
    delete: async (key, signal) => {
      await before('delete', key);
      await inner.delete(key, signal);
    },
    close: async () => {
      await inner.close();
    },
  };
}
