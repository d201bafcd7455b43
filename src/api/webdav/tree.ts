/** The read-only folder as a tree: sources, then times, and below them the content of the snapshots. */
import { createHash } from 'node:crypto';
import { asByteString, bytesOfText, joinBytes, pathAbove, type ByteString } from '../../base/byte-path.ts';
import type { Clock } from '../../base/clock.ts';
import { HoldfastError, RequestError } from '../../base/errors.ts';
import type { Agent, FileContent, FileItem } from '../../jobs/agent.ts';
import {
  sourceFolders,
  type FolderNaming,
  type SnapshotFolder,
  type SourceFolder,
} from './snapshot-folders.ts';

/** The name that stands for the snapshot of a source that was made last. */
const LATEST = bytesOfText('latest');

/**
 * Milliseconds that the list of folders is cached, because a client that copies a snapshot requests it again with every
 * file.
 */
const FOLDERS_KEPT_MS = 5_000;
const PAGE = 1_000;
const ALL_SNAPSHOTS = 1_000_000;

export interface EntryFacts {
  readonly isFolder: boolean;
  /** Size of a file in bytes; 0 for a folder. */
  readonly size: number;
  /** Milliseconds since 1970; undefined when the entry has no time, such as the root. */
  readonly modifiedMs: number | undefined;
  /** Entity tag of a file, the same for the same content and for no other; undefined for folders. */
  readonly etag: string | undefined;
}

export interface NamedEntry extends EntryFacts {
  readonly name: ByteString;
}

export type FoundEntry = FoundFolder | FoundFile;

export interface FoundFolder {
  readonly kind: 'folder';
  readonly facts: EntryFacts;
  /** The entries, in batches. */
  entries(): AsyncIterable<readonly NamedEntry[]>;
}

export interface FoundFile {
  readonly kind: 'file';
  readonly facts: EntryFacts;
  /** True below a time, where nothing ever changes; false below `latest`. */
  readonly isFixed: boolean;
  content(): Promise<FileContent>;
}

export interface SnapshotTree {
  /** @throws {RequestError} PATH_NOT_IN_SNAPSHOT, SNAPSHOT_NOT_FOUND, SERVICE_UNAVAILABLE */
  find(names: readonly ByteString[]): Promise<FoundEntry>;
}

export interface TreeParts {
  readonly agent: Pick<Agent, 'snapshots' | 'entry' | 'files' | 'content'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly naming: () => FolderNaming;
}

export function createSnapshotTree({ agent, clock, naming }: TreeParts): SnapshotTree {
  let known: { readonly sources: readonly SourceFolder[]; readonly atMs: number } | undefined;
  /** Caches the directory that the folder of a snapshot shows, by the key of the snapshot. */
  const tops = new Map<string, ByteString>();

  return {
    async find([source, time, ...below]) {
      const sources = await currentSources();
      if (source === undefined) return sourcesFolder(sources);
      const found = sources.find(({ name }) => name === source);
      if (found === undefined) throw notThere();
      if (time === undefined) return timesFolder(found);
      const isFixed = time !== LATEST;
      const snapshot = isFixed ? found.snapshots.find(({ name }) => name === time) : found.latest;
      if (snapshot === undefined) throw notThere();
      const top = await topOf(snapshot);
      if (below.length === 0) return directory(snapshot, top, snapshot.madeMs);
      const path = below.reduce(joinBytes, top);
      const item = await askCopies(snapshot, async (id) => await agent.entry(id, path));
      if (item.type === 'directory') return directory(snapshot, path, item.modified_at);
      if (item.type !== 'file') throw notThere();
      return {
        kind: 'file',
        facts: factsOf(item, snapshot),
        isFixed,
        content: async () => await askCopies(snapshot, async (id) => await agent.content(id, path)),
      };
    },
  };

  async function currentSources(): Promise<readonly SourceFolder[]> {
    const nowMs = clock.monotonic();
    if (known === undefined || nowMs - known.atMs >= FOLDERS_KEPT_MS) {
      const summaries = await agent.snapshots({ limit: ALL_SNAPSHOTS });
      known = { sources: sourceFolders(summaries, naming()), atMs: nowMs };
    }
    return known.sources;
  }

  /**
   * The directory that the folder of a snapshot shows: the source itself if it is a directory; for a file or several
   * sources, the directory that contains them.
   */
  async function topOf(snapshot: SnapshotFolder): Promise<ByteString> {
    const kept = tops.get(snapshot.key);
    if (kept !== undefined) return kept;
    const [path = asByteString('/'), ...others] = snapshot.paths;
    let top = [path, ...others].map(pathAbove).reduce(commonDirectory);
    if (others.length === 0) {
      const item = await askCopies(snapshot, async (id) => await agent.entry(id, path));
      if (item.type === 'directory') top = path;
    }
    if (tops.size >= PAGE) tops.clear();
    tops.set(snapshot.key, top);
    return top;
  }

  function directory(snapshot: SnapshotFolder, path: ByteString, modifiedMs: number): FoundFolder {
    return { ...folderOf(modifiedMs), entries: () => entriesOf(snapshot, path) };
  }

  async function* entriesOf(
    snapshot: SnapshotFolder,
    path: ByteString,
  ): AsyncGenerator<readonly NamedEntry[], void, undefined> {
    let after: string | undefined;
    do {
      const page = await askCopies(
        snapshot,
        async (id) =>
          await agent.files({ snapshot: id, path, view: 'tree', sort: 'name', limit: PAGE, after }),
      );
      yield page.items
        .filter(({ type }) => type === 'file' || type === 'directory')
        .map((item) => ({ ...factsOf(item, snapshot), name: nameOf(item) }));
      after = page.next ?? undefined;
    } while (after !== undefined);
  }
}

