import { DestinationError, RepositoryError } from '../base/errors.ts';
import type { Destination, ListedObject, ObjectStat } from '../destination/destination.ts';
import { openConfig } from './configuration.ts';
import { openRing } from './slots/key-slots.ts';
import { listAhead, type ListsAhead } from './objects/lists-ahead.ts';
import { sha256 } from './objects/objects.ts';
import type { Repository } from './repository.ts';

/** This machine's copies of key files and configurations, each bound to the object that a list shows. */
export interface KeyCopies {
  /** What is kept of exactly this object, if anything. Never throws. */
  read(listed: ListedObject): Buffer | undefined;
  /** Keeps these and no others, and what is known of the place. Never throws. */
  replace(copies: readonly KeyCopy[], known: KnownPlace): void;
  readonly known: KnownPlace & { readonly listed: readonly ListedObject[] };
}

export interface KnownPlace {
  /** The copies are all that opening may need: every slot, the newest ring and the newest configuration. */
  readonly complete: boolean;
  /** There are more objects than one request lists. */
  readonly large: boolean;
}

export interface KeyCopy {
  readonly listed: ListedObject;
  readonly bytes: Buffer;
}

/**
 * How much one list of everything may come to. A `page` is what one request lists: all of a small repository, and of
 * any other its beginning, with the keys.
 */
export type LookExtent = 'everything' | 'page';

interface Looked {
  readonly objects: readonly ListedObject[];
  /** Of later keys nothing is known; undefined when there are none. */
  readonly upTo: string | undefined;
}

/** As many objects as one request lists, */
const PAGE = 1000;
/** some of which may be notes of the store's own that no list shows. */
const SHOWN_OF_PAGE = 990;

const KEY_FILE = /^(?:keys|config)\//;
/** Asking about more copies one by one takes longer than listing them. */
const MOST_ASKED = 8;

/**
 * A far destination as a run sees it that begins: its first lists are answered from one list of everything, or where
 * lists go folder by folder from lists that are all asked for at once, and key files that were read before from copies.
 * What exists is still said by the destination, at the time of those lists, or when it is asked about each copy by
 * itself where listing everything is too much for a run that only reads. The look
 * ends with `end`, and with the first thing that is stored or removed, so that a run sees what it did itself. Leases
 * do not count, and are always listed anew. Whoever relies on what was listed looks again before that counts.
 */
export class FirstLook {
  /** To be opened, and used, in place of the destination. */
  readonly destination: Destination;
  readonly #inner: Destination;
  readonly #copies: KeyCopies;
  readonly #read = new Map<string, KeyCopy>();
  readonly #listed = new Map<string, ListedObject>();
  readonly #stored: ListedObject[] = [];
  #opening = true;
  #extent: LookExtent | undefined;
  #looking: Promise<Looked> | undefined;
  /** Set for a run that only reads: whether the copies are of what is there, asked about one by one. */
  #asking: Promise<readonly ListedObject[] | undefined> | 'not_yet' | undefined;
  #large: boolean;
  /** Where lists go folder by folder. */
  #ahead: ListsAhead | 'not_yet' | undefined;

  /** @param extent undefined: no look, only the copies */
  constructor(inner: Destination, extent: LookExtent | undefined, copies: KeyCopies) {
    this.#inner = inner;
    this.#copies = copies;
    this.#large = copies.known.large;
    this.begin(extent);
    this.destination = this.#view();
  }

