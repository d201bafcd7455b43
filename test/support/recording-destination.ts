/** A destination that remembers what it was asked: for tests about how many calls and bytes something costs. */
import type { ByteRange, Destination, ListedObject, ObjectStat } from '../../src/destination/destination.ts';

export interface RecordedCall {
  readonly method: 'put' | 'get' | 'stat' | 'list' | 'delete';
  /** The key, or the prefix of a list. */
  readonly key: string;
  readonly range: ByteRange | undefined;
  /** Bytes of the object that went through; 0 until the call has succeeded. */
  readonly bytes: number;
  readonly outcome: 'pending' | 'resolved' | 'rejected';
}

export interface RecordingDestination extends Destination {
  /** In the order in which they were made, failed ones included. */
  readonly calls: readonly RecordedCall[];
  /** Calls of `method` whose key begins with `prefix`. */
  count(method: RecordedCall['method'], prefix?: string): number;
  /** Bytes those calls moved. */
  bytes(method: RecordedCall['method'], prefix?: string): number;
  /** Forgets the calls made so far. */
  reset(): void;
}

export function recordingDestination(inner: Destination): RecordingDestination {
  const calls: RecordedCall[] = [];

  async function record<T>(
    method: RecordedCall['method'],
    key: string,
    range: ByteRange | undefined,
    bytesOf: (result: T) => number,
    call: () => Promise<T>,
  ): Promise<T> {
    const entry = begin(method, key, range);
    try {
      const result = await call();
      Object.assign(entry, { outcome: 'resolved', bytes: bytesOf(result) });
      return result;
    } catch (error) {
      Object.assign(entry, { outcome: 'rejected' });
      throw error;
    }
  }

  function begin(method: RecordedCall['method'], key: string, range?: ByteRange): RecordedCall {
    const entry: RecordedCall = { method, key, range, bytes: 0, outcome: 'pending' };
    calls.push(entry);
    return entry;
  }

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    const entry = begin('list', prefix);
    try {
      yield* inner.list(prefix, signal);
      Object.assign(entry, { outcome: 'resolved' });
    } catch (error) {
      Object.assign(entry, { outcome: 'rejected' });
      throw error;
    }
  }

  function matching(method: RecordedCall['method'], prefix: string): readonly RecordedCall[] {
    return calls.filter((call) => call.method === method && call.key.startsWith(prefix));
  }

  return {
    properties: inner.properties,
    put: (key, body, signal) =>
      record<ObjectStat>(
        'put',
        key,
        undefined,
        () => body.byteLength,
        () => inner.put(key, body, signal),
      ),
    get: (key, range, signal) =>
      record<Buffer>(
        'get',
        key,
        range,
        (bytes) => bytes.byteLength,
        () => inner.get(key, range, signal),
      ),
    stat: (key, signal) =>
      record<ObjectStat>(
        'stat',
        key,
        undefined,
        () => 0,
        () => inner.stat(key, signal),
      ),
    list,
    delete: (key, signal) =>
      record<void>(
        'delete',
        key,
        undefined,
        () => 0,
        () => inner.delete(key, signal),
      ),
    close: () => inner.close(),
    calls,
    count: (method, prefix = '') => matching(method, prefix).length,
    bytes: (method, prefix = '') => matching(method, prefix).reduce((sum, call) => sum + call.bytes, 0),
    reset: () => {
      calls.length = 0;
    },
  };
}
