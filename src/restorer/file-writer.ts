import { fchmodSync, fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import { asByteString, type ByteString } from '../base/byte-path.ts';
import { corrupt, errnoOf } from '../base/errors.ts';
import type { ChunkHasher } from '../codec/hash.ts';
import { dataExtents } from '../system/holes.ts';
import { EntryFailure } from './entry-failure.ts';
import {
  RECORD,
  type EntryRecord,
  type EntryRecords,
  type Piece,
  type RecordHandle,
} from './entry-records.ts';
import type { MetadataWriter } from './metadata.ts';
import type { OpenDirectories } from './open-directories.ts';
import { isRegular } from './standing.ts';
import { UNFINISHED_FILE, type TargetDirectory } from './target-directory.ts';
import { temporaryName } from './temporary-names.ts';

/** Values of a record's state while several threads write the file. */
const STATE = { untouched: 0, preparing: 1, ready: 2, failed: 3, complete: 4 } as const;

const ZEROS = Buffer.alloc(65_536);

export interface WriterParts {
  readonly records: EntryRecords;
  readonly directories: OpenDirectories;
  readonly metadata: MetadataWriter;
  readonly hasher: ChunkHasher;
  readonly verify: boolean;
  readonly run: string;
  /** Told of a file that is given up; a system error that ends the whole restore is thrown instead. */
  readonly failed: (file: RecordHandle, error: unknown) => void;
  readonly finished: (record: EntryRecord) => void;
  /** A hole of this file became zeros. */
  readonly filledHole: (record: EntryRecord) => void;
  readonly wrote: (bytes: number) => void;
}

/**
 * Writes files. One whose content lies in one segment is written in one go; of others each thread writes the pieces it
 * has, and whoever writes the last one completes the file. Until then a file carries the mode of unfinished ones, and
 * its modification time is set after its content.
 */
export class FileWriter {
  readonly #parts: WriterParts;
  #verified: { raw: Buffer; offset: number; length: number; id: Buffer } | undefined;
  #readBack = Buffer.alloc(0);

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** A file with all its pieces in this segment. */
  whole(handle: RecordHandle, raw: Buffer): void {
    const record = this.#parts.records.at(handle);
    try {
      const count = record.pieceCount;
      for (let i = 0; i < count; i += 1) this.#check(record.piece(i), raw);
      this.#create(record, (fd) => {
        for (let i = 0; i < count; i += 1) this.#writePiece(fd, record.piece(i), raw);
      });
      this.#parts.finished(record);
    } catch (error) {
      this.#parts.failed(handle, error);
    }
  }

  /** A file without content to write: empty, nothing but holes, or only metadata to set. */
  plain(handle: RecordHandle): void {
    const record = this.#parts.records.at(handle);
    try {
      if (record.has(RECORD.update)) {
        if (!record.has(RECORD.metadataOnly)) this.#prepare(record);
        this.#complete(record);
      } else {
        this.#create(record, () => {});
      }
      this.#parts.finished(record);
    } catch (error) {
      this.#parts.failed(handle, error);
    }
  }

  /** One piece of a file that has others elsewhere. */
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

  /** A piece that cannot be had. */
  partMissing(handle: RecordHandle, reason: unknown): void {
    this.#share(handle, () => {
      throw reason;
    });
  }

  /** Does one thread's share of a file; the last share completes it, or cleans up when any failed. */
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
    if (Atomics.load(words, index) === STATE.failed) {
      this.#discard(record);
      return;
    }
    try {
      this.#complete(record);
      Atomics.store(words, index, STATE.complete);
      this.#parts.finished(record);
    } catch (error) {
      this.#fail(record, error);
      this.#discard(record);
    }
  }

  /** The first failure of a file is the one that is told. */
  #fail(record: EntryRecord, error: unknown): void {
    const { words, index } = record.state;
    const before = Atomics.exchange(words, index, STATE.failed);
    Atomics.notify(words, index);
    if (before !== STATE.failed) this.#parts.failed(record.handle, error);
  }

  /** Opens a shared file; the first thread to come prepares it while the others wait. */
  #openShared(record: EntryRecord): number {
    const { words, index } = record.state;
    if (Atomics.compareExchange(words, index, STATE.untouched, STATE.preparing) === STATE.untouched) {
      this.#prepare(record);
      Atomics.store(words, index, STATE.ready);
      Atomics.notify(words, index);
    }
    while (Atomics.load(words, index) === STATE.preparing) Atomics.wait(words, index, STATE.preparing);
    if (Atomics.load(words, index) === STATE.failed)
      throw new EntryFailure('CHANGED', 'another part of it has failed');
    return this.#directoryOf(record).openFile(this.#workingName(record), 'read-write');
  }

  /** Makes a shared file ready for its pieces: its length set, its holes empty. */
  #prepare(record: EntryRecord): void {
    const directory = this.#directoryOf(record);
    if (!record.has(RECORD.update)) {
      const fd = directory.createFile(this.#workingName(record), UNFINISHED_FILE);
      try {
        ftruncateSync(fd, record.size);
      } finally {
        directory.closeFile(fd);
      }
      return;
    }
    const fd = this.#openExisting(directory, record);
    try {
      this.#markUnfinished(fd);
      ftruncateSync(fd, record.size);
      this.#emptyHoles(fd, record);
    } finally {
      directory.closeFile(fd);
    }
  }

  #openExisting(directory: TargetDirectory, record: EntryRecord): number {
    const fd = directory.openFile(record.name, 'read-write');
    const stat = directory.fstat(fd);
    if (isRegular(stat) && stat.nlink === 1) return fd;
    directory.closeFile(fd);
    throw new EntryFailure('CHANGED', 'another entry took its place during the restore');
  }

  #markUnfinished(fd: number): void {
    try {
      fchmodSync(fd, UNFINISHED_FILE);
    } catch (error) {
      // somebody else's file that may be written all the same
      if (errnoOf(error) !== 'EPERM') throw error;
    }
  }

  /** Overwrites with zeros what stands where the snapshot's version has holes. */
  #emptyHoles(fd: number, record: EntryRecord): void {
    let filled = false;
    let end = 0;
    const count = record.pieceCount;
    for (let i = 0; i <= count; i += 1) {
      const piece = i < count ? record.piece(i) : undefined;
      const start = piece?.fileOffset ?? record.size;
      if (start > end && this.#emptyRange(fd, end, start)) filled = true;
      if (piece !== undefined) end = piece.fileOffset + piece.take;
    }
    if (filled) this.#parts.filledHole(record);
  }

  /** True when there was anything. */
  #emptyRange(fd: number, start: number, end: number): boolean {
    let any = false;
    for (const extent of dataExtents(fd, end)) {
      const from = Math.max(start, extent.offset);
      const to = Math.min(end, extent.offset + extent.length);
      for (let at = from; at < to; at += ZEROS.length) {
        writeFully(fd, ZEROS.subarray(0, Math.min(ZEROS.length, to - at)), at);
        any = true;
      }
    }
    return any;
  }

  /** A new file in one go. When anything fails nothing of it stays. */
  #create(record: EntryRecord, fill: (fd: number) => void): void {
    const directory = this.#directoryOf(record);
    const name = this.#workingName(record);
    const fd = directory.createFile(name, UNFINISHED_FILE);
    try {
      try {
        if (record.has(RECORD.sized)) ftruncateSync(fd, record.size);
        fill(fd);
        this.#finishOpen(directory, fd, record);
      } finally {
        directory.closeFile(fd);
      }
      putInPlace(directory, name, record);
    } catch (error) {
      removeQuietly(() => directory, name);
      throw error;
    }
  }

  /** After the last piece of a shared file. */
  #complete(record: EntryRecord): void {
    const directory = this.#directoryOf(record);
    const name = this.#workingName(record);
    const fd = record.has(RECORD.metadataOnly)
      ? openAnyhow(directory, name)
      : directory.openFile(name, 'read-write');
    try {
      if (this.#parts.verify && record.has(RECORD.update) && !record.has(RECORD.metadataOnly))
        this.#verifyContent(fd, record);
      this.#finishOpen(directory, fd, record);
    } finally {
      directory.closeFile(fd);
    }
    putInPlace(directory, name, record);
  }

  #finishOpen(directory: TargetDirectory, fd: number, record: EntryRecord): void {
    const { metadata, directories } = this.#parts;
    metadata.file(directory, fd, record, record.has(RECORD.update), () =>
      directories.pathOfEntry(record.handle),
    );
    if (record.has(RECORD.leader)) record.created = directory.fstat(fd);
  }

  #discard(record: EntryRecord): void {
    if (record.has(RECORD.update)) return;
    removeQuietly(() => this.#directoryOf(record), this.#workingName(record));
  }

  /** Reads a file that was changed in place once more. */
  #verifyContent(fd: number, record: EntryRecord): void {
    const size = fstatSync(fd).size;
    if (size !== record.size) throw new EntryFailure('CHANGED', `it has ${size} bytes after the restore`);
    const count = record.pieceCount;
    for (let i = 0; i < count; i += 1) {
      const piece = record.piece(i);
      if (piece.skip !== 0 || piece.take !== piece.length) continue;
      if (this.#readBack.length < piece.length) this.#readBack = Buffer.allocUnsafeSlow(piece.length);
      const bytes = this.#readBack.subarray(0, piece.length);
      if (!readFully(fd, bytes, piece.fileOffset) || !this.#parts.hasher.id(bytes).equals(piece.id)) {
        throw new EntryFailure('CHANGED', `at byte ${piece.fileOffset} it is not what was written`);
      }
    }
  }

  /** The chunk must have the id that the tree says; files that share it come one after the other. */
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

  /** The name a file has until it is complete: its own when nothing stands there and one thread writes it at once. */
  #workingName(record: EntryRecord): ByteString {
    return workingName(record, this.#parts.run);
  }
}

