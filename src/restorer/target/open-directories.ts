import { asByteString, type ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { EntryRecords, RecordHandle } from './entry-records.ts';
import type { TargetDirectory } from './target-directory.ts';

/** The number of directories that each thread keeps open. Files come in tree order, so a few are enough. */
const KEPT_OPEN = 24;
/** When a deep directory is opened, only this many of those above it are kept open, so that others are not closed for them. */
const KEPT_ABOVE = 12;

/**
 * The directories of the target that this thread has open. The least recently used ones are closed. Each is opened by
 * its name relative to its parent's descriptor, never through a link.
 */
export class OpenDirectories {
  readonly #rootHandle: RecordHandle;
  readonly #root: TargetDirectory;
  readonly #records: EntryRecords;
  readonly #open = new Map<RecordHandle, TargetDirectory>();
  #last: TargetDirectory;
  #lastHandle: RecordHandle;

  constructor(records: EntryRecords, rootHandle: RecordHandle, root: TargetDirectory) {
    this.#records = records;
    this.#rootHandle = rootHandle;
    this.#root = root;
    this.#last = root;
    this.#lastHandle = rootHandle;
  }

  /**
   * The directory of a record. It stays open during the next call, but not indefinitely.
   * @throws a system error when it, or one above it, is not the directory it was, or has become a link
   */
  at(handle: RecordHandle): TargetDirectory {
    if (handle === this.#lastHandle) return this.#last;
    const directory = this.#known(handle) ?? this.#openFrom(handle);
    this.#last = directory;
    this.#lastHandle = handle;
    return directory;
  }

  /** The path of an entry of this directory, below the target. */
  pathOf(handle: RecordHandle, name: ByteString): ByteString {
    const names: ByteString[] = [name];
    for (let at = handle; at !== this.#rootHandle;) {
      const record = this.#records.at(at);
      names.push(record.name);
      at = record.parent;
    }
    return asByteString(`/${names.toReversed().join('/')}`);
  }

  /** The path of the entry with this record, below the target. */
  pathOfEntry(handle: RecordHandle): ByteString {
    if (handle === this.#rootHandle) return asByteString('/');
    const record = this.#records.at(handle);
    return this.pathOf(record.parent, record.name);
  }

  /** Closes all but the root, which may be shared. */
  closeOpened(): void {
    this.#closeDownTo(0);
  }

  close(): void {
    this.closeOpened();
    this.#root.close();
  }

  #known(handle: RecordHandle): TargetDirectory | undefined {
    if (handle === this.#rootHandle) return this.#root;
    const directory = this.#open.get(handle);
    if (directory === undefined) return undefined;
    this.#open.delete(handle);
    this.#open.set(handle, directory);
    return directory;
  }

  #openFrom(handle: RecordHandle): TargetDirectory {
    const missing: RecordHandle[] = [handle];
    let above = this.#records.at(handle).parent;
    let directory = this.#known(above);
    while (directory === undefined) {
      missing.push(above);
      above = this.#records.at(above).parent;
      directory = this.#known(above);
    }
    // directories far above the last ones are only passed through
    let passing: TargetDirectory | undefined;
    try {
      for (let i = missing.length - 1; i >= 0; i -= 1) {
        const one = missing[i] ?? handle;
        const keeps = i < KEPT_ABOVE;
        const next: TargetDirectory = keeps
          ? this.#openOne(directory, one)
          : directory.openDirectory(this.#records.at(one).name);
        passing?.close();
        passing = keeps ? undefined : next;
        directory = next;
      }
    } catch (error) {
      passing?.close();
      throw error;
    }
    return directory;
  }

  #openOne(parent: TargetDirectory, handle: RecordHandle): TargetDirectory {
    const { name } = this.#records.at(handle);
    let directory: TargetDirectory;
    try {
      directory = parent.openDirectory(name);
    } catch (error) {
      const code = errnoOf(error);
      if ((code !== 'EMFILE' && code !== 'ENFILE') || this.#open.size <= 1) throw error;
      // the parent was used last, so it is the one that stays open
      this.#closeDownTo(1);
      directory = parent.openDirectory(name);
    }
    this.#closeDownTo(KEPT_OPEN - 1);
    this.#open.set(handle, directory);
    return directory;
  }

  #closeDownTo(count: number): void {
    for (const [handle, directory] of this.#open) {
      if (this.#open.size <= count) return;
      this.#open.delete(handle);
      if (handle === this.#lastHandle) {
        this.#last = this.#root;
        this.#lastHandle = this.#rootHandle;
      }
      directory.close();
    }
  }
}
