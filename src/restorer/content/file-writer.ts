import { ftruncateSync } from 'node:fs';
import { corrupt, errnoOf } from '../../base/errors.ts';
import type { ChunkHasher } from '../../codec/hash.ts';
import { EntryFailure } from '../target/entry-failure.ts';
import {
  RECORD,
  type EntryRecord,
  type EntryRecords,
  type Piece,
  type RecordHandle,
} from '../target/entry-records.ts';
import { writeFully } from '../target/file-io.ts';
import { requireCompared, type FileUpdater } from './file-updater.ts';
import { hasMetadata, hasXattrs } from '../metadata/compare.ts';
import type { MetadataPolicy } from '../metadata/metadata.ts';
import type { OpenDirectories } from '../target/open-directories.ts';
import { UNFINISHED_FILE, type TargetDirectory } from '../target/target-directory.ts';
import { STATE, nameOfParts, removeQuietly, workingName } from '../target/unfinished-files.ts';

export interface WriterParts {
  readonly records: EntryRecords;
  readonly directories: OpenDirectories;
  readonly policy: MetadataPolicy;
  readonly updater: FileUpdater;
  readonly hasher: ChunkHasher;
  readonly run: string;
  /** Called for each file that fails. A system error that ends the whole restore is thrown instead. */
  readonly failed: (file: RecordHandle, error: unknown) => void;
  /** Called when a file has its content. It is complete only once that is on disk. */
  readonly written: (record: EntryRecord) => void;
  /** Called for an existing file that is as in the snapshot. */
  readonly unchanged: (record: EntryRecord) => void;
  readonly wrote: (bytes: number) => void;
}

/**
 * Writes the content of files. A file whose content lies in one segment is written in one go. Of others each thread
 * writes the pieces it has, and the thread that writes the last piece finishes the file. When several threads change an
 * existing file, the pieces are first put together in a temporary file, since any of them may turn out to be damaged.
 */
