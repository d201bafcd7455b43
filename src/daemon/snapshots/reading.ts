/** Keeps repositories open for reading single files and forgetting snapshots, for a while after the last use. */
import { sep } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { textOfBytes, type ByteString } from '../../base/byte-path.ts';
import { pathText } from '../../base/tree-path.ts';
import { RequestError } from '../../base/errors.ts';
import { ContentReader } from '../../browse/cat.ts';
import { findPath } from '../../browse/locate.ts';
import { openDestination } from '../../destination/open/open.ts';
import { readTar, type TarOptions } from '../../browse/tar.ts';
import type { FileContent, TarContent } from '../../jobs/agent.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import { loadForReading } from '../../repository/contents/index-for.ts';
import { openRepository } from '../../repository/opening.ts';
import type { Repository } from '../../repository/repository.ts';
import { secretHanded } from '../../repository/slots/typed-secret.ts';
import { forgetSnapshots, listSnapshots, type Snapshot } from '../../repository/snapshots.ts';
import { TreeReader } from '../../repository/contents/tree-reader.ts';
import { lastPacks } from '../../repository/tombstones.ts';
import type { Destinations, Place } from '../places/destinations.ts';

/** Milliseconds after the last use for which a repository, and its index in memory, is kept. */
const KEPT_MS = 60_000;
/** Milliseconds for a repository on a disk that may be unmounted or unplugged. */
const KEPT_ON_DISK_MS = 5_000;
/** Namespaces whose readers are kept: most repositories have one, and a reader may hold 64 MiB. */
const KEPT_READERS = 2;

/**
 * Readers cache what was fetched and decrypted last, since a program that copies a directory asks for neighbouring
 * files one by one.
 */
interface Readers {
  readonly trees: TreeReader;
  readonly contents: ContentReader;
}

/** The contents of a repository at one time. */
interface Contents {
  snapshots: ReadonlyMap<string, Snapshot>;
  index: ChunkIndex;
  /** Readers for this index, by namespace. */
  readers: Map<string, Readers>;
}

interface Open extends Contents {
  readonly repository: Repository;
  readonly use: {
    lastMs: number;
    /** Number of files that are being read. */
    files: number;
    /** Whether to close the repository when no file is being read. */
    isOver: boolean;
  };
}

export interface ReadingParts {
  readonly clock: Clock;
  readonly stateDirectory: string;
  readonly destinations: Pick<Destinations, 'open'>;
  readonly weakCost: boolean;
}

export class Reading implements AsyncDisposable {
  readonly #parts: ReadingParts;
  readonly #open = new Map<string, Promise<Open>>();
  readonly #closing = new AbortController();

  constructor(parts: ReadingParts) {
    this.#parts = parts;
  }

  /** @throws {RequestError} SNAPSHOT_NOT_FOUND, PATH_NOT_IN_SNAPSHOT, INVALID_REQUEST when it is no file */
  async content(place: Place, snapshotId: string, path: ByteString): Promise<FileContent> {
    const { signal } = this.#closing;
    const { open, snapshot } = await this.#withSnapshot(place, snapshotId);
    const { trees, contents } = readersOf(open, snapshot.record);
    const { entry } = await findPath(trees, snapshot, path, signal);
    if (entry?.type !== 'file') {
      throw new RequestError('INVALID_REQUEST', `${pathText(path)} is not a regular file`, {
        hint: 'Restore it instead.',
      });
    }
    const name = textOfBytes(entry.name);
    return {
      name,
      size: entry.size,
      read: (range, readSignal) => {
        const wanted = range && { offset: range.start, length: range.end - range.start };
        // Fetches are shared between requests, so an aborted request must not end them; only closing does.
        return this.#inUse(open, until(readSignal, contents.read(entry, wanted, signal)));
      },
    };
  }

