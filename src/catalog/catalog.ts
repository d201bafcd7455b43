/**
 * The index of all files of all snapshots of a repository, which the agent uses for lists, searches and comparisons. It
 * is a cache that may be deleted at any time, and is built again from the repository.
 *
 * Two threads do the work. One answers questions, until the catalog is told to rest. The other brings the catalog up to
 * date; it lives for one run, opens the repository itself, and its keys are gone from memory when it ends.
 */
import { Worker } from 'node:worker_threads';
import { endWorkers } from '../base/end-workers.ts';
import { BugError, RequestError } from '../base/errors.ts';
import type {
  AskedPaths,
  ChangePage,
  FileItem,
  FileQuery,
  NewestRequest,
  SnapshotRequest,
} from '../jobs/agent.ts';
import { catalogPath, prepareCatalog, setCatalogAside } from './tables/catalog-database.ts';
import type { DiffRequest } from './answers/catalog-reader.ts';
import type { EntriesPage, EntriesRequest } from './answers/directory-entries.ts';
import type { ListedFiles } from './answers/file-list.ts';
import type { FoundFile, FoundFiles, SearchRequest } from './answers/file-search.ts';
import type { ForgettingPreview, ForgettingRequest } from './answers/forgetting-preview.ts';
import type { CatalogSnapshot, Holdings, SnapshotChoice } from './answers/known-snapshots.ts';
import {
  errorOf,
  type Failure,
  type FromSync,
  type RepositoryAccess,
  type SyncSetup,
  type ToSync,
} from './messages.ts';
import type { PathState } from './answers/path-versions.ts';
import { QueryThread } from './query-thread.ts';
import type { SyncProgress, SyncReport } from './ingest/sync.ts';

export interface CatalogOptions {
  readonly stateDirectory: string;
  /** 32 hex digits. */
  readonly repositoryId: string;
  /** Opens repositories with a weak passphrase cost, which only tests make. */
  readonly allowWeakCost?: boolean;
  /** Called when the file turns out to be damaged. It is set aside, and the catalog is empty until the next `sync`. */
  readonly onDamaged?: () => void;
}

/**
 * Opens the catalog of a repository, which is empty at first. It may be opened only once at a time.
 * @throws {StateError} READ_ERROR
 */
export function openCatalog(options: CatalogOptions): Catalog {
  return new Catalog(options);
}

export class Catalog {
  readonly #options: CatalogOptions;
  readonly #path: string;
  /** Undefined while the catalog rests. */
  #queries: QueryThread | undefined;
  /** Settles when the last requested run ends. */
  #turn: Promise<unknown> = Promise.resolve();
  #damaged = false;
  readonly #closing = new AbortController();

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.#path = catalogPath(options.stateDirectory, options.repositoryId);
    prepareCatalog(this.#path);
    this.#queries = this.#startQueries();
  }

  /**
   * Takes in what is new in the repository and drops what is gone. One run at a time; others wait for their turn. A run
   * continues where an interrupted one stopped.
   * @throws {RepositoryError} {DestinationError} {StateError}
   */
  async sync(
    access: RepositoryAccess,
    onProgress: (progress: SyncProgress) => void,
    signal: AbortSignal,
  ): Promise<SyncReport> {
    const run = this.#turn.then(async () => await this.#sync(access, onProgress, signal));
    this.#turn = run.catch(() => undefined);
    return await run;
  }

