import { fchmodSync, ftruncateSync } from 'node:fs';
import { errnoOf } from '../../base/errors.ts';
import type { ChunkHasher } from '../../codec/hash.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import { dataExtents } from '../../system/holes.ts';
import { EntryFailure } from '../target/entry-failure.ts';
import { type EntryRecord, RECORD } from '../target/entry-records.ts';
import { readFully, syncToDisk, writeFully } from '../target/file-io.ts';
import { isRegular } from '../request/standing.ts';
import { type TargetDirectory, UNFINISHED_FILE } from '../target/target-directory.ts';
import { markUnfinished } from '../target/unfinished-files.ts';

const ZEROS = Buffer.alloc(65_536);
/** Bytes copied at once. */
const STRETCH = 1024 * 1024;

export interface UpdaterParts {
  readonly run: string;
  readonly hasher: ChunkHasher;
  /** Whether to read changed files again. */
  readonly verify: boolean;
  /** Called when a hole of the snapshot's version was filled with zeros instead. */
  readonly filledHole: (record: EntryRecord) => void;
}

/**
 * Changes existing files in place. No file is touched before everything it lacks is at hand, so that damage in the
 * repository costs no existing file. Nor is it touched before a mark next to it and its mode say on disk that it is
 * unfinished, so that after a power loss no mixture of old and new content looks like a finished file.
 */
export class FileUpdater {
  readonly #parts: UpdaterParts;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(parts: UpdaterParts) {
    this.#parts = parts;
  }

  /** @param write writes the pieces that the file lacks; they have been checked */
  update(directory: TargetDirectory, record: EntryRecord, write: (fd: number) => void): void {
    const fd = directory.openFile(record.name, 'read-write');
    try {
      requireCompared(record, directory.fstat(fd));
      markUnfinished(directory, record, this.#parts.run);
      giveUnfinishedMode(fd);
      ftruncateSync(fd, record.size);
      this.#emptyHoles(fd, record);
      write(fd);
      if (this.#parts.verify) this.#verify(directory, fd, record);
    } finally {
      directory.closeFile(fd);
    }
  }

  /** Copies the missing pieces from another file, where they are at the same offsets. */
  copyMissing(from: number, to: number, record: EntryRecord): void {
    const count = record.pieceCount;
    for (let i = 0; i < count; i += 1) {
      if (record.isPresent(i)) continue;
      const { take, fileOffset } = record.piece(i);
      for (let done = 0; done < take; done += STRETCH) {
        const bytes = this.#room(Math.min(STRETCH, take - done));
        if (!readFully(from, bytes, fileOffset + done))
          throw new EntryFailure('CHANGED', 'the data for it was cut short');
        writeFully(to, bytes, fileOffset + done);
      }
    }
  }

  /** Overwrites with zeros any data that is where the snapshot's version has holes. */
  #emptyHoles(fd: number, record: EntryRecord): void {
    let filled = false;
    let end = 0;
    const count = record.pieceCount;
    for (let i = 0; i <= count; i += 1) {
      const piece = i < count ? record.piece(i) : undefined;
      const start = piece?.fileOffset ?? record.size;
      if (start > end && emptyRange(fd, end, start)) filled = true;
      if (piece !== undefined) end = piece.fileOffset + piece.take;
    }
    if (filled) this.#parts.filledHole(record);
  }

  #verify(directory: TargetDirectory, fd: number, record: EntryRecord): void {
    const { size } = directory.fstat(fd);
    if (size !== record.size) throw new EntryFailure('CHANGED', `it has ${size} bytes after the restore`);
    const count = record.pieceCount;
    for (let i = 0; i < count; i += 1) {
      const piece = record.piece(i);
      if (piece.skip !== 0 || piece.take !== piece.length) continue;
      const bytes = this.#room(piece.length);
      if (!readFully(fd, bytes, piece.fileOffset) || !this.#parts.hasher.id(bytes).equals(piece.id)) {
        throw new EntryFailure('CHANGED', `at byte ${piece.fileOffset} it differs from what was written`);
      }
    }
  }

  #room(length: number): Buffer {
    if (this.#buffer.length < length) this.#buffer = Buffer.allocUnsafeSlow(length);
    return this.#buffer.subarray(0, length);
  }
}

/** @throws {EntryFailure} CHANGED when it is not the file that was compared, or has got another name */
export function requireCompared(record: EntryRecord, stat: EntryStat): void {
  const { ino, dev } = record.created;
  const mayBe = stat.nlink === 1 || record.has(RECORD.shared);
  if (isRegular(stat) && mayBe && stat.ino === ino && stat.dev === dev) return;
  throw new EntryFailure('CHANGED', 'another entry took its place during the restore');
}

function giveUnfinishedMode(fd: number): void {
  try {
    fchmodSync(fd, UNFINISHED_FILE);
  } catch (error) {
    // another user's file, which may be written even so
    if (errnoOf(error) !== 'EPERM') throw error;
    return;
  }
  syncToDisk(fd);
}

/** Overwrites the data in a range with zeros. True if there was any. */
function emptyRange(fd: number, start: number, end: number): boolean {
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