  /** Looks once more when the next list is asked for. */
  begin(extent: LookExtent | undefined): void {
    this.end();
    const { flatLists = false } = this.#inner.properties;
    const { complete } = this.#copies.known;
    if (extent === 'page' && complete && (!flatLists || this.#large)) this.#asking = 'not_yet';
    else if (flatLists) this.#extent = extent;
    // Listing everything in one would save nothing there.
    else if (extent === 'everything') this.#ahead = 'not_yet';
  }

  /** From now on every list is asked of the destination. */
  end(): void {
    this.#extent = undefined;
    this.#looking = undefined;
    this.#asking = undefined;
    this.#ahead = undefined;
  }

  /**
   * Once the repository is open: keeps copies of the key files that proved to be whole. From now on all are read from the
   * destination, so that what checks them sees what is there.
   */
  opened(repository: Repository): void {
    const { keyring, ringNumber, writer } = repository;
    const current = new Set([`keys/ring-${ringNumber}`, `config/${writer.memory.config}`]);
    const files = new Map<string, string | undefined>(
      keyring.slots.map(({ slot, file }) => [`keys/${slot}`, file?.toString('hex')]),
    );
    const sound = [...this.#read.values()].filter(
      // A second copy may have opened the repository in the place of what was read.
      ({ listed: { key }, bytes }) =>
        current.has(key) ? opens(repository, key, bytes) : files.get(key) === sha256(bytes),
    );
    const have = new Set(sound.map(({ listed: { key } }) => key));
    const complete = [...files.keys(), ...current].every((key) => have.has(key));
    this.#copies.replace(sound, { complete, large: this.#large });
    this.#opening = false;
    this.#asking = undefined;
    this.#read.clear();
    this.#listed.clear();
  }

  /** What was stored through the view since this was last asked, where objects are protected for a time. */
  takeStored(): readonly ListedObject[] {
    return this.#stored.splice(0);
  }

  #view(): Destination {
    const inner = this.#inner;
    const changing = (key: string): void => {
      if (!key.startsWith('leases/')) this.end();
    };
    return {
      // A getter may stand behind them.
      get properties() {
        return inner.properties;
      },
      put: async (key, body, signal) => {
        changing(key);
        const stat = await inner.put(key, body, signal);
        if (inner.properties.retainDays !== undefined) this.#stored.push({ key, ...stat });
        return stat;
      },
      get: async (key, range, signal) => {
        const listed = this.#listed.get(key);
        if (listed === undefined || range !== undefined) return await inner.get(key, range, signal);
        const kept = this.#copies.read(listed);
        const bytes = kept ?? (await inner.get(key, undefined, signal));
        this.#read.set(key, { listed, bytes });
        return bytes;
      },
      stat: async (key, signal) => await inner.stat(key, signal),
      list: (prefix, signal) => this.#list(prefix, signal),
      delete: async (key, signal) => {
        changing(key);
        await inner.delete(key, signal);
      },
      ...(inner.retain === undefined
        ? {}
        : { retain: async (key, signal) => await inner.retain?.(key, signal) }),
      ...(inner.removeLeftovers === undefined ? {} : { removeLeftovers: inner.removeLeftovers.bind(inner) }),
      ...(inner.makeDurable === undefined
        ? {}
        : { makeDurable: async (keys, signal) => await inner.makeDurable?.(keys, signal) }),
      close: async () => await inner.close(),
    };
  }

  async *#list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    const pages = (await this.#known(prefix, signal)) ?? this.#inner.list(prefix, signal);
    for await (const page of pages) {
      if (this.#opening) for (const one of page) if (KEY_FILE.test(one.key)) this.#listed.set(one.key, one);
      yield page;
    }
  }

  /** Undefined for what has to be listed. */
  async #known(prefix: string, signal: AbortSignal): Promise<Iterable<readonly ListedObject[]> | undefined> {
    const begins = ({ key }: ListedObject): boolean => key.startsWith(prefix);
    if (this.#asking !== undefined && KEY_FILE.test(prefix)) {
      if (this.#asking === 'not_yet') this.#asking = stillThere(this.#inner, this.#copies, signal);
      const there = await this.#asking;
      return there && pagesOf(there.filter(begins));
    }
    if (this.#ahead !== undefined) {
      const listed = await this.#listedAhead(prefix, signal);
      return listed && pagesOf(listed);
    }
    const looked = prefix.startsWith('leases/') ? undefined : await this.#lookOnce(signal);
    return looked && covers(looked, prefix) ? pagesOf(looked.objects.filter(begins)) : undefined;
  }

  async #listedAhead(prefix: string, signal: AbortSignal): Promise<readonly ListedObject[] | undefined> {
    if (this.#ahead === 'not_yet') this.#ahead = listAhead(this.#inner, signal);
    const ahead = this.#ahead;
    try {
      return await ahead?.get(prefix);
    } catch (error) {
      // Whoever asks again gets another try.
      if (this.#ahead === ahead) this.#ahead = undefined;
      throw error;
    }
  }

  /** Undefined where there is no look. */
  async #lookOnce(signal: AbortSignal): Promise<Looked | undefined> {
    if (this.#extent === undefined) return undefined;
    const looking = (this.#looking ??= lookAt(this.#inner, this.#extent, signal));
    try {
      const looked = await looking;
      this.#large = looked.upTo !== undefined || looked.objects.length >= SHOWN_OF_PAGE;
      return looked;
    } catch (error) {
      // Whoever asks again gets another try.
      if (this.#looking === looking) this.#looking = undefined;
      throw error;
    }
  }
}

async function lookAt(destination: Destination, extent: LookExtent, signal: AbortSignal): Promise<Looked> {
  const objects: ListedObject[] = [];
  for await (const page of destination.list('', signal)) {
    for (const one of page) objects.push(one);
    if (extent === 'page' && objects.length >= SHOWN_OF_PAGE) return { objects, upTo: objects.at(-1)?.key };
  }
  return { objects, upTo: undefined };
}

/**
 * The key files of which there are copies, when these are what is there: each is as it was, and there is no newer ring or
 * configuration, which are counted up. A slot is taken away together with a newer ring. Otherwise undefined.
 */
async function stillThere(
  destination: Destination,
  { known: { listed } }: KeyCopies,
  signal: AbortSignal,
): Promise<readonly ListedObject[] | undefined> {
  const numbered = listed.flatMap(({ key }) => {
    const [, prefix, number] = /^(keys\/ring-|config\/)(\d+)$/.exec(key) ?? [];
    return prefix === undefined ? [] : [`${prefix}${Number(number) + 1}`];
  });
  if (numbered.length !== 2 || listed.length > MOST_ASKED) return undefined;
  const isThere = async ({ key, size, modifiedMs }: ListedObject): Promise<boolean> => {
    const found = await statOf(destination, key, signal);
    return found?.size === size && found.modifiedMs === modifiedMs;
  };
  const isAbsent = async (key: string): Promise<boolean> =>
    (await statOf(destination, key, signal)) === undefined;
  const answers = await Promise.all([...listed.map(isThere), ...numbered.map(isAbsent)]);
  return answers.every(Boolean) ? listed : undefined;
}

async function statOf(
  destination: Destination,
  key: string,
  signal: AbortSignal,
): Promise<ObjectStat | undefined> {
  try {
    return await destination.stat(key, signal);
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'not-found') return undefined;
    throw error;
  }
}

/** Whether all keys that begin so come before the end of what was listed: `~` comes after whatever is in a key. */
function covers({ upTo }: Looked, prefix: string): boolean {
  return upTo === undefined || `${prefix}~` < upTo;
}

function* pagesOf(objects: readonly ListedObject[]): Generator<readonly ListedObject[]> {
  for (let at = 0; at < objects.length; at += PAGE) yield objects.slice(at, at + PAGE);
}

function opens({ keyring, keys, ringNumber, slot, writer }: Repository, key: string, bytes: Buffer): boolean {
  try {
    if (key.startsWith('keys/')) openRing(bytes, ringNumber, slot);
    else openConfig(keyring, keys, bytes, writer.memory.config);
    return true;
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    return false;
  }
}
