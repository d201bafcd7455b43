import { DestinationError, RepositoryError } from '../base/errors.ts';
import type { Destination, ListedObject, ObjectStat } from '../destination/destination.ts';
import { openConfig } from './configuration.ts';
import { sha256 } from './objects/objects.ts';
import type { Look, Repository } from './repository.ts';
import { openRing } from './slots/key-slots.ts';

/** This machine's copies of key files and configurations, each bound to the object that a list shows. */
export interface KeyCopies {
  /** The copy of exactly this object, if there is one. Never throws. */
  read(listed: ListedObject): Buffer | undefined;
  /** Replaces all copies, and the facts about the place. Never throws. */
  replace(copies: readonly KeyCopy[], known: KnownPlace): void;
  readonly known: KnownPlace & { readonly listed: readonly ListedObject[] };
}

export interface KnownPlace {
  /** The copies include everything that opening may need: every slot, the newest ring and the newest configuration. */
  readonly complete: boolean;
  /** The repository has more objects than one request lists. */
  readonly large: boolean;
}

export interface KeyCopy {
  readonly listed: ListedObject;
  readonly bytes: Buffer;
}

/**
 * How much of the repository the first look may list. A `page` is what one request lists: all of a small repository,
 * and the beginning of a larger one, which includes the keys.
 */
export type LookExtent = 'everything' | 'page';

interface Looked {
  readonly objects: readonly ListedObject[];
  /** Nothing is known about keys after this one; undefined when the list is complete. */
  readonly upTo: string | undefined;
}

/** How many objects one request lists. */
const PAGE = 1000;
/**
 * A page with at least this many visible objects is taken for a full one: some may be internal to the store and not
 * shown.
 */
const SHOWN_OF_PAGE = 990;

const KEY_FILE = /^(?:keys|config)\//;
/** Above this number, asking about copies one by one takes longer than listing them. */
const MOST_ASKED = 8;

/**
 * A view of a remote destination for the beginning of a run that saves round trips. Its first lists are answered from
 * one list of everything or, where the destination lists folder by folder, from lists that are all requested at once.
 * Key files that were read before are answered from copies. What exists is still decided by the destination, through
 * those lists; a run that only reads, and for which listing everything is too much, asks about each copy instead. The
 * look ends with `end`, and with the first object that is stored or removed, so that a run sees its own changes. Leases
 * do not end it, and are always listed anew. Callers that rely on a listing for more than saving work list again before
 * they act on it.
 */
export class FirstLook implements Look {
  /** The view; open and use it instead of the destination. */
  readonly destination: Destination;
  readonly #inner: Destination;
  readonly #copies: KeyCopies;
  readonly #read = new Map<string, KeyCopy>();
  readonly #listed = new Map<string, ListedObject>();
  readonly #stored: ListedObject[] = [];
  #opening = true;
  #extent: LookExtent | undefined;
  #looking: Promise<Looked> | undefined;
  /** Set for a run that only reads: the result of asking whether each copy is still current. */
  #asking: Promise<readonly ListedObject[] | undefined> | 'not_yet' | undefined;
  #large: boolean;
  /** Set where the destination lists folder by folder. */
  #ahead: ListsAhead | 'not_yet' | undefined;

  /** @param extent undefined: use the copies, but make no list in advance */
  constructor(inner: Destination, extent: LookExtent | undefined, copies: KeyCopies) {
    this.#inner = inner;
    this.#copies = copies;
    this.#large = copies.known.large;
    this.begin(extent);
    this.destination = this.#view();
  }

  /** Makes a new look when the next list is requested. */
  begin(extent: LookExtent | undefined): void {
    this.end();
    const { flatLists = false } = this.#inner.properties;
    const { complete } = this.#copies.known;
    if (extent === 'page' && complete && (!flatLists || this.#large)) this.#asking = 'not_yet';
    else if (flatLists) this.#extent = extent;
    // Without flat lists, listing everything saves no requests, so the lists of folders are made in parallel.
    else if (extent === 'everything') this.#ahead = 'not_yet';
  }

  end(): void {
    this.#extent = undefined;
    this.#looking = undefined;
    this.#asking = undefined;
    this.#ahead = undefined;
  }

  /**
   * Call this once the repository is open: keeps copies of the key files that proved to be sound. From then on all are
   * read from the destination, so that checks of them see what is stored.
   */
  opened(repository: Repository): void {
    const { keyring, ringNumber, writer } = repository;
    const current = new Set([`keys/ring-${ringNumber}`, `config/${writer.memory.config}`]);
    const files = new Map<string, string | undefined>(
      keyring.slots.map(({ slot, file }) => [`keys/${slot}`, file?.toString('hex')]),
    );
    const sound = [...this.#read.values()].filter(
      // The repository may have been opened with second copies, so what was read is not known to be sound.
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

  takeStored(): readonly ListedObject[] {
    return this.#stored.splice(0);
  }

  #view(): Destination {
    const inner = this.#inner;
    const changing = (key: string): void => {
      if (!key.startsWith('leases/')) this.end();
    };
    return {
      // The inner properties may be a getter whose value changes.
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

  /** The pages for this prefix; undefined when the destination has to list it. */
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
      // The next caller requests the list again.
      if (this.#ahead === ahead) this.#ahead = undefined;
      throw error;
    }
  }

  /** Makes the look once; undefined where there is none. */
  async #lookOnce(signal: AbortSignal): Promise<Looked | undefined> {
    if (this.#extent === undefined) return undefined;
    const looking = (this.#looking ??= lookAt(this.#inner, this.#extent, signal));
    try {
      const looked = await looking;
      this.#large = looked.upTo !== undefined || looked.objects.length >= SHOWN_OF_PAGE;
      return looked;
    } catch (error) {
      // The next caller requests the list again.
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
 * The copied key files, if they are all current: each is unchanged, and no next ring or configuration exists. Removed
 * slots need no check, since a removal stores a new ring. Undefined otherwise.
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

/** Whether the list covers every key with this prefix. `~` sorts after every character that keys have. */
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

/** What a backup lists when it begins. */
const FIRST_LISTS = ['keys/', 'config/', 'trash/', 'snapshots/', 'index/'] as const;
/** Listed after the others, so that it shows the packs that listed index objects and snapshots name. */
const LAST_LIST = 'packs/';

/**
 * Lists that are under way or done, by prefix. Where each takes several round trips, all that a run will need are
 * requested at once. A failure is reported only to a caller that asks for that list.
 */
type ListsAhead = ReadonlyMap<string, Promise<readonly ListedObject[]>>;

function listAhead(destination: Destination, signal: AbortSignal): ListsAhead {
  const first = FIRST_LISTS.map((prefix) => [prefix, listWhole(destination, prefix, signal)] as const);
  const last = Promise.all(first.map(async ([, listing]) => await listing)).then(
    async () => await listWhole(destination, LAST_LIST, signal),
  );
  const all = new Map<string, Promise<readonly ListedObject[]>>([...first, [LAST_LIST, last]]);
  for (const listing of all.values()) listing.catch(() => undefined);
  return all;
}

async function listWhole(
  destination: Destination,
  prefix: string,
  signal: AbortSignal,
): Promise<readonly ListedObject[]> {
  const objects: ListedObject[] = [];
  for await (const page of destination.list(prefix, signal)) for (const one of page) objects.push(one);
  return objects;
}