export class FileWriter {
  readonly #parts: WriterParts;
  #verified: { raw: Buffer; offset: number; length: number; id: Buffer } | undefined;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** Writes a file that lacks only pieces of this segment. */
  whole(handle: RecordHandle, raw: Buffer): void {
    const record = this.#parts.records.at(handle);
    try {
      const missing = [...missingPieces(record)];
      for (const piece of missing) this.#check(piece, raw);
      this.#fill(record, (fd) => {
        for (const piece of missing) this.#writePiece(fd, piece, raw);
      });
      this.#parts.written(record);
    } catch (error) {
      this.#parts.failed(handle, error);
    }
  }

  /** Handles a file without content to write: empty, nothing but holes, or only metadata to set. */
  plain(handle: RecordHandle): void {
    const record = this.#parts.records.at(handle);
    try {
      if (record.has(RECORD.metadataOnly) && this.#hasMetadata(record)) {
        this.#parts.unchanged(record);
        return;
      }
      if (record.has(RECORD.shared))
        throw new EntryFailure('CHANGED', 'something changed it during the restore');
      if (!record.has(RECORD.metadataOnly)) this.#fill(record, () => {});
      this.#parts.written(record);
    } catch (error) {
      this.#parts.failed(handle, error);
    }
  }

  /** Writes one piece of a file whose other pieces lie in other segments. */
  part(handle: RecordHandle, number: number, raw: Buffer): void {
    this.#share(handle, (record) => {
      const piece = record.piece(number);
      this.#check(piece, raw);
      const fd = this.#openShared(record);
      const directory = this.#directoryOf(record);
      try {
        this.#writePiece(fd, piece, raw);
      } finally {
        directory.closeFile(fd);
      }
    });
  }

  /** Fails a file because one of its pieces cannot be read. */
  partMissing(handle: RecordHandle, reason: unknown): void {
    this.#share(handle, () => {
      throw reason;
    });
  }

  /** Does one thread's share of a file. The last share finishes the file, or cleans up if any share failed. */
  #share(handle: RecordHandle, act: (record: EntryRecord) => void): void {
    const record = this.#parts.records.at(handle);
    const { words, index } = record.state;
    try {
      if (Atomics.load(words, index) !== STATE.failed) act(record);
    } catch (error) {
      this.#fail(record, error);
    }
    const remaining = record.remaining;
    if (Atomics.sub(remaining.words, remaining.index, 1) !== 1) return;
    try {
      if (Atomics.load(words, index) !== STATE.failed) {
        if (record.has(RECORD.update)) this.#takeOver(record);
        this.#parts.written(record);
        return;
      }
    } catch (error) {
      this.#fail(record, error);
    }
    // Another thread may have created the file after the failure was reported. With `created` reset, no other name is
    // linked to it.
    record.created = { ino: 0n, dev: 0n };
    removeQuietly(() => this.#directoryOf(record), nameOfParts(record, this.#parts.run));
  }

  /** Marks a file as failed. Only its first failure is reported. */
  #fail(record: EntryRecord, error: unknown): void {
    const { words, index } = record.state;
    const before = Atomics.exchange(words, index, STATE.failed);
    Atomics.notify(words, index);
    if (before !== STATE.failed) this.#parts.failed(record.handle, error);
  }

  /** Opens the file that several threads write. The first thread creates it while the others wait. */
  #openShared(record: EntryRecord): number {
    const { words, index } = record.state;
    if (Atomics.compareExchange(words, index, STATE.untouched, STATE.preparing) === STATE.untouched) {
      this.#prepare(record);
      // A piece may have failed in another thread meanwhile: the file stays failed.
      Atomics.compareExchange(words, index, STATE.preparing, STATE.ready);
      Atomics.notify(words, index);
    }
    while (Atomics.load(words, index) === STATE.preparing) Atomics.wait(words, index, STATE.preparing);
    if (Atomics.load(words, index) === STATE.failed)
      throw new EntryFailure('CHANGED', 'another part of it has failed');
    return this.#directoryOf(record).openFile(nameOfParts(record, this.#parts.run), 'read-write');
  }

  /** Creates the file that several threads write, at its full length as one hole. */
  #prepare(record: EntryRecord): void {
    const directory = this.#directoryOf(record);
    const fd = this.#createParts(directory, record);
    try {
      ftruncateSync(fd, record.size);
      if (!record.has(RECORD.update)) record.created = directory.fstat(fd);
    } finally {
      directory.closeFile(fd);
    }
  }

  #createParts(directory: TargetDirectory, record: EntryRecord): number {
    try {
      return directory.createFile(nameOfParts(record, this.#parts.run), UNFINISHED_FILE);
    } catch (error) {
      const code = errnoOf(error);
      if (!record.has(RECORD.update) || (code !== 'EACCES' && code !== 'EPERM')) throw error;
      const message = `to change it, Holdfast needs a temporary file beside it, which its directory does not allow (${code})`;
      throw Object.assign(new Error(message, { cause: error }), { code });
    }
  }

  /** Copies the pieces that were put together in the temporary file into the existing file. */
  #takeOver(record: EntryRecord): void {
    const { updater, run } = this.#parts;
    const directory = this.#directoryOf(record);
    const parts = nameOfParts(record, run);
    const from = directory.openFile(parts, 'read');
    try {
      updater.update(directory, record, (to) => updater.copyMissing(from, to, record));
    } finally {
      directory.closeFile(from);
    }
    directory.removeFile(parts);
  }

  /** Creates a file, or changes the existing one, in one go. If anything fails, a new file is removed. */
  #fill(record: EntryRecord, write: (fd: number) => void): void {
    const directory = this.#directoryOf(record);
    if (record.has(RECORD.update)) {
      this.#parts.updater.update(directory, record, write);
      return;
    }
    const name = workingName(record, this.#parts.run);
    const fd = directory.createFile(name, UNFINISHED_FILE);
    try {
      try {
        if (record.has(RECORD.sized)) ftruncateSync(fd, record.size);
        write(fd);
        record.created = directory.fstat(fd);
      } finally {
        directory.closeFile(fd);
      }
    } catch (error) {
      removeQuietly(() => directory, name);
      throw error;
    }
  }

  /** Whether a file with the right content has the right metadata, too. */
  #hasMetadata(record: EntryRecord): boolean {
    const { policy } = this.#parts;
    const directory = this.#directoryOf(record);
    let fd: number;
    try {
      fd = directory.openFile(record.name, 'read');
    } catch (error) {
      if (errnoOf(error) !== 'EACCES') throw error;
      // its owner may not read it, so the metadata is taken to differ and is set
      return false;
    }
    try {
      const stat = directory.fstat(fd);
      requireCompared(record, stat);
      return hasMetadata(policy, record, stat) && hasXattrs(policy, record.xattrs, fd);
    } finally {
      directory.closeFile(fd);
    }
  }

  /**
   * Checks that a chunk has the id that the tree gives. Files that share a chunk come one after the other, so the last
   * is cached.
   */
  #check(piece: Piece, raw: Buffer): void {
    const last = this.#verified;
    if (
      last !== undefined &&
      last.raw === raw &&
      last.offset === piece.offset &&
      last.length === piece.length &&
      last.id.equals(piece.id)
    )
      return;
    const chunk = raw.subarray(piece.offset, piece.offset + piece.length);
    if (chunk.length !== piece.length || !this.#parts.hasher.id(chunk).equals(piece.id)) {
      throw corrupt(`chunk ${piece.id.toString('hex')}`, 'its bytes do not match its id');
    }
    this.#verified = { raw, offset: piece.offset, length: piece.length, id: piece.id };
  }

  #writePiece(fd: number, piece: Piece, raw: Buffer): void {
    const start = piece.offset + piece.skip;
    writeFully(fd, raw.subarray(start, start + piece.take), piece.fileOffset);
    this.#parts.wrote(piece.take);
  }

  #directoryOf(record: EntryRecord): TargetDirectory {
    return this.#parts.directories.at(record.parent);
  }
}

function* missingPieces(record: EntryRecord): Generator<Piece> {
  const count = record.pieceCount;
  for (let i = 0; i < count; i += 1) if (!record.isPresent(i)) yield record.piece(i);
}
