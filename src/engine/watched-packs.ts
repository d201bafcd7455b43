/** Wraps a job's destination to observe the sizes of packs, packs for a spool, and errors. */
import { isAbort } from '../base/errors.ts';
import type { Destination } from '../destination/destination.ts';
import { leftoversOf } from '../destination/leftovers.ts';
import type { PackSpool } from './spool.ts';

export interface WatchedPacks {
  readonly watched: Destination;
  /** Total size of all packs when they were last listed; undefined before. */
  packBytes(): number | undefined;
  /** Sets the spool in which packs are kept, or looked for first; undefined for none. */
  useSpool(spool: PackSpool | undefined): void;
  /** Whether the destination has thrown this error, or one of its causes. */
  hasThrown(error: unknown): boolean;
}

const PACKS = 'packs/';

export function watchPacks(inner: Destination): WatchedPacks {
  let bytes: number | undefined;
  let spool: PackSpool | undefined;
  const thrown = new WeakSet<object>();
  const asked = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      note(error);
      throw error;
    }
  };
  const note = (error: unknown): void => {
    if (typeof error === 'object' && error !== null && !isAbort(error)) thrown.add(error);
  };
  const watched: Destination = {
    // Read on each access, as it may be a getter.
    get properties() {
      return inner.properties;
    },
    async put(key, body, signal) {
      const keeper = key.startsWith(PACKS) ? spool : undefined;
      if (keeper === undefined) return await asked(inner.put(key, body, signal));
      // The caller reuses its buffer when this resolves, so both writes must be finished.
      const [kept] = await Promise.allSettled([asked(inner.put(key, body, signal)), keeper.keep(key, body)]);
      if (kept.status === 'fulfilled') return kept.value;
      await keeper.drop(key);
      throw kept.reason;
    },
    async get(key, range, signal) {
      const found = key.startsWith(PACKS) ? await spool?.read(key, range, signal) : undefined;
      return found ?? (await asked(inner.get(key, range, signal)));
    },
    stat: async (key, signal) => await asked(inner.stat(key, signal)),
    async *list(prefix, signal) {
      let sum = 0;
      try {
        for await (const page of inner.list(prefix, signal)) {
          for (const { size } of page) sum += size;
          yield page;
        }
      } catch (error) {
        note(error);
        throw error;
      }
      if (prefix === PACKS) bytes = sum;
    },
    delete: async (key, signal) => await asked(inner.delete(key, signal)),
    ...(inner.retain === undefined
      ? {}
      : { retain: async (key, signal) => await inner.retain?.(key, signal) }),
    ...leftoversOf(inner),
    ...(inner.makeDurable === undefined
      ? {}
      : { makeDurable: async (keys, signal) => await inner.makeDurable?.(keys, signal) }),
    close: () => inner.close(),
  };
  return {
    watched,
    packBytes: () => bytes,
    useSpool(next) {
      spool = next;
    },
    hasThrown(error) {
      for (let at = error; typeof at === 'object' && at !== null; at = Reflect.get(at, 'cause'))
        if (thrown.has(at)) return true;
      return false;
    },
  };
}
