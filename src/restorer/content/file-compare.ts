import { errnoOf } from '../../base/errors.ts';
import type { ChunkHasher } from '../../codec/hash.ts';
import { dataExtents } from '../../system/holes.ts';
import { RECORD, type EntryRecord } from '../target/entry-records.ts';
import { readFully } from '../target/file-io.ts';
import { hasMetadata, hasXattrs } from '../metadata/compare.ts';
import { keptOwner, type MetadataPolicy } from '../metadata/metadata.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import { isRegular } from '../request/standing.ts';
import type { TargetDirectory } from '../target/target-directory.ts';

/** Errors that say that an existing file may not be opened for writing: it may be right as it is, or can be replaced. */
const NOT_WRITABLE: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ETXTBSY',
  'ELOOP',
  'EISDIR',
  'ENXIO',
]);

/** Finds out which pieces of a file already exist in the target. */
export class FileComparer {
  readonly #hasher: ChunkHasher;
  readonly #policy: MetadataPolicy;
  #buffer: Buffer = Buffer.allocUnsafeSlow(65_536);

  constructor(hasher: ChunkHasher, policy: MetadataPolicy) {
    this.#hasher = hasher;
    this.#policy = policy;
  }

  /**
   * Marks the pieces that are present, or, when only the metadata differs, the whole record. A file that cannot be
   * changed in place, or has other names, is marked to be replaced unless it is as it should be. So is one whose content
   * is all fetched in any case, because a rename replaces it atomically.
   */
  compare(directory: TargetDirectory, record: EntryRecord): void {
    const { fd, isWritable } = opened(directory, record);
    if (fd === undefined) {
      this.#replaceKept(record);
      return;
    }
    try {
      const stat = directory.fstat(fd);
      if (!isRegular(stat)) {
        this.#replaceKept(record);
        return;
      }
      record.created = stat;
      const isAlone = stat.nlink === 1;
      const same = this.#markPieces(fd, stat.size, record);
      if (same && stat.size === record.size && this.#holesAreEmpty(fd, record)) {
        if (isAlone) record.flags |= RECORD.metadataOnly;
        else if (this.#hasMetadata(record, stat, fd)) record.flags |= RECORD.metadataOnly | RECORD.shared;
        else this.#replaceKept(record);
      } else if (!isWritable || !isAlone) this.#replaceKept(record);
      else if (isFetchedWhole(record) && this.#mayBeReplaced(directory, stat)) this.#replaceKept(record);
    } finally {
      directory.closeFile(fd);
    }
  }

  #hasMetadata(record: EntryRecord, stat: EntryStat, fd: number): boolean {
    return hasMetadata(this.#policy, record, stat) && hasXattrs(this.#policy, record.xattrs, fd);
  }

  /** Whether a new file can replace the existing one: its directory has to allow that, and the owner must stay the same. */
  #mayBeReplaced(directory: TargetDirectory, { uid, gid, dev }: EntryStat): boolean {
    const policy = this.#policy;
    // a file may itself be a mount point, which cannot be replaced
    if (dev !== directory.stat().dev) return false;
    if (policy.uid === 0) return true;
    return uid === policy.uid && gid === policy.gid && directory.takesEntries();
  }

  #replaceKept(record: EntryRecord): void {
    replaceInstead(record);
    record.flags |= keptOwner(this.#policy);
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

/** Opens a file for writing if possible, else for reading; `fd` is undefined if it may not be opened at all. */
function opened(
  directory: TargetDirectory,
  { name }: EntryRecord,
): { readonly fd: number | undefined; readonly isWritable: boolean } {
  for (const access of ['read-write', 'read'] as const) {
    try {
      return { fd: directory.openFile(name, access), isWritable: access === 'read-write' };
    } catch (error) {
      if (!NOT_WRITABLE.has(errnoOf(error) ?? '')) throw error;
    }
  }
  return { fd: undefined, isWritable: false };
}

/** Whether no piece of a file is present, or all of them lie in one segment, which is fetched in any case. */
function isFetchedWhole(record: EntryRecord): boolean {
  let anyPresent = false;
  let oneSegment = true;
  const count = record.pieceCount;
  for (let i = 0; i < count; i += 1) {
    anyPresent ||= record.isPresent(i);
    oneSegment &&= record.piece(i).segment === record.piece(0).segment;
  }
  return !anyPresent || oneSegment;
}

function replaceInstead(record: EntryRecord): void {
  record.flags = (record.flags & ~RECORD.update) | RECORD.replace;
  const count = record.pieceCount;
  for (let i = 0; i < count; i += 1) record.setPresent(i, false);
}
