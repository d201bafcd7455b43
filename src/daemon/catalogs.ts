/** The catalogs of all repositories that the agent knows, kept up to date after every job. */
import { BugError, RequestError, isAbort } from '../base/errors.ts';
import { openCatalog, type Catalog } from '../catalog/catalog.ts';
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
}

export interface CatalogsParts {
  readonly stateDirectory: string;
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

  /** Takes in what is new at a place, in the background. */
  update(place: Place): void {
    const kept = this.#at(place);
    if (kept === undefined) return;
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
        return await question(kept.catalog);
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
      answers.push(await question(kept.catalog, kept.place));
    }
    return answers;
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
        onDamaged: () => this.update(place),
      }),
      upToDate: Promise.resolve(),
    };
    this.#kept.set(repositoryId, kept);
    return kept;
  }

  async #sync({ place, catalog }: Kept): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    try {
      const access = await this.#parts.destinations.open(place, signal);
      await catalog.sync(access, () => undefined, signal);
    } catch (error) {
      if (!isAbort(error) && !signal.aborted) this.#parts.trouble(error);
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
