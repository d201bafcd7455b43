import { fchownSync } from 'node:fs';
import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import { takePlaceOfDirectory } from '../target/remove-tree.ts';
import { EntryFailure } from '../target/entry-failure.ts';
import { RECORD, type EntryRecord, type EntryRecords, type RecordHandle } from '../target/entry-records.ts';
import type { MetadataWriter } from '../metadata/metadata.ts';
import type { OpenDirectories } from '../target/open-directories.ts';
import { isRegular } from '../request/standing.ts';
import { syncToDisk } from '../target/file-io.ts';
import { renameToOwn } from '../target/taken-names.ts';
import { UNFINISHED_FILE, type TargetDirectory } from '../target/target-directory.ts';
import { STATE, removeQuietly, unmark, workingName } from '../target/unfinished-files.ts';

/**
 * Up to this many files are synced one by one. For more, one call for the whole file system is cheaper, although it
 * also waits for what other programs have written there.
 */
export const SYNCED_ONE_BY_ONE = 64;

/** Errors that say that a file may not be opened in one way, but may be in another. */
const REFUSED: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ETXTBSY']);

export interface CompleterParts {
  readonly records: EntryRecords;
  readonly directories: OpenDirectories;
  readonly metadata: MetadataWriter;
  readonly run: string;
  /** Called for each file that fails. A system error that ends the whole restore is thrown instead. */
  readonly failed: (file: RecordHandle, error: unknown) => void;
}

/**
 * The last step for each file. Only once its content is on disk does it get its owner, attributes, times and permissions, and
 * its name if it was written under another. So whatever happens to the machine, a file that looks finished has its content.
 */
export class FileCompleter {
  readonly #parts: CompleterParts;

  constructor(parts: CompleterParts) {
    this.#parts = parts;
  }

  /** @param files with all their content written */
  complete(files: Uint32Array): void {
    const synced = files.length > SYNCED_ONE_BY_ONE ? this.#syncFileSystems(files) : new Set<bigint>();
    for (const handle of files) {
      const record = this.#parts.records.at(handle);
      try {
        this.#complete(record, synced);
        Atomics.store(record.state.words, record.state.index, STATE.complete);
      } catch (error) {
        this.#parts.failed(handle, error);
      }
    }
  }

  /** Syncs the file systems of these files. Returns those on which everything is on disk. */
  #syncFileSystems(files: Uint32Array): ReadonlySet<bigint> {
    const { records, directories } = this.#parts;
    const synced = new Set<bigint>();
    const asked = new Set<bigint>();
    for (const handle of files) {
      const { created, parent } = records.at(handle);
      if (asked.has(created.dev)) continue;
      asked.add(created.dev);
      try {
        const directory = directories.at(parent);
        // a file may itself be a mount point
        if (directory.stat().dev === created.dev && directory.syncFileSystem()) synced.add(created.dev);
      } catch (error) {
        // each file is then synced separately, and reports what is wrong with it
        if (errnoOf(error) === undefined) throw error;
      }
    }
    return synced;
  }

  #complete(record: EntryRecord, synced: ReadonlySet<bigint>): void {
    const directory = this.#parts.directories.at(record.parent);
    const name = workingName(record, this.#parts.run);
    const fd = openOwn(directory, name, record);
    try {
      const isSynced = synced.has(record.created.dev);
      if (!isSynced) syncToDisk(fd);
      this.#setMetadata(directory, fd, record);
      if (!isSynced) syncToDisk(fd);
      putInPlace(directory, name, record);
      if (record.has(RECORD.update) && !record.has(RECORD.metadataOnly))
        unmark(directory, record, this.#parts.run);
    } catch (error) {
      if (!record.has(RECORD.update)) removeQuietly(() => directory, name);
      throw error;
    } finally {
      directory.closeFile(fd);
    }
  }

  #setMetadata(directory: TargetDirectory, fd: number, record: EntryRecord): void {
    const { metadata, directories } = this.#parts;
    if (record.has(RECORD.keepsOwner)) {
      const standing = directory.find(record.name);
      if (standing !== undefined && isRegular(standing)) fchownSync(fd, standing.uid, standing.gid);
    }
    metadata.file(directory, fd, record, record.has(RECORD.update), () =>
      directories.pathOfEntry(record.handle),
    );
  }
}

/**
 * Opens the file that this restore has written. If that fails with a system error, the file is removed if its name is a
 * temporary one, since only then is it certain to be this run's. That has to happen before the directory gets its times.
 */
function openOwn(directory: TargetDirectory, name: ByteString, record: EntryRecord): number {
  try {
    const fd = openWritten(directory, name, record);
    try {
      requireWritten(record, directory, fd);
      return fd;
    } catch (error) {
      directory.closeFile(fd);
      throw error;
    }
  } catch (error) {
    const isOwn = name !== record.name && !(error instanceof EntryFailure);
    if (isOwn) removeQuietly(() => directory, name);
    throw error;
  }
}

/** Opens a file for its last step, for writing if possible, else for reading. */
function openWritten(directory: TargetDirectory, name: ByteString, record: EntryRecord): number {
  try {
    return directory.openFile(name, 'read-write');
  } catch (error) {
    if (!REFUSED.has(errnoOf(error) ?? '')) throw error;
  }
  try {
    return directory.openFile(name, 'read');
  } catch (error) {
    if (errnoOf(error) !== 'EACCES' || directory.find(name)?.ino !== record.created.ino) throw error;
    // this process is the owner and may give itself the permission it lacks
    directory.setMode(name, UNFINISHED_FILE);
    return directory.openFile(name, 'read-write');
  }
}

/** Makes sure that no other file gets the metadata or the name of this one. */
function requireWritten({ created }: EntryRecord, directory: TargetDirectory, fd: number): void {
  const stat = directory.fstat(fd);
  if (isRegular(stat) && stat.ino === created.ino && stat.dev === created.dev && stat.nlink === 1) return;
  throw new EntryFailure('CHANGED', 'another entry took its place during the restore');
}

/** Gives a complete file its own name. */
function putInPlace(directory: TargetDirectory, name: ByteString, record: EntryRecord): void {
  const ownName = record.name;
  if (name === ownName) return;
  if (record.has(RECORD.clears)) {
    takePlaceOfDirectory(directory, name, ownName);
    return;
  }
  if (record.has(RECORD.replace)) directory.rename(name, ownName);
  else renameToOwn(directory, name, ownName);
}
