import { InodeNames } from '../browse/inode-names.ts';
import type { DirectoryEntry, Entry, FileEntry } from '../format/tree.ts';
import type { RecordHandle } from './entry-records.ts';
import type { NamedEntry } from './make-named.ts';

/** The first name seen of every inode that has several. */
export class HardLinks {
  readonly #files = new InodeNames<RecordHandle>();
  readonly #named = new InodeNames<NamedEntry>();
  readonly #leftAlone = new InodeNames<true>();

  static hasSeveralNames(entry: Entry): boolean {
    return InodeNames.hasSeveral(entry);
  }

  /** The file to link to. */
  leaderOf(entry: FileEntry): RecordHandle | undefined {
    return this.#files.get(entry);
  }

  lead(entry: FileEntry, handle: RecordHandle): void {
    this.#files.add(entry, handle);
  }

  /** What stands under one of its names is not looked at: it gets no further name. */
  leaveAlone(entry: FileEntry): void {
    this.#leftAlone.add(entry, true);
  }

  isLeftAlone(entry: FileEntry): boolean {
    return this.#leftAlone.get(entry) === true;
  }

  namedLeaderOf(entry: Exclude<Entry, FileEntry | DirectoryEntry>): NamedEntry | undefined {
    return this.#named.get(entry);
  }

  leadNamed(entry: Exclude<Entry, FileEntry | DirectoryEntry>, named: NamedEntry): void {
    this.#named.add(entry, named);
  }
}