function workingName(record: EntryRecord, run: string): ByteString {
  const { flags } = record;
  if ((flags & RECORD.update) !== 0 || (flags & (RECORD.replace | RECORD.spread)) === 0) return record.name;
  return asByteString(temporaryName(run, record.serial));
}

/** After the threads have ended before their time: removes what they began of these files. */
export function removeUnfinished(
  files: Iterable<RecordHandle>,
  { records, directories, run }: { records: EntryRecords; directories: OpenDirectories; run: string },
): void {
  for (const handle of files) {
    const record = records.at(handle);
    const { words, index } = record.state;
    const state = words[index];
    if (state === STATE.untouched || state === STATE.complete || record.has(RECORD.update)) continue;
    removeQuietly(() => directories.at(record.parent), workingName(record, run));
  }
}

/** Gives a complete file its own name. */
function putInPlace(directory: TargetDirectory, name: ByteString, record: EntryRecord): void {
  const ownName = record.name;
  if (name === ownName) return;
  if (!record.has(RECORD.replace) && directory.find(ownName) !== undefined) {
    throw new EntryFailure('CHANGED', 'another entry took its name during the restore');
  }
  directory.rename(name, ownName);
}

function openAnyhow(directory: TargetDirectory, name: ByteString): number {
  try {
    return directory.openFile(name, 'read');
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error;
    return directory.openFile(name, 'read-write');
  }
}

function removeQuietly(directory: () => TargetDirectory, name: ByteString): void {
  try {
    directory().removeFile(name);
  } catch (error) {
    // the failure that led here is the one to tell; what stays carries the mode of unfinished files
    if (errnoOf(error) === undefined) throw error;
  }
}

export function writeFully(fd: number, bytes: Buffer, position: number): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}

/** False when the file ends before. */
export function readFully(fd: number, into: Buffer, position: number): boolean {
  for (let done = 0; done < into.length;) {
    const count = readSync(fd, into, done, into.length - done, position + done);
    if (count === 0) return false;
    done += count;
  }
  return true;
}
