import { constants, fstatSync, readSync } from 'node:fs';
import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { OmittedKind } from '../../format/omission.ts';
import type { Chunker } from '../../codec/chunker.ts';
import { dataExtents } from '../../system/holes.ts';
import { native } from '../../system/native.ts';
import type { ChunkSink } from './chunk-sink.ts';
import { Cutter, MAX_HOLES, type CutContent } from './cutter.ts';
import { REPLACED_CODE } from '../source/same-entry.ts';
import type { FileRead, FileTask, StatFacts } from './messages.ts';
import { keepsInodes } from '../source/same-entry.ts';
import { closeSource, opensWithoutLinks, openSource } from '../source/open.ts';
import { storedNumber } from '../../format/stored-number.ts';
import { capturedXattrs } from '../source/xattrs.ts';

const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Linux: leave access times alone where permitted (for the owner or root). */
const O_NOATIME = process.platform === 'linux' ? 0o1000000 : 0;

/** Files below this size are one chunk, read straight to where it is compressed from. */
const SMALL_FILE = 262_144;

const EMPTY_CONTENT: CutContent = { ids: [], holes: [] };

/** Reads files into chunks. Everything is synchronous: a promise costs ten times what reading a small file does. */
export class FileReader {
  readonly #sink: ChunkSink;
  readonly #cutter: Cutter;
  #noAtime = O_NOATIME;

  constructor(sink: ChunkSink, chunker: Chunker) {
    this.#sink = sink;
    this.#cutter = new Cutter(chunker, (chunk) => sink.take(chunk));
  }

  /** Reads one file or span. A whole file that changes meanwhile is read once more. A source error is returned, not thrown. */
  read(task: FileTask): FileRead {
    let fd: number;
    try {
      fd = this.#open(task.path);
    } catch (error) {
      return sourceFailure(error);
    }
    try {
      return this.#readAndClose(fd, task);
    } catch (error) {
      if (errnoOf(error) === undefined || !isSourceErrno(error)) throw error;
      this.#cutter.finish();
      return sourceFailure(error);
    }
  }

