/** A store of flat names that lists them in order, as a destination: keys are checked before every call. */
import type { Destination, ListedObject } from './destination.ts';
import { checkKey, checkPrefix } from './key.ts';
import { orderedPages, type AskPage, type StoreObject } from './ordered-pages.ts';

/** The calls of a store, with keys that are valid, and signals that have not aborted. */
export interface FlatStore extends Pick<Destination, 'put' | 'get' | 'stat' | 'delete' | 'close'> {
  /** Hands on the objects of one page of a list, from `next` on, and resolves with the token of the next page. */
  readonly listPage: (
    prefix: string,
    next: string | undefined,
    signal: AbortSignal,
    take: (object: StoreObject) => void,
  ) => Promise<string | undefined>;
}

export function flatDestination(
  { url, root }: { readonly url: string; readonly root: string },
  { canDelete, maxParallel }: Pick<Destination['properties'], 'canDelete' | 'maxParallel'>,
  store: FlatStore,
): Destination {
  return {
    properties: { url, conditionalCreate: true, canDelete, maxParallel, remote: true, flatLists: true },
    async put(key, body, signal) {
      signal.throwIfAborted();
      checkKey(key);
      return await store.put(key, body, signal);
    },
    async get(key, range, signal) {
      signal.throwIfAborted();
      checkKey(key);
      return await store.get(key, range, signal);
    },
    async stat(key, signal) {
      signal.throwIfAborted();
      checkKey(key);
      return await store.stat(key, signal);
    },
    async *list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
      signal.throwIfAborted();
      checkPrefix(prefix);
      const ask: AskPage = async (next, take) => await store.listPage(prefix, next, signal, take);
      for await (const page of orderedPages(url, root, prefix, ask)) {
        yield page;
        signal.throwIfAborted();
      }
    },
    async delete(key, signal) {
      signal.throwIfAborted();
      checkKey(key);
      await store.delete(key, signal);
    },
    close: async () => await store.close(),
  };
}