/** Tries the copies of a snapshot in turn: one may be unavailable, or not listed yet, while the next one is. */
async function askCopies<T>({ ids }: SnapshotFolder, ask: (id: string) => Promise<T>): Promise<T> {
  let failure: unknown = notThere();
  for (const id of ids) {
    try {
      return await ask(id);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      failure = error;
    }
  }
  throw failure;
}

function sourcesFolder(sources: readonly SourceFolder[]): FoundFolder {
  const entries = sources.map(({ name, latest }) => named(name, latest.madeMs));
  return { ...folderOf(undefined), entries: () => asOne(entries) };
}

function timesFolder({ snapshots, latest: { madeMs: newestMs } }: SourceFolder): FoundFolder {
  const times = snapshots.map(({ name, madeMs }) => named(name, madeMs));
  return { ...folderOf(newestMs), entries: () => asOne([named(LATEST, newestMs), ...times]) };
}

function folderOf(modifiedMs: number | undefined): Pick<FoundFolder, 'kind' | 'facts'> {
  return { kind: 'folder', facts: { isFolder: true, size: 0, modifiedMs, etag: undefined } };
}

function named(name: ByteString, modifiedMs: number | undefined): NamedEntry {
  return { ...folderOf(modifiedMs).facts, name };
}

async function* asOne<T>(batch: T): AsyncGenerator<T, void, undefined> {
  yield await Promise.resolve(batch);
}

function factsOf(item: FileItem, { key }: SnapshotFolder): EntryFacts {
  if (item.type === 'directory') return folderOf(item.modified_at).facts;
  const digest = createHash('sha256')
    .update(`${key}\0${pathBytes(item)}`, 'latin1')
    .digest('base64url');
  return {
    isFolder: false,
    size: item.size_bytes,
    modifiedMs: item.modified_at,
    etag: `"${digest.slice(0, 22)}"`,
  };
}

function pathBytes({ path, path_b64: base64 }: FileItem): ByteString {
  return base64 === null ? bytesOfText(path) : asByteString(Buffer.from(base64, 'base64').toString('latin1'));
}

function nameOf(item: FileItem): ByteString {
  const path = pathBytes(item);
  return asByteString(path.slice(path.lastIndexOf('/') + 1));
}

function commonDirectory(a: ByteString, b: ByteString): ByteString {
  let directory = a;
  while (directory !== '/' && b !== directory && !b.startsWith(`${directory}/`))
    directory = pathAbove(directory);
  return directory;
}

function notThere(): RequestError {
  return new RequestError('PATH_NOT_IN_SNAPSHOT', 'There is nothing with that name here', {
    hint: 'List the folder above it.',
  });
}
