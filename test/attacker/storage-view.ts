/** The storage as a host sees it: what the attacker lets it see, with what the network does to it on the way. */
import { DestinationError } from '../../src/base/errors.ts';
import type { Destination, ListedObject, ObjectStat } from '../../src/destination/destination.ts';
import type { Machine } from '../simulator/machine.ts';
import { read, statOf } from '../simulator/network.ts';
import type { ObjectStorage } from '../simulator/storage.ts';

export type NetworkFault = 'cut' | 'lost-reply' | 'delay';

/** What the storage says that is not so. Of one host alone when `to` is set. */
export class Lies {
  to: string | undefined;
  /** Rises with everything that the storage tells otherwise from then on. */
  told = 0;
  /** Keys that no list shows and that are not there when they are asked for. */
  readonly hidden = new Set<string>();
  /** By how much its clock is off, in milliseconds. */
  clockMs = 0;
  reordered = false;
  /** Keys in lists of which there is no object. */
  readonly extra = new Set<string>();

  get active(): boolean {
    return this.hidden.size > 0 || this.clockMs !== 0 || this.reordered || this.extra.size > 0;
  }

  tells(host: string): boolean {
    return this.to === undefined || this.to === host;
  }

  end(): void {
    this.to = undefined;
    this.hidden.clear();
    this.extra.clear();
    this.clockMs = 0;
    this.reordered = false;
  }
}

/** What a call of a host is watched by. */
export interface CallWatch {
  /** Before the call takes effect: others act, and calls are counted. */
  called(host: string, method: string, key: string): NetworkFault | undefined;
  stored(host: string, key: string): void;
  deleted(host: string, key: string): void;
  read(bytes: number): void;
}

export interface ViewParts {
  readonly machine: Machine;
  readonly storage: ObjectStorage;
  readonly lies: Lies;
  readonly watch: CallWatch;
  readonly conditionalCreate: boolean;
}

const PAGE = 50;
const DELAY_MS = 90_000;

export function viewOf({ machine, storage, lies, watch, conditionalCreate }: ViewParts): Destination {
  const { name } = machine;
  const liesNow = (): boolean => lies.active && lies.tells(name);
  const isHidden = (key: string): boolean => lies.hidden.has(key) && lies.tells(name);

  async function call<T>(method: string, key: string, signal: AbortSignal, effect: () => T): Promise<T> {
    signal.throwIfAborted();
    const fault = watch.called(name, method, key);
    if (fault === 'delay') await machine.pause(DELAY_MS);
    if (fault === 'cut') throw silence(method, key);
    let value: T;
    try {
      value = effect();
    } finally {
      machine.world.trace?.push(`             ${name} ${method} ${key}`);
    }
    if (fault === 'lost-reply') throw silence(method, key);
    return value;
  }

  const told = (stat: ObjectStat): ObjectStat =>
    liesNow() ? { ...stat, modifiedMs: stat.modifiedMs + lies.clockMs } : stat;

  const find = (key: string): ObjectStat => {
    const found = isHidden(key) ? undefined : storage.get(key);
    if (found === undefined) throw missing(key);
    return told(statOf(found));
  };

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    const all = await call('list', prefix, signal, () => {
      const shown = storage
        .list(prefix, 0)
        .filter(({ key }) => !isHidden(key))
        .map(({ key, object }) => ({ key, ...told(statOf(object)) }));
      if (!liesNow()) return shown;
      const extra = [...lies.extra].filter((key) => key.startsWith(prefix) && storage.get(key) === undefined);
      const more = [...shown, ...extra.map((key) => ({ key, size: 300, modifiedMs: machine.wallMs }))];
      return lies.reordered ? more.toReversed() : more;
    });
    for (let at = 0; at < all.length; at += PAGE) yield all.slice(at, at + PAGE);
  }

  return {
    properties: {
      url: 'attacked:',
      conditionalCreate,
      canDelete: true,
      maxParallel: 4,
      remote: true,
      flatLists: true,
    },
    put: async (key, body, signal) => {
      // What is hidden cannot be created without being given away.
      const requireFree = (): void => {
        if (storage.get(key) !== undefined) throw exists(key);
      };
      if (!conditionalCreate) await call('stat', key, signal, requireFree);
      return await call('put', key, signal, () => {
        if (conditionalCreate) requireFree();
        const stat = statOf(storage.put(key, body));
        watch.stored(name, key);
        return told(stat);
      });
    },
    get: async (key, range, signal) =>
      await call('get', key, signal, () => {
        if (isHidden(key)) throw missing(key);
        const bytes = read(storage, key, range);
        watch.read(bytes.length);
        return bytes;
      }),
    stat: async (key, signal) => await call('stat', key, signal, () => find(key)),
    list,
    delete: async (key, signal) => {
      await call('delete', key, signal, () => {
        if (storage.get(key) !== undefined) watch.deleted(name, key);
        storage.delete(key);
      });
    },
    close: async () => {},
  };
}

function missing(key: string): DestinationError {
  return new DestinationError('not-found', `There is no ${key}`, {
    op: 'read',
    hint: 'Check.',
    details: { key },
  });
}

function exists(key: string): DestinationError {
  return new DestinationError('exists', `${key} exists`, { op: 'store', hint: 'Check.', details: { key } });
}

function silence(method: string, key: string): DestinationError {
  return new DestinationError('unreachable', `No answer to ${method} ${key}`, {
    op: method,
    hint: 'Try again.',
    retry: 'now',
  });
}
