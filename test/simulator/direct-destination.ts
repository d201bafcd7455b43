/** The storage without a network: for what makes the repository and for what judges it. */
import { DestinationError } from '../../src/base/errors.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { read, statOf } from './network.ts';
import type { Storage } from './storage.ts';

export function directDestination(
  storage: Storage,
  put: (key: string, body: Uint8Array) => void = () => {},
): Destination {
  return {
    properties: { url: 'direct:', conditionalCreate: true, canDelete: true, maxParallel: 64, remote: false },
    put: async (key, body) => {
      put(key, body);
      return { size: body.byteLength, modifiedMs: 0 };
    },
    get: async (key, range) => read(storage, key, range),
    stat: async (key) => {
      const found = storage.get(key);
      if (found !== undefined) return statOf(found);
      throw new DestinationError('not-found', `There is no ${key}`, { hint: 'Check.' });
    },
    async *list(prefix) {
      const keys = storage.keys().filter((key) => key.startsWith(prefix));
      yield keys.flatMap((key) => {
        const found = storage.get(key);
        return found === undefined ? [] : [{ key, ...statOf(found) }];
      });
    },
    delete: async () => {},
    close: async () => {},
  };
}