  /**
   * @param chosen ids of the snapshots to list, whatever snapshots the query means
   * @throws {RequestError} SNAPSHOT_NOT_FOUND, BACKUP_NOT_FOUND, PATH_NOT_IN_SNAPSHOT, INVALID_CURSOR,
   * SERVICE_UNAVAILABLE
   * @throws {RepositoryError} CORRUPT_DATA when the directory, or one above it, could not be read
   */
  async files(query: FileQuery, chosen?: readonly string[]): Promise<ListedFiles> {
    return (await this.#ask({ kind: 'files', query, chosen })) as ListedFiles;
  }

  /**
   * The snapshots that a choice means.
   * @throws {RequestError} SNAPSHOT_NOT_FOUND, BACKUP_NOT_FOUND, SERVICE_UNAVAILABLE
   */
  async chosen(choice: SnapshotChoice): Promise<readonly CatalogSnapshot[]> {
    return (await this.#ask({ kind: 'chosen', choice })) as readonly CatalogSnapshot[];
  }

  /**
   * @param path bytes as Latin-1
   * @throws {RequestError} SNAPSHOT_NOT_FOUND, PATH_NOT_IN_SNAPSHOT, SERVICE_UNAVAILABLE
   * @throws {RepositoryError} CORRUPT_DATA as `files`
   */
  async entry(snapshot: string, path: string, leadsTo?: AskedPaths['leadsTo']): Promise<FileItem> {
    return (await this.#ask({ kind: 'entry', snapshot, path, leadsTo })) as FileItem;
  }

  /**
   * Some entries of a directory, from any place of their order on.
   * @throws {RequestError} SNAPSHOT_NOT_FOUND, PATH_NOT_IN_SNAPSHOT, SERVICE_UNAVAILABLE
   * @throws {RepositoryError} CORRUPT_DATA as `files`
   */
  async entries(request: EntriesRequest): Promise<EntriesPage> {
    return (await this.#ask({ kind: 'entries', request })) as EntriesPage;
  }

  /**
   * Every path of any snapshot whose name matches, in its newest version.
   * @throws {RequestError} INVALID_CURSOR, SERVICE_UNAVAILABLE
   */
  async search(request: SearchRequest): Promise<FoundFiles> {
    return (await this.#ask({ kind: 'search', request })) as FoundFiles;
  }

  /**
   * What a search says about these paths, if it would find them.
   * @param paths bytes as Latin-1
   * @throws {RequestError} SERVICE_UNAVAILABLE
   */
  async newestOf(paths: readonly string[], source: string | undefined): Promise<readonly FoundFile[]> {
    return (await this.#ask({ kind: 'newest_of', paths, source })) as readonly FoundFile[];
  }

  /**
   * What every snapshot says about a path, the oldest first: the input of `versionsOf`.
   * @param path bytes as Latin-1
   * @throws {RequestError} INVALID_REQUEST, SERVICE_UNAVAILABLE
   */
  async states(
    path: string,
    source: string | undefined,
    leadsTo?: AskedPaths['leadsTo'],
  ): Promise<readonly PathState[]> {
    return (await this.#ask({ kind: 'states', path, source, leadsTo })) as readonly PathState[];
  }

  /** @throws {RequestError} SNAPSHOT_NOT_FOUND, INVALID_CURSOR, SERVICE_UNAVAILABLE */
  async diff(request: DiffRequest): Promise<ChangePage> {
    return (await this.#ask({ kind: 'diff', request })) as ChangePage;
  }

  /** Snapshots in order of their times, the newest first. @throws {RequestError} SERVICE_UNAVAILABLE */
  async snapshots(request: SnapshotRequest): Promise<readonly CatalogSnapshot[]> {
    return (await this.#ask({ kind: 'snapshots', request })) as readonly CatalogSnapshot[];
  }

  /**
   * For each key that stored snapshots, the one that was made last, whatever its clock said; with `until`, the one with
   * the latest time up to then.
   * @throws {RequestError} SERVICE_UNAVAILABLE
   */
  async newest(request: NewestRequest): Promise<readonly CatalogSnapshot[]> {
    return (await this.#ask({ kind: 'newest', request })) as readonly CatalogSnapshot[];
  }

  /** @throws {RequestError} SERVICE_UNAVAILABLE */
  async holdings(): Promise<Holdings> {
    return (await this.#ask({ kind: 'holdings' })) as Holdings;
  }

  /** @throws {RequestError} SNAPSHOT_NOT_FOUND, SERVICE_UNAVAILABLE */
  async snapshot(id: string): Promise<CatalogSnapshot> {
    return (await this.#ask({ kind: 'snapshot', id })) as CatalogSnapshot;
  }

  /** @throws {RequestError} BACKUP_NOT_FOUND, SERVICE_UNAVAILABLE */
  async snapshotOfBackup(backupId: string): Promise<CatalogSnapshot> {
    return (await this.#ask({ kind: 'snapshot_of_backup', backupId })) as CatalogSnapshot;
  }

  /**
   * The snapshots that a prune by these rules would forget.
   * @throws {RequestError} for rules that cannot be understood; SERVICE_UNAVAILABLE
   */
  async forgetting(request: ForgettingRequest): Promise<ForgettingPreview> {
    return (await this.#ask({ kind: 'forgetting', request })) as ForgettingPreview;
  }

  /** Ends the thread that answers questions and frees its memory. The next question starts it again. */
  async rest(): Promise<void> {
    const queries = this.#queries;
    this.#queries = undefined;
    await queries?.close();
  }

  /** Interrupts a running sync and closes the catalog. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#turn;
    await this.rest();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #ask(question: Parameters<QueryThread['ask']>[0]): Promise<unknown> {
    if (this.#damaged) throw beingRebuilt();
    this.#queries ??= this.#startQueries();
    try {
      return await this.#queries.ask(question);
    } catch (cause) {
      if (this.#damaged) throw beingRebuilt(cause);
      throw cause;
    }
  }

  async #sync(
    access: RepositoryAccess,
    onProgress: (progress: SyncProgress) => void,
    signal: AbortSignal,
  ): Promise<SyncReport> {
    if (this.#damaged) await this.#rebuild();
    const { repositoryId, stateDirectory, allowWeakCost = false } = this.#options;
    const setup: SyncSetup = { path: this.#path, stateDirectory, repositoryId, access, allowWeakCost };
    let result = await this.#run(setup, onProgress, signal);
    if ('failure' in result && result.failure.damaged) {
      await this.#rebuild();
      result = await this.#run(setup, onProgress, signal);
    }
    if ('failure' in result) throw errorOf(result.failure);
    return result.report;
  }

  async #run(
    setup: SyncSetup,
    onProgress: (progress: SyncProgress) => void,
    signal: AbortSignal,
  ): Promise<{ readonly report: SyncReport } | { readonly failure: Failure }> {
    signal.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    const file = import.meta.url.endsWith('.ts') ? './catalog-worker.ts' : './catalog-worker.js';
    const worker = new Worker(new URL(file, import.meta.url), { workerData: setup });
    const stopMessage: ToSync = 'stop';
    const stop = (): void => worker.postMessage(stopMessage, []);
    const signals = [signal, this.#closing.signal];
    for (const one of signals) one.addEventListener('abort', stop, { once: true });
    try {
      return await outcomeOf(worker, onProgress);
    } catch (error) {
      for (const one of signals) one.throwIfAborted();
      throw error;
    } finally {
      for (const one of signals) one.removeEventListener('abort', stop);
      await endWorkers([worker], stop);
    }
  }

  async #rebuild(): Promise<void> {
    // While the flag is set no question is answered, as that would open the file.
    this.#damaged = true;
    await this.rest();
    setCatalogAside(this.#path);
    prepareCatalog(this.#path);
    this.#queries = this.#startQueries();
    this.#damaged = false;
  }

  #startQueries(): QueryThread {
    const thread = new QueryThread({ path: this.#path }, () => {
      if (this.#damaged) return;
      this.#damaged = true;
      this.#options.onDamaged?.();
    });
    // The next question gets the same error.
    thread.ask({ kind: 'open' }).catch(() => undefined);
    return thread;
  }
}

async function outcomeOf(
  worker: Worker,
  onProgress: (progress: SyncProgress) => void,
): Promise<{ readonly report: SyncReport } | { readonly failure: Failure }> {
  return await new Promise((resolve, reject) => {
    worker.on('message', (message: FromSync) => {
      if (message.kind === 'progress') onProgress(message.progress);
      else if (message.kind === 'done') resolve({ report: message.report });
      else if (message.failure.aborted) reject(new DOMException(message.failure.message, 'AbortError'));
      else resolve({ failure: message.failure });
    });
    worker.on('error', (cause) => {
      reject(new BugError('The thread that fills the catalog ended unexpectedly', { cause }));
    });
    worker.on('exit', (code) => reject(new BugError(`The thread that fills the catalog ended with ${code}`)));
  });
}

function beingRebuilt(cause?: unknown): RequestError {
  return new RequestError('SERVICE_UNAVAILABLE', 'The catalog of the files is being rebuilt', {
    hint: 'Try again in a few minutes.',
    retry: 'later',
    cause,
  });
}
