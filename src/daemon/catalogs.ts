/** The catalogs of all repositories that the agent knows, kept up to date after every job. */
import type { Clock } from '../base/clock.ts';
import { BugError, RequestError, isAbort } from '../base/errors.ts';
import { openCatalog, type Catalog } from '../catalog/catalog.ts';
import type { Holdings } from '../catalog/known-snapshots.ts';
import type { Destinations, Place } from './destinations.ts';

/** Milliseconds a question waits for a catalog that is just taking a snapshot in. */
const PATIENCE_MS = 10_000;

/** What another catalog may know all the same. */
const NOT_HERE: ReadonlySet<string> = new Set([
  'SNAPSHOT_NOT_FOUND',
  'BACKUP_NOT_FOUND',
  'PATH_NOT_IN_SNAPSHOT',
  'INVALID_CURSOR',
]);

interface Kept {
  readonly place: Place;
  readonly catalog: Catalog;
  /** Settles when what was known so far is taken in; never rejects. */
  upToDate: Promise<void>;
  /** When something was last asked of it, on the monotonic clock, and what is not answered yet. */
  lastAskedMs: number;
  asked: number;
  /** Snapshots in it, as of the last time it was brought up to date; undefined until that was tried. */
  holdings: Holdings | undefined;
}

/** Milliseconds after the last question for which a catalog stays ready for the next. */
const READY_MS = 60_000;

export interface CatalogsParts {
  readonly clock: Clock;
  readonly stateDirectory: string;
  readonly weakCost: boolean;
  readonly destinations: Destinations;
  readonly trouble: (error: unknown) => void;
}

export class Catalogs implements AsyncDisposable {
  readonly #parts: CatalogsParts;
  readonly #kept = new Map<string, Kept>();
  readonly #closing = new AbortController();

  constructor(parts: CatalogsParts) {
    this.#parts = parts;
  }

  /** Takes in what is new at a place, in the background. A catalog that cannot be opened is no reason for anything to fail. */
  update(place: Place): void {
    let kept: Kept | undefined;
    try {
      kept = this.#at(place);
    } catch (error) {
      this.#parts.trouble(error);
    }
    if (kept !== undefined) this.#takeIn(kept);
  }

  #takeIn(kept: Kept): void {
    const before = kept.upToDate;
    kept.upToDate = before.then(async () => await this.#sync(kept));
  }

  /** Asks the catalog of the default destination first, then the others, until one knows. */
  async ask<T>(defaultPlace: Place, question: (catalog: Catalog) => Promise<T>): Promise<T> {
    this.#at(defaultPlace);
    const all = [...this.#kept.values()].sort(
      (a, b) => Number(b.place.url === defaultPlace.url) - Number(a.place.url === defaultPlace.url),
    );
    let unknown: unknown = new RequestError('SNAPSHOT_NOT_FOUND', 'There are no snapshots yet', {
      hint: 'Make a backup first.',
    });
    for (const kept of all) {
      await withPatience(kept.upToDate);
      try {
        return await this.#ask(kept, question);
      } catch (error) {
        if (!(error instanceof Error) || !('code' in error) || !NOT_HERE.has(String(error.code))) throw error;
        unknown = error;
      }
    }
    throw unknown;
  }

  /** The answers of all, each after what it is taking in. */
  async askAll<T>(question: (catalog: Catalog, place: Place) => Promise<T>): Promise<readonly T[]> {
    const answers: T[] = [];
    for (const kept of this.#kept.values()) {
      await withPatience(kept.upToDate);
      answers.push(await this.#ask(kept, async (catalog) => await question(catalog, kept.place)));
    }
    return answers;
  }

  /** Of all of them together, without asking. */
  get holdings(): Holdings {
    return [...this.#kept.values()].reduce(
      (sum, { holdings }) => ({
        snapshots: sum.snapshots + (holdings?.snapshots ?? 0),
        bytes: sum.bytes + (holdings?.bytes ?? 0),
      }),
      { snapshots: 0, bytes: 0 },
    );
  }

  /** Of the catalog of one place, after what it is taking in; undefined while no repository was seen there. */
  async askAt<T>(place: Place, question: (catalog: Catalog) => Promise<T>): Promise<T | undefined> {
    const kept = this.#at(place);
    if (kept === undefined) return undefined;
    await withPatience(kept.upToDate);
    return await this.#ask(kept, question);
  }

  /** Where the repository lies whose catalog knows the snapshot. @throws {RequestError} SNAPSHOT_NOT_FOUND */
  async placeOf(snapshot: string): Promise<Place> {
    let place: Place | undefined;
    await this.ask(this.#parts.destinations.find('default'), async (catalog) => {
      const found = await catalog.snapshot(snapshot);
      place = [...this.#kept.values()].find((kept) => kept.catalog === catalog)?.place;
      return found;
    });
    if (place === undefined) throw new BugError('A catalog that answered is not among those that are kept');
    return place;
  }

  /** Lets those rest that nobody has asked for a while. */
  async rest(): Promise<void> {
    const nowMs = this.#parts.clock.monotonic();
    const idle = [...this.#kept.values()].filter(
      ({ asked, lastAskedMs }) => asked === 0 && nowMs - lastAskedMs >= READY_MS,
    );
    await Promise.all(idle.map(async ({ catalog }) => await catalog.rest()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#kept.values()].map(async ({ catalog }) => await catalog.close()));
  }

  #at(place: Place): Kept | undefined {
    const repositoryId = this.#parts.destinations.repositoryId(place);
    if (repositoryId === undefined) return undefined;
    const known = this.#kept.get(repositoryId);
    if (known !== undefined) return known;
    const kept: Kept = {
      place,
      catalog: openCatalog({
        stateDirectory: this.#parts.stateDirectory,
        repositoryId,
        destination: place.name,
        allowWeakCost: this.#parts.weakCost,
        onDamaged: () => this.update(place),
      }),
      upToDate: Promise.resolve(),
      lastAskedMs: this.#parts.clock.monotonic(),
      asked: 0,
      holdings: undefined,
    };
    this.#kept.set(repositoryId, kept);
    return kept;
  }

  async #ask<T>(kept: Kept, question: (catalog: Catalog) => Promise<T>): Promise<T> {
    kept.asked += 1;
    try {
      return await question(kept.catalog);
    } finally {
      kept.asked -= 1;
      kept.lastAskedMs = this.#parts.clock.monotonic();
    }
  }

  async #sync(kept: Kept): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    try {
      const access = await this.#parts.destinations.open(kept.place, signal);
      const report = await kept.catalog.sync(access, () => undefined, signal);
      kept.holdings = { snapshots: report.snapshots, bytes: report.bytes };
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      this.#parts.trouble(error);
      await this.#countKnown(kept);
    }
  }

  /** Of a repository that is out of reach the catalog knows all the same what was there. */
  async #countKnown(kept: Kept): Promise<void> {
    if (kept.holdings !== undefined) return;
    try {
      kept.holdings = await this.#ask(kept, async (catalog) => await catalog.holdings());
    } catch (error) {
      // The trouble with the catalog itself was told just before.
      if (!(error instanceof RequestError) && !this.#closing.signal.aborted) this.#parts.trouble(error);
    }
  }
}

async function withPatience(wanted: Promise<void>): Promise<void> {
  const enough = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => enough.resolve(undefined), PATIENCE_MS);
  try {
    await Promise.race([wanted, enough.promise]);
  } finally {
    clearTimeout(timer);
  }
}