  /** @throws {RequestError} SNAPSHOT_NOT_FOUND, PATH_NOT_IN_SNAPSHOT */
  async archive(place: Place, snapshotId: string, path: ByteString): Promise<TarContent> {
    const { open, snapshot } = await this.#withSnapshot(place, snapshotId);
    const { repository, index } = open;
    const { entry } = await findPath(
      readersOf(open, snapshot.record).trees,
      snapshot,
      path,
      this.#closing.signal,
    );
    const options: TarOptions = { path, names: 'short', onSkipped: () => undefined };
    return {
      name: entry === undefined ? '' : textOfBytes(entry.name),
      read: (readSignal) => {
        const signal = AbortSignal.any([readSignal, this.#closing.signal]);
        return this.#inUse(open, readTar(repository, index, snapshot, options, signal));
      },
    };
  }

  /** The snapshots in the repository itself, and its id. */
  async snapshots(
    place: Place,
  ): Promise<{ readonly repositoryId: string; readonly snapshots: readonly Snapshot[] }> {
    const { repository, snapshots } = await this.#at(place);
    return { repositoryId: repository.id, snapshots: [...snapshots.values()] };
  }

  /** @throws {RequestError} SNAPSHOT_NOT_FOUND */
  async forget(place: Place, snapshotId: string): Promise<void> {
    const { repository } = (await this.#withSnapshot(place, snapshotId)).open;
    await forgetSnapshots(repository, [snapshotId], 'by request', this.#closing.signal);
    await this.#drop(place);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (const opening of this.#open.values()) {
      const open = await opening.catch(() => undefined);
      await open?.repository.close();
    }
  }

  async #withSnapshot(place: Place, id: string): Promise<{ open: Open; snapshot: Snapshot }> {
    const open = await this.#at(place);
    if (!open.snapshots.has(id)) await this.#refresh(open);
    const snapshot = open.snapshots.get(id);
    if (snapshot === undefined) {
      throw new RequestError('SNAPSHOT_NOT_FOUND', `There is no snapshot ${id}`, {
        hint: 'GET /snapshots lists the snapshots.',
      });
    }
    return { open, snapshot };
  }

  async #at(place: Place): Promise<Open> {
    const known = this.#open.get(place.url);
    const opening = known ?? this.#openAt(place);
    this.#open.set(place.url, opening);
    try {
      const open = await opening;
      open.use.lastMs = this.#parts.clock.monotonic();
      return open;
    } catch (error) {
      this.#open.delete(place.url);
      throw error;
    }
  }

  async #openAt(place: Place): Promise<Open> {
    const { clock, destinations, stateDirectory, weakCost } = this.#parts;
    const { signal } = this.#closing;
    const { access, person, secret, url } = await destinations.open(place, signal);
    const destination = await openDestination(url, { access, person }, signal);
    try {
      const repository = await openRepository(
        destination,
        secretHanded(secret),
        { clock, stateDirectory, allowWeakCost: weakCost },
        signal,
      );
      const use = { lastMs: clock.monotonic(), files: 0, isOver: false };
      const open: Open = { repository, use, ...(await this.#contentsOf(repository)) };
      void this.#closeLater(place, open);
      return open;
    } catch (error) {
      // Otherwise each failed attempt would leave a connection open, and the agent runs for months.
      await destination.close();
      throw error;
    }
  }

  async #refresh(open: Open): Promise<void> {
    Object.assign(open, await this.#contentsOf(open.repository));
  }

  async #contentsOf(repository: Repository): Promise<Contents> {
    const { signal } = this.#closing;
    const { live, tombstones } = await listSnapshots(repository, signal);
    return {
      snapshots: new Map(live.map((snapshot) => [snapshot.id, snapshot])),
      index: await loadForReading(repository, lastPacks(tombstones), signal),
      readers: new Map(),
    };
  }

  async #closeLater(place: Place, open: Open): Promise<void> {
    const { clock, stateDirectory } = this.#parts;
    const { directory } = place;
    const isOnDisk = directory !== undefined && !directory.startsWith(`${stateDirectory}${sep}`);
    const keptMs = isOnDisk ? KEPT_ON_DISK_MS : KEPT_MS;
    try {
      for (;;) {
        if (open.use.isOver) return;
        const idle = open.use.files > 0 ? 0 : clock.monotonic() - open.use.lastMs;
        if (idle >= keptMs) break;
        await clock.sleep(keptMs - idle, this.#closing.signal);
      }
    } catch {
      // The agent ends, and closes the repository.
      return;
    }
    await this.#drop(place);
  }

  async #drop(place: Place): Promise<void> {
    const opening = this.#open.get(place.url);
    this.#open.delete(place.url);
    const open = await opening?.catch(() => undefined);
    if (open === undefined) return;
    open.use.isOver = true;
    if (open.use.files === 0) await open.repository.close();
  }

  /** Keeps the repository open while a file is read: fetching a large one over a slow line may take longer than the idle time. */
  async *#inUse<T>({ repository, use }: Open, parts: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    use.files += 1;
    try {
      yield* parts;
    } finally {
      use.files -= 1;
      use.lastMs = this.#parts.clock.monotonic();
      if (use.isOver && use.files === 0) await repository.close();
    }
  }
}

function readersOf({ repository, index, readers }: Open, { plain, salt }: Snapshot['record']): Readers {
  const namespace = { plain, salt };
  const name = `${plain} ${salt === undefined ? '' : Buffer.from(salt).toString('hex')}`;
  const known = readers.get(name);
  if (known !== undefined) return known;
  const made = {
    trees: new TreeReader(repository, index, namespace),
    contents: new ContentReader(repository, index, namespace),
  };
  readers.set(name, made);
  const [oldest] = readers.keys();
  if (readers.size > KEPT_READERS && oldest !== undefined) readers.delete(oldest);
  return made;
}

async function* until<T>(signal: AbortSignal, parts: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  signal.throwIfAborted();
  for await (const part of parts) {
    yield part;
    signal.throwIfAborted();
  }
}
