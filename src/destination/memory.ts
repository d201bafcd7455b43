/** A destination in memory, for dry runs and tests, with the same contract as any other. */
import { DestinationError } from '../base/errors.ts';
import { extentOf } from './byte-range.ts';
import type { ByteRange, Destination, ListedObject, ObjectStat } from './destination.ts';
import { checkKey, checkPrefix } from './key.ts';

interface StoredObject {
  readonly body: Buffer;
  readonly modifiedMs: number;
}

const pageLength = 1000;

/** `clock` gives the storage's time in milliseconds since 1970. What is stored lives as long as the object returned. */
export function createMemoryDestination(clock: () => number = Date.now): Destination {
  const objects = new Map<string, StoredObject>();

  function find(key: string, op: string): StoredObject {
    const found = objects.get(key);
    if (found !== undefined) return found;
    throw new DestinationError('not-found', `Cannot ${op} ${key}: there is no such object`, {
      op,
      hint: 'Check that this is the right destination, and that nothing was removed from it.',
      details: { key },
    });
  }

  async function put(key: string, body: Uint8Array, signal: AbortSignal): Promise<ObjectStat> {
    signal.throwIfAborted();
    checkKey(key);
    if (objects.has(key)) {
      throw new DestinationError('exists', `${key} already exists`, {
        op: 'store',
        hint: 'Objects are never replaced. Delete the object first if it has to change.',
        details: { key },
      });
    }
    const stored = { body: Buffer.from(body), modifiedMs: clock() };
    objects.set(key, stored);
    return statOf(stored);
  }

  async function get(key: string, range: ByteRange | undefined, signal: AbortSignal): Promise<Buffer> {
    signal.throwIfAborted();
    checkKey(key);
    const { body } = find(key, 'read');
    const { start, length } = extentOf(range, body.byteLength, key);
    // A copy in memory of its own, as from any other destination: the caller may change it or transfer it to another
    // thread.
    const bytes = Buffer.allocUnsafeSlow(length);
    body.copy(bytes, 0, start, start + length);
    return bytes;
  }

  async function stat(key: string, signal: AbortSignal): Promise<ObjectStat> {
    signal.throwIfAborted();
    checkKey(key);
    return statOf(find(key, 'inspect'));
  }

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    signal.throwIfAborted();
    checkPrefix(prefix);
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix));
    for (let from = 0; from < keys.length; from += pageLength) {
      signal.throwIfAborted();
      const page = keys.slice(from, from + pageLength).flatMap((key) => {
        const stored = objects.get(key);
        return stored === undefined ? [] : [{ key, ...statOf(stored) }];
      });
      yield page;
    }
  }

  async function remove(key: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    checkKey(key);
    objects.delete(key);
  }

  return {
    properties: { url: 'memory:', conditionalCreate: true, canDelete: true, maxParallel: 4, remote: false },
    put,
    get,
    stat,
    list,
    delete: remove,
    close: async () => {},
  };
}

function statOf(stored: StoredObject): ObjectStat {
  return { size: stored.body.byteLength, modifiedMs: stored.modifiedMs };
}
