import { errnoOf } from '../base/errors.ts';
import type { ChunkHasher } from '../codec/hash.ts';
import { dataExtents } from '../system/holes.ts';
import { RECORD, type EntryRecord } from './entry-records.ts';
import { readFully } from './file-writer.ts';
import { isRegular } from './standing.ts';
import type { TargetDirectory } from './target-directory.ts';

/** The file is there but may not be opened for writing: it can still be replaced. */
const NOT_WRITABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'ETXTBSY', 'ELOOP', 'EISDIR', 'ENXIO']);

/** Finds out which pieces of a file the target has already. */
export class FileComparer {
  readonly #hasher: ChunkHasher;
  #buffer: Buffer = Buffer.allocUnsafeSlow(65_536);

  constructor(hasher: ChunkHasher) {
    this.#hasher = hasher;
  }

  /**
   * Marks the pieces that are present, or, when nothing but the metadata differs, the whole record. A file that cannot
   * be changed in place is marked to be replaced.
   */
  compare(directory: TargetDirectory, record: EntryRecord): void {
    let fd: number;
    try {
      fd = directory.openFile(record.name, 'read-write');
    } catch (error) {
      if (!NOT_WRITABLE.has(errnoOf(error) ?? '')) throw error;
      replaceInstead(record);
      return;
    }
    try {
      const { size, nlink, mode } = directory.fstat(fd);
      if (!isRegular({ mode }) || nlink !== 1) {
        replaceInstead(record);
        return;
      }
      const same = this.#markPieces(fd, size, record);
      if (same && size === record.size && this.#holesAreEmpty(fd, record))
        record.flags |= RECORD.metadataOnly;
    } finally {
      directory.closeFile(fd);
    }
  }

  /** True when all pieces are present. */
  #markPieces(fd: number, size: number, record: EntryRecord): boolean {
    let all = true;
    const count = record.pieceCount;
    for (let i = 0; i < count; i += 1) {
      const { id, length, skip, take, fileOffset } = record.piece(i);
      const present =
        skip === 0 &&
        take === length &&
        fileOffset + length <= size &&
        this.#has(fd, fileOffset, length, (bytes) => this.#hasher.id(bytes).equals(id));
      if (present) record.setPresent(i, true);
      else all = false;
    }
    return all;
  }

  #holesAreEmpty(fd: number, record: EntryRecord): boolean {
    let end = 0;
    const count = record.pieceCount;
    for (let i = 0; i <= count; i += 1) {
      const piece = i < count ? record.piece(i) : undefined;
      const start = piece?.fileOffset ?? record.size;
      if (start > end && !this.#isEmpty(fd, end, start)) return false;
      if (piece !== undefined) end = piece.fileOffset + piece.take;
    }
    return true;
  }

  #isEmpty(fd: number, start: number, end: number): boolean {
    for (const extent of dataExtents(fd, end)) {
      const from = Math.max(start, extent.offset);
      const to = Math.min(end, extent.offset + extent.length);
      for (let at = from; at < to; at += 65_536) {
        const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);
        if (!this.#has(fd, at, Math.min(65_536, to - at), isZero)) return false;
      }
    }
    return true;
  }

  #has(fd: number, offset: number, length: number, test: (bytes: Buffer) => boolean): boolean {
    if (this.#buffer.length < length) this.#buffer = Buffer.allocUnsafeSlow(length);
    const bytes = this.#buffer.subarray(0, length);
    return readFully(fd, bytes, offset) && test(bytes);
  }
}

function replaceInstead(record: EntryRecord): void {
  record.flags = (record.flags & ~RECORD.update) | RECORD.replace;
}