  /** Closing is part of reading: a file system may report an error only then. */
  #readAndClose(fd: number, task: FileTask): FileRead {
    try {
      return this.#readOpen(fd, task);
    } finally {
      closeSource(task.path, fd);
    }
  }

  /**
   * The walker's stat serves as the stat before reading. Only a file that differs from it afterwards is read, and
   * looked at, again.
   */
  #readOpen(fd: number, task: FileTask): FileRead {
    if (!isSureToBe(fd, task)) return REPLACED;
    let facts: StatFacts = task;
    for (let attempt = 0; ; attempt += 1) {
      const { content, bytes, more } = this.#readContent(fd, facts, task);
      const after = statOpen(fd);
      if (after === undefined)
        return { problem: 'ENOENT', message: 'it was replaced by something that is not a file' };
      if (!Number.isSafeInteger(after.size)) return TOO_LARGE;
      const steady = sameFile(after, facts) && bytes === task.spanLength(facts.size) && more !== true;
      if (!steady && attempt === 0 && task.whole) {
        facts = after;
        continue;
      }
      const xattrProblems: OmittedKind[] = [];
      const xattrs = task.first ? capturedXattrs(fd, (what) => xattrProblems.push(what)) : undefined;
      return {
        content,
        size: task.whole ? bytes : facts.size,
        changed: !steady,
        // With newer content goes the newer owner and mode, so that the content is as closed to others as it is in the
        // source.
        stat: steady && facts === task ? undefined : after,
        xattrs,
        xattrProblems,
      };
    }
  }

  #readContent(fd: number, facts: StatFacts, task: FileTask): ReadContent {
    const length = task.spanLength(facts.size);
    if (task.whole && length === 0)
      return { content: EMPTY_CONTENT, bytes: 0, more: !this.#isStillEmpty(fd) };
    if (task.whole && length < SMALL_FILE) return this.#readSmall(fd, length);
    return this.#readLarge(fd, task.offset, length, facts);
  }

  #isStillEmpty(fd: number): boolean {
    return readSync(fd, Buffer.allocUnsafe(1), 0, 1, 0) === 0;
  }

  #readSmall(fd: number, length: number): ReadContent {
    const room = this.#sink.reserve(length);
    let bytes = 0;
    while (bytes < length) {
      const got = readSync(fd, room, bytes, length - bytes, bytes);
      if (got === 0) break;
      bytes += got;
    }
    if (bytes === 0) return { content: EMPTY_CONTENT, bytes };
    return { content: { ids: [this.#sink.takeReserved(room, bytes)], holes: [] }, bytes };
  }

  #readLarge(fd: number, offset: number, length: number, facts: StatFacts): ReadContent {
    const end = offset + length;
    const sparse = facts.blocks * 512 < facts.size;
    const extents = sparse ? dataExtents(fd, facts.size) : [{ offset, length }];
    let position = offset;
    this.#cutter.limitHoles(Math.max(1, Math.floor((MAX_HOLES * length) / facts.size)));
    for (const extent of extents) {
      const from = Math.max(extent.offset, offset);
      const to = Math.min(extent.offset + extent.length, end);
      if (to <= from) continue;
      if (from > position && this.#cutter.takesHole(position)) {
        this.#cutter.hole(position, from - position);
        position = from;
      }
      while (position < to) {
        const room = this.#cutter.room(position);
        const got = readSync(fd, room, 0, Math.min(room.length, to - position), position);
        if (got === 0) {
          // Later spans have to keep their offsets, so what is missing from this one becomes a hole.
          const bytes = position - offset;
          if (offset > 0 || end < facts.size) this.#cutter.hole(position, end - position);
          return { content: this.#cutter.finish(), bytes };
        }
        this.#cutter.filled(position, got);
        position += got;
      }
    }
    if (position < end) this.#cutter.hole(position, end - position);
    return { content: this.#cutter.finish(), bytes: length };
  }

  #open(path: ByteString): number {
    if (this.#noAtime === 0) return openSource(path, OPEN_FLAGS);
    try {
      return openSource(path, OPEN_FLAGS | this.#noAtime);
    } catch (error) {
      // Only the owner and root may leave access times alone; the file itself may still be readable.
      if (errnoOf(error) !== 'EPERM') throw error;
      return openSource(path, OPEN_FLAGS);
    }
  }
}

interface ReadContent {
  readonly content: CutContent;
  /** Length of the content, holes included. */
  readonly bytes: number;
  /** A file of size 0 has content all the same: it has just grown, or the kernel makes up its content. */
  readonly more?: boolean;
}

const TOO_LARGE: FileRead = { problem: 'EFBIG', message: 'it is larger than a snapshot can hold' };
const REPLACED: FileRead = { problem: REPLACED_CODE, message: 'another file took its place' };

/**
 * Whether the opened file is the one that the walker saw. Otherwise someone may have put another directory in place of the
 * one walked, with a file in it that is closed to those who may read the snapshot. Where inode numbers are not permanent,
 * another number passes for a whole file if owner and mode are the same, unless a link on the way may have been followed.
 */
function isSureToBe(fd: number, task: FileTask): boolean {
  const found = native === null ? fstatSync(fd, { bigint: true }) : native.fstat(fd);
  // A freed inode number may belong to a directory by now.
  if ((Number(found.mode) & constants.S_IFMT) !== constants.S_IFREG) return false;
  const isSameDevice = task.device < 0 || storedNumber(found.dev) === task.device;
  if (isSameDevice && storedNumber(found.ino) === task.inode) return true;
  if (!task.whole || !opensWithoutLinks(task.path) || keepsInodes(fd)) return false;
  const isAsOpen = (Number(found.mode) & 0o7777) === task.mode && Number(found.uid) === task.uid;
  return isAsOpen && Number(found.gid) === task.gid;
}

function sameFile(one: StatFacts, other: StatFacts): boolean {
  return (
    one.ctimeNs === other.ctimeNs &&
    one.mtimeNs === other.mtimeNs &&
    one.size === other.size &&
    one.inode === other.inode
  );
}

/** Undefined when what was opened is not a regular file. */
function statOpen(fd: number): StatFacts | undefined {
  const stat = native === null ? fstatSync(fd, { bigint: true }) : native.fstat(fd);
  const mode = Number(stat.mode);
  if ((mode & constants.S_IFMT) !== constants.S_IFREG) return undefined;
  return {
    size: Number(stat.size),
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
    inode: storedNumber(stat.ino),
    blocks: Number(stat.blocks),
    mode: mode & 0o7777,
    uid: Number(stat.uid),
    gid: Number(stat.gid),
  };
}

/** Whether reading a source can give this error. Anything else (a bug, lack of memory) is not the file's fault. */
function isSourceErrno(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

function sourceFailure(error: unknown): FileRead {
  const code = errnoOf(error);
  if (code === undefined) throw error;
  return { problem: code, message: error instanceof Error ? error.message : code };
}
