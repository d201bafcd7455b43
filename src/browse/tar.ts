import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { asByteString, type ByteString } from '../base/byte-path.ts';
import type { Entry } from '../format/tree.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';
import type { Repository } from '../repository/repository.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import { TreeReader } from '../repository/contents/tree-reader.ts';
import { ContentReader } from './cat.ts';
import { InodeNames } from './inode-names.ts';
import { walkTree, type PathEntry } from './list.ts';
import { findPath, type Location } from './locate.ts';
import { TAR_END, encodeTarHeader, tarPadding, type TarMember } from './tar-header.ts';

export interface TarOptions {
  /** An absolute source path: a directory with everything below it, or a single entry. */
  readonly path: ByteString;
  /** `full`: `/home/u/x` becomes `home/u/x`. `short`: with the path `/home/u` it becomes `u/x`. */
  readonly names: 'full' | 'short';
  /** Called for entries and attributes that a tar archive cannot hold. */
  readonly onSkipped: (path: ByteString, reason: string) => void;
}

export interface TarSummary {
  readonly entries: number;
  readonly files: number;
  /** Bytes of the files' content, holes included. */
  readonly bytes: number;
  readonly skipped: number;
  /** Entries that lack some of their extended attributes. */
  readonly incomplete: number;
}

/**
 * Writes a subtree as a tar archive (pax) and leaves `out` open. Content is checked as it is read; holes are written as
 * zeros. An error destroys `out` and leaves the archive without its end, which every reader notices.
 * @throws {RepositoryError} PATH_NOT_IN_SNAPSHOT, CORRUPT_DATA
 */
export async function writeTar(
  repository: Repository,
  index: ChunkIndex,
  snapshot: Snapshot,
  options: TarOptions,
  out: Writable,
  signal: AbortSignal,
): Promise<TarSummary> {
  const archive = new TarArchive(repository, index, snapshot, options);
  try {
    await pipeline(inLargeBuffers(archive.blocks(signal)), out, { signal, end: false });
  } catch (error) {
    // The pipeline's own error would hide why the work was stopped.
    signal.throwIfAborted();
    throw error;
  }
  return archive.summary;
}

/**
 * The same archive as bytes. An error ends them before the end of the archive.
 * @throws {RepositoryError} PATH_NOT_IN_SNAPSHOT, CORRUPT_DATA
 */
export function readTar(
  repository: Repository,
  index: ChunkIndex,
  snapshot: Snapshot,
  options: TarOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  return inLargeBuffers(new TarArchive(repository, index, snapshot, options).blocks(signal));
}

/** How far the walk runs ahead of the archive: few segments, so that they are still in memory when they are needed. */
const ENTRIES_AHEAD = 1_024;
const SEGMENTS_AHEAD = 4;

/** The members of one archive, and its counts so far. */
class TarArchive {
  readonly #trees: TreeReader;
  readonly #content: ContentReader;
  readonly #snapshot: Snapshot;
  readonly #options: TarOptions;
  /** Path in the archive of each inode with names still to come. */
  readonly #firstNames = new InodeNames<{ readonly name: ByteString; left: number }>();
  #summary = { entries: 0, files: 0, bytes: 0, skipped: 0, incomplete: 0 };

  constructor(repository: Repository, index: ChunkIndex, snapshot: Snapshot, options: TarOptions) {
    const { plain, salt } = snapshot.record;
    this.#trees = new TreeReader(repository, index, { plain, salt });
    this.#content = new ContentReader(repository, index, { plain, salt });
    this.#snapshot = snapshot;
    this.#options = options;
  }

  get summary(): TarSummary {
    return this.#summary;
  }

  async *blocks(signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
    const top = await findPath(this.#trees, this.#snapshot, this.#options.path, signal);
    const parentLength = this.#options.names === 'full' ? 1 : top.path.lastIndexOf('/') + 1;
    for await (const { path, entry } of this.#prefetched(this.#entries(top, signal), signal)) {
      const name = asByteString(path.slice(parentLength));
      const first = this.#firstNameOf(entry, name);
      const member = first === undefined ? this.#member(entry, name) : this.#hardLink(entry, name, first);
      if (member === undefined) {
        this.#summary.skipped += 1;
        this.#options.onSkipped(path, `a ${entry.type} cannot be stored in a tar archive`);
        continue;
      }
      this.#summary.entries += 1;
      yield this.#header(member, path);
      if (entry.type !== 'file' || first !== undefined) continue;
      yield* this.#content.read(entry, undefined, signal);
      yield tarPadding(entry.size);
      this.#summary.files += 1;
      this.#summary.bytes += entry.size;
    }
    yield TAR_END;
  }

  #header(member: TarMember, path: ByteString): Buffer {
    let leftOut = 0;
    const header = encodeTarHeader(member, () => {
      leftOut += 1;
    });
    if (leftOut === 0) return header;
    this.#summary.incomplete += 1;
    const total = member.xattrs?.length ?? leftOut;
    const why = 'programs that read archives take 1 MiB of them for each entry';
    this.#options.onSkipped(path, `${leftOut} of its ${total} extended attributes: ${why}`);
    return header;
  }

