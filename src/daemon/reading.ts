/** Repositories that are open for reading single files, and for forgetting snapshots: each for a while after its last use. */
import type { Clock } from '../base/clock.ts';
import { textOfBytes, type ByteString } from '../base/byte-path.ts';
import { RequestError } from '../base/errors.ts';
import { fileContent } from '../browse/cat.ts';
import { findPath } from '../browse/locate.ts';
import { openDestination } from '../destination/open.ts';
import type { FileContent } from '../jobs/agent.ts';
import { loadIndex, type ChunkIndex } from '../repository/chunk-index.ts';
import { openRepository, type Repository } from '../repository/repository.ts';
import { forgetSnapshots, listSnapshots, type Snapshot } from '../repository/snapshots.ts';
import { TreeReader } from '../repository/tree-reader.ts';
import type { Destinations, Place } from './destinations.ts';

/** Milliseconds: the index of a repository is not kept in memory for longer than somebody uses it. */
const KEPT_MS = 60_000;

interface Open {
  readonly repository: Repository;
  readonly lastUse: { ms: number };
  snapshots: ReadonlyMap<string, Snapshot>;
  index: ChunkIndex;
}

export interface ReadingParts {
  readonly clock: Clock;
  readonly stateDirectory: string;
  readonly destinations: Destinations;
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
    const { repository, snapshot, index } = await this.#withSnapshot(place, snapshotId);
    const { plain, salt } = snapshot.record;
    const trees = new TreeReader(repository, index, { plain, salt });
    const { entry } = await findPath(trees, snapshot, path, signal);
    if (entry?.type !== 'file') {
      throw new RequestError('INVALID_REQUEST', `${textOfBytes(path)} is not a regular file`, {
        hint: 'Restore it instead.',
      });
    }
    const name = textOfBytes(entry.name);
    return {
      name,
      size: entry.size,
      read: (range, readSignal) => {
        const wanted = range && { offset: range.start, length: range.end - range.start };
        return fileContent(repository, index, snapshot, entry, wanted, AbortSignal.any([signal, readSignal]));
      },
    };
  }

  /** What the repository itself has; with its id. */
  async snapshots(
    place: Place,
  ): Promise<{ readonly repositoryId: string; readonly snapshots: readonly Snapshot[] }> {
    const { repository, snapshots } = await this.#at(place);
    return { repositoryId: repository.id, snapshots: [...snapshots.values()] };
  }

  /** @throws {RequestError} SNAPSHOT_NOT_FOUND */
  async forget(place: Place, snapshotId: string): Promise<void> {
    const { repository } = await this.#withSnapshot(place, snapshotId);
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

  async #withSnapshot(
    place: Place,
    id: string,
  ): Promise<{ repository: Repository; index: ChunkIndex; snapshot: Snapshot }> {
    const open = await this.#at(place);
    if (!open.snapshots.has(id)) await this.#refresh(open);
    const snapshot = open.snapshots.get(id);
    if (snapshot === undefined) {
      throw new RequestError('SNAPSHOT_NOT_FOUND', `There is no snapshot ${id}`, {
        hint: 'List the snapshots.',
      });
    }
    return { ...open, snapshot };
  }

  async #at(place: Place): Promise<Open> {
    const known = this.#open.get(place.url);
    const opening = known ?? this.#openAt(place);
    this.#open.set(place.url, opening);
    try {
      const open = await opening;
      open.lastUse.ms = this.#parts.clock.monotonic();
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
    const repository = await openRepository(
      destination,
      secret.kind === 'machine'
        ? { kind: 'machine', secret: Buffer.from(secret.base64, 'base64') }
        : { kind: 'passphrase', text: secret.text },
      { clock, stateDirectory, allowWeakCost: weakCost },
      signal,
    );
    const open: Open = {
      repository,
      lastUse: { ms: clock.monotonic() },
      snapshots: new Map(),
      index: await loadIndex(repository, { without: new Set() }, signal),
    };
    await this.#refresh(open);
    void this.#closeLater(place, open);
    return open;
  }

  async #refresh(open: Open): Promise<void> {
    const { signal } = this.#closing;
    const { live } = await listSnapshots(open.repository, signal);
    open.snapshots = new Map(live.map((snapshot) => [snapshot.id, snapshot]));
    open.index = await loadIndex(open.repository, { without: new Set() }, signal);
  }

  async #closeLater(place: Place, open: Open): Promise<void> {
    const { clock } = this.#parts;
    try {
      for (;;) {
        const idle = clock.monotonic() - open.lastUse.ms;
        if (idle >= KEPT_MS) break;
        await clock.sleep(KEPT_MS - idle, this.#closing.signal);
      }
    } catch {
      // The agent ends, and closes what is open.
      return;
    }
    await this.#drop(place);
  }

  async #drop(place: Place): Promise<void> {
    const opening = this.#open.get(place.url);
    this.#open.delete(place.url);
    const open = await opening?.catch(() => undefined);
    await open?.repository.close();
  }
}
