/**
 * The catalogs of all known repositories, brought up to date after every job. They are stored in the state directory,
 * so a destination that is away is known as it was when it was last there.
 */
import type { Clock } from '../../base/clock.ts';
import { isAbort, RepositoryError, RequestError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { type Catalog, openCatalog } from '../../catalog/catalog.ts';
import type { Holdings } from '../../catalog/answers/known-snapshots.ts';
import type { SyncReport } from '../../catalog/ingest/sync.ts';
import type { RepositoryStore } from '../../db/repositories.ts';
import type { StatusCheck } from '../../jobs/agent.ts';
import type { PlacedClaim } from '../alarms/claimed-names.ts';
import { type Destinations, knownPlaces, type Place } from '../places/destinations.ts';

/** Milliseconds that a question waits for a catalog that is taking in a snapshot. */
const PATIENCE_MS = 10_000;

/**
 * Errors after which another catalog may still have the answer. If none has, the error with the highest number is
 * thrown, as it says most.
 */
const NOT_HERE: ReadonlyMap<string, number> = new Map([
  ['SNAPSHOT_NOT_FOUND', 1],
  ['BACKUP_NOT_FOUND', 1],
  ['PATH_NOT_IN_SNAPSHOT', 2],
  ['INVALID_CURSOR', 2],
  // This catalog might have had the answer.
  ['SERVICE_UNAVAILABLE', 3],
]);

interface Kept {
  readonly repositoryId: string;
  readonly catalog: Catalog;
  /** Settles when all that is known so far is taken in; never rejects. */
  upToDate: Promise<void>;
  /** Monotonic time of the last question, and the number of unanswered ones. */
  lastAskedMs: number;
  asked: number;
  /** Contents of the catalog at its last update; undefined before the first attempt. */
  holdings: Holdings | undefined;
  /** Snapshots of the repository that could not be read at all at the last update. */
  damaged: number;
  /** The names under which keys have stored there, at the last update. */
  claims: readonly PlacedClaim[];
  /** The unreadable parts that were reported last. */
  told: string;
  /** Monotonic time of the next try to read what could not be read, and its interval; undefined when everything was read. */
  again: { readonly atMs: number; readonly waitMs: number } | undefined;
}

/** Milliseconds between automatic tries to read what could not be read: the first and the longest interval. */
const AGAIN_MS = 3_600_000;
const SELDOM_MS = 24 * AGAIN_MS;

/** Milliseconds after the last question for which a catalog keeps its thread. */
const READY_MS = 60_000;

export interface CatalogsParts {
  readonly clock: Clock;
  readonly stateDirectory: string;
  readonly weakCost: boolean;
  readonly destinations: Destinations;
  readonly repositories: Pick<RepositoryStore, 'all'>;
  readonly trouble: (error: unknown) => void;
  /** Called after each update with the claims from all repositories. */
  readonly claimed: (claims: readonly PlacedClaim[]) => void;
}

/** A catalog, and the place of its repository by the current settings. */
export interface KnownCatalog {
  readonly repositoryId: string;
  readonly catalog: Catalog;
  readonly place: Place;
}

export class Catalogs implements AsyncDisposable {
  readonly #parts: CatalogsParts;
  readonly #kept = new Map<string, Kept>();
  readonly #closing = new AbortController();

  constructor(parts: CatalogsParts) {
    this.#parts = parts;
  }

  /** Updates all catalogs, in the background. */
  updateAll(): void {
    for (const place of this.#places().values()) this.update(place);
  }

  /** Updates the catalog of a place, in the background. A catalog that cannot be opened is only reported. */
  update(place: Place): void {
    const repositoryId = this.#parts.destinations.repositoryId(place);
    if (repositoryId === undefined) return;
    let kept: Kept;
    try {
      kept = this.#of(repositoryId);
    } catch (error) {
      this.#parts.trouble(error);
      return;
    }
    const before = kept.upToDate;
    kept.upToDate = before.then(async () => await this.#sync(kept, place));
  }

  /**
   * Asks one catalog after the other until one has the answer.
   * @param first the place whose catalog is asked first; by default that of the default destination
   */
  async ask<T>(question: (known: KnownCatalog) => Promise<T>, first?: Place): Promise<T> {
    const places = [...this.#places()].sort(
      ([, a], [, b]) => Number(b.url === first?.url) - Number(a.url === first?.url),
    );
    let unknown = { error: noSnapshots() as unknown, says: 0 };
    for (const [repositoryId, place] of places) {
      try {
        return await this.#ask(repositoryId, place, question);
      } catch (error) {
        const says = NOT_HERE.get(codeOf(error));
        if (says === undefined) throw error;
        if (says > unknown.says) unknown = { error, says };
      }
    }
    throw unknown.error;
  }

  /**
   * Asks all catalogs, each after its current update, and returns the answers, those of the default destination first.
   * Fails if a catalog cannot be asked, as the answer would then be incomplete.
   */
  async askAll<T>(question: (known: KnownCatalog) => Promise<T>): Promise<readonly T[]> {
    return await Promise.all(
      [...this.#places()].map(
        async ([repositoryId, place]) => await this.#ask(repositoryId, place, question),
      ),
    );
  }

  /** Ids of all repositories that can be asked, that of the default destination first. */
  get repositoryIds(): readonly string[] {
    return [...this.#places().keys()];
  }

  /** Asks the catalog of one repository; undefined when the agent does not know it. */
  async askOf<T>(
    repositoryId: string,
    question: (known: KnownCatalog) => Promise<T>,
  ): Promise<T | undefined> {
    const place = this.#places().get(repositoryId);
    return place === undefined ? undefined : await this.#ask(repositoryId, place, question);
  }

  /** Asks the catalog of one place after its current update; undefined while no repository was seen there. */
  async askAt<T>(place: Place, question: (catalog: Catalog) => Promise<T>): Promise<T | undefined> {
    const repositoryId = this.#parts.destinations.repositoryId(place);
    if (repositoryId === undefined) return undefined;
    return await this.#ask(repositoryId, place, async ({ catalog }) => await question(catalog));
  }

  /** The sum over all catalogs, from the last updates. */
  get holdings(): Holdings {
    return [...this.#kept.values()].reduce(
      (sum, { holdings }) => ({
        snapshots: sum.snapshots + (holdings?.snapshots ?? 0),
        bytes: sum.bytes + (holdings?.bytes ?? 0),
        incomplete: sum.incomplete + (holdings?.incomplete ?? 0),
      }),
      { snapshots: 0, bytes: 0, incomplete: 0 },
    );
  }

  /** Whether `holdings` includes snapshots of this repository. */
  isCounted(repositoryId: string): boolean {
    return (this.#kept.get(repositoryId)?.holdings?.snapshots ?? 0) > 0;
  }

  /** Without names and paths, as anybody on the machine may read them. */
  checks(): readonly StatusCheck[] {
    const damaged = [...this.#kept.values()].reduce((sum, one) => sum + one.damaged, 0);
    const count = this.holdings.incomplete + damaged;
    if (count === 0) return [];
    const what = count === 1 ? 'one snapshot' : `${count} snapshots`;
    return [
      {
        name: 'catalog',
        status: 'warning',
        message: `Part of ${what} could not be read, so file lists are incomplete. Holdfast keeps trying. ${holdfast`logs`} says what could not be read; a check finds what is damaged.`,
      },
    ];
  }

  /** Starts updates where it is time to read again what could not be read, as no other update may come for long. */
  lookAgain(): void {
    const nowMs = this.#parts.clock.monotonic();
    for (const [repositoryId, place] of this.#places()) {
      const kept = this.#kept.get(repositoryId);
      if (kept?.again === undefined || nowMs < kept.again.atMs) continue;
      if (!this.#parts.destinations.isPresent(place)) continue;
      // Set first, so that it also applies when the catalog cannot be opened this time.
      kept.again = { ...kept.again, atMs: nowMs + kept.again.waitMs };
      this.update(place);
    }
  }

  /** Stops the threads of catalogs that nobody has asked for a while. Returns whether that is all of them. */
  async rest(): Promise<boolean> {
    const nowMs = this.#parts.clock.monotonic();
    const kept = [...this.#kept.values()];
    const idle = kept.filter(({ asked, lastAskedMs }) => asked === 0 && nowMs - lastAskedMs >= READY_MS);
    await Promise.all(idle.map(async ({ catalog }) => await catalog.rest()));
    return idle.length === kept.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#kept.values()].map(async ({ catalog }) => await catalog.close()));
  }

  #places(): ReadonlyMap<string, Place> {
    return knownPlaces(this.#parts.destinations, this.#parts.repositories);
  }

  /** @throws {StateError} READ_ERROR */
  #of(repositoryId: string): Kept {
    const known = this.#kept.get(repositoryId);
    if (known !== undefined) return known;
    const kept: Kept = {
      repositoryId,
      catalog: openCatalog({
        stateDirectory: this.#parts.stateDirectory,
        repositoryId,
        allowWeakCost: this.#parts.weakCost,
        onDamaged: () => {
          const place = this.#places().get(repositoryId);
          if (place !== undefined) this.update(place);
        },
      }),
      upToDate: Promise.resolve(),
      lastAskedMs: this.#parts.clock.monotonic(),
      asked: 0,
      holdings: undefined,
      damaged: 0,
      claims: [],
      told: '',
      again: undefined,
    };
    this.#kept.set(repositoryId, kept);
    return kept;
  }

  async #ask<T>(
    repositoryId: string,
    place: Place,
    question: (known: KnownCatalog) => Promise<T>,
  ): Promise<T> {
    const kept = this.#ofAsked(repositoryId, place);
    await withPatience(kept.upToDate);
    return await this.#counted(kept, async (catalog) => await question({ repositoryId, catalog, place }));
  }

  /** @throws {RequestError} SERVICE_UNAVAILABLE */
  #ofAsked(repositoryId: string, place: Place): Kept {
    try {
      return this.#of(repositoryId);
    } catch (cause) {
      this.#parts.trouble(cause);
      throw new RequestError('SERVICE_UNAVAILABLE', `The catalog of ${place.name} cannot be opened`, {
        hint: 'The log of the agent says why.',
        retry: 'later',
        cause,
      });
    }
  }

  async #counted<T>(kept: Kept, question: (catalog: Catalog) => Promise<T>): Promise<T> {
    kept.asked += 1;
    try {
      return await question(kept.catalog);
    } finally {
      kept.asked -= 1;
      kept.lastAskedMs = this.#parts.clock.monotonic();
    }
  }

  async #sync(kept: Kept, place: Place): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    try {
      const access = await this.#parts.destinations.open(place, signal);
      const report = await kept.catalog.sync(access, () => undefined, signal);
      kept.claims = report.claims.map((claim) => ({ ...claim, destination: place.name }));
      this.#note(kept, place, report);
      this.#parts.claimed([...this.#kept.values()].flatMap(({ claims }) => claims));
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      this.#parts.trouble(error);
      await this.#countKnown(kept);
    }
  }

  #note(kept: Kept, place: Place, report: SyncReport): void {
    const { snapshots, bytes, incomplete, damagedSnapshots } = report;
    kept.holdings = { snapshots, bytes, incomplete };
    kept.damaged = damagedSnapshots.length;
    if (incomplete === 0 && damagedSnapshots.length === 0) {
      [kept.told, kept.again] = ['', undefined];
      return;
    }
    const told = [incomplete, ...damagedSnapshots].join(' ');
    const isNews = told !== kept.told;
    const waitMs = isNews ? AGAIN_MS : Math.min(SELDOM_MS, 2 * (kept.again?.waitMs ?? AGAIN_MS));
    kept.again = { atMs: this.#parts.clock.monotonic() + waitMs, waitMs };
    kept.told = told;
    if (isNews) this.#parts.trouble(incompleteAt(place, report));
  }

  /** When a repository is out of reach, its catalog still has the figures of the last update. */
  async #countKnown(kept: Kept): Promise<void> {
    if (kept.holdings !== undefined) return;
    try {
      kept.holdings = await this.#counted(kept, async (catalog) => await catalog.holdings());
    } catch (error) {
      // A problem of the catalog itself was reported just before.
      if (!(error instanceof RequestError) && !this.#closing.signal.aborted) this.#parts.trouble(error);
    }
  }
}

export function noSnapshots(): RequestError {
  return new RequestError('SNAPSHOT_NOT_FOUND', 'There are no snapshots yet', {
    hint: 'Make a backup first.',
  });
}

/** The error for a catalog that lacks what could not be read. */
function incompleteAt(
  { name }: Place,
  { incomplete, damagedSnapshots, unreadable: [first] }: SyncReport,
): RepositoryError {
  const lost = damagedSnapshots.length;
  const what = [
    ...(incomplete === 0 ? [] : [`directories of ${incomplete} of its snapshots could not be read`]),
    ...(first === undefined ? [] : [`one is ${first.path} of ${first.snapshotId}: ${first.message}`]),
    ...(lost === 0
      ? []
      : [`${lost} snapshots could not be read at all, one is ${damagedSnapshots[0] ?? ''}`]),
  ].join('; ');
  return new RepositoryError('CORRUPT_DATA', `The file lists of ${name} are incomplete: ${what}`, {
    hint: 'Holdfast keeps trying. If that does not help, a check finds what is damaged.',
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
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