  async *#entries(
    { path, entry, tree }: Location,
    signal: AbortSignal,
  ): AsyncGenerator<PathEntry, void, undefined> {
    if (entry !== undefined) yield { path, entry };
    if (tree !== undefined) yield* walkTree(this.#trees, { path, entry, tree }, { recursive: true }, signal);
  }

  /** Yields the same entries, while the content of the next small files is being fetched. */
  async *#prefetched(
    entries: AsyncIterable<PathEntry>,
    signal: AbortSignal,
  ): AsyncGenerator<PathEntry, void, undefined> {
    const ahead: { readonly item: PathEntry; readonly segment: string | undefined }[] = [];
    let changes = 0;
    for await (const item of entries) {
      const last = ahead.at(-1)?.segment;
      const segment =
        item.entry.type === 'file' ? (this.#content.prefetch(item.entry, signal) ?? last) : last;
      if (segment !== last) changes += 1;
      ahead.push({ item, segment });
      while (ahead.length > ENTRIES_AHEAD || changes > SEGMENTS_AHEAD) {
        const next = ahead.shift();
        if (next === undefined) break;
        if (next.segment !== ahead[0]?.segment) changes -= 1;
        yield next.item;
      }
    }
    for (const { item } of ahead) yield item;
  }

  /** Undefined for an entry that a tar archive cannot hold. */
  #member(entry: Entry, path: ByteString): TarMember | undefined {
    const common = { path, ...this.#metadata(entry), xattrs: entry.xattrs };
    switch (entry.type) {
      case 'file':
        return { ...common, type: 'file', size: entry.size };
      case 'symlink':
        return { ...common, type: 'symlink', size: 0, target: entry.target };
      case 'char-device':
      case 'block-device':
        return { ...common, type: entry.type, size: 0, major: entry.major, minor: entry.minor };
      case 'directory':
      case 'fifo':
        return { ...common, type: entry.type, size: 0 };
      case 'socket':
        return undefined;
    }
  }

  /** A link repeats the metadata of the file, so that every reader leaves the file as it is. */
  #hardLink(entry: Entry, path: ByteString, first: ByteString): TarMember {
    return { type: 'hard-link', path, ...this.#metadata(entry), size: 0, target: first };
  }

  #metadata({ mode, uid, gid, mtimeNs }: Entry) {
    const { users, groups } = this.#snapshot.record.owners;
    return { mode, uid, gid, mtimeNs, user: users[uid], group: groups[gid] };
  }

  /** The first name of an inode that is already in the archive. */
  #firstNameOf(entry: Entry, name: ByteString): ByteString | undefined {
    if (entry.links === undefined || entry.type === 'directory' || entry.type === 'socket') return undefined;
    const known = this.#firstNames.get(entry);
    if (known === undefined) {
      this.#firstNames.add(entry, { name, left: entry.links.count - 1 });
      return undefined;
    }
    known.left -= 1;
    if (known.left <= 0) this.#firstNames.delete(entry);
    return known.name;
  }
}

const BUFFER_BYTES = 65_536;

/** Yields the same bytes in fewer buffers: headers and small files are gathered, large buffers pass through. */
async function* inLargeBuffers(buffers: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let gathered = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  let length = 0;
  for await (const buffer of buffers) {
    if (length > 0 && length + buffer.length > BUFFER_BYTES) {
      yield gathered.subarray(0, length);
      gathered = Buffer.allocUnsafeSlow(BUFFER_BYTES);
      length = 0;
    }
    if (buffer.length > BUFFER_BYTES) yield buffer;
    else length += buffer.copy(gathered, length);
  }
  if (length > 0) yield gathered.subarray(0, length);
}
