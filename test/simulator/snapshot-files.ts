/** Every file of a snapshot, each chunk hashed again. */
import { ChunkHasher, ID_BYTES } from '../../src/codec/hash.ts';
import type { Entry } from '../../src/format/tree.ts';
import type { ChunkIndex } from '../../src/repository/chunk-index.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { SegmentCache } from '../../src/repository/contents/segment-reader.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import { TreeReader } from '../../src/repository/contents/tree-reader.ts';

const { signal } = new AbortController();

export interface SnapshotFiles {
  /** By path. */
  readonly contents: ReadonlyMap<string, Buffer>;
  /** Ids of all chunks, those of trees included. */
  readonly chunks: ReadonlySet<string>;
}

/** @throws when a chunk is missing or damaged */
export async function readFiles(
  repository: Repository,
  index: ChunkIndex,
  { record }: Snapshot,
): Promise<SnapshotFiles> {
  const { plain, salt, root } = record;
  const reader = new TreeReader(repository, index, { plain, salt });
  const segments = new SegmentCache(repository.destination, repository.keys, index, 1 << 24);
  const hasher = new ChunkHasher(repository.keys.idKey('data', { plain, salt }));
  const contents = new Map<string, Buffer>();
  const chunks = new Set<string>();
  const content = async (entry: Extract<Entry, { type: 'file' }>): Promise<Buffer> => {
    const parts: Buffer[] = [];
    for (let at = 0; at < entry.content.length; at += ID_BYTES) {
      const id = entry.content.subarray(at, at + ID_BYTES);
      chunks.add(id.toString('latin1'));
      const chunk = index.table.find(id);
      if (chunk === undefined) throw new Error(`chunk ${id.toString('hex')} of ${entry.name} is missing`);
      const raw = await segments.segment(chunk.pack, chunk.segment, signal);
      const bytes = raw.subarray(chunk.offset, chunk.offset + chunk.length);
      if (!hasher.id(bytes).equals(id)) throw new Error(`chunk ${id.toString('hex')} is damaged`);
      parts.push(Buffer.from(bytes));
    }
    return Buffer.concat(parts);
  };
  const visit = async (id: Buffer, path: string): Promise<void> => {
    chunks.add(id.toString('latin1'));
    for (const entry of await reader.directory(id, signal)) {
      const below = `${path}/${entry.name}`;
      if (entry.type === 'directory') await visit(entry.id, below);
      if (entry.type === 'file') contents.set(below, await content(entry));
    }
  };
  await visit(root, '');
  return { contents, chunks };
}
