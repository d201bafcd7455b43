import type { DirectoryEntry, Entry, FileEntry } from '../format/tree.ts';
import type { RecordHandle } from './entry-records.ts';
import type { NamedEntry } from './make-named.ts';

/** The first name seen of every inode that has several. */
export class HardLinks {
  readonly #files = new Map<
    string,
    { readonly handle: RecordHandle; readonly size: number; readonly content: Buffer }
  >();
  readonly #named = new Map<string, NamedEntry>();

  static hasSeveralNames(entry: Entry): boolean {
    return entry.links !== undefined && entry.links.count > 1;
  }

  /** The file to link to. One of other content is another file, whatever its inode says. */
  leaderOf(entry: FileEntry): RecordHandle | undefined {
    if (!HardLinks.hasSeveralNames(entry)) return undefined;
    const known = this.#files.get(inodeOf(entry));
    return known !== undefined && known.size === entry.size && known.content.equals(entry.content)
      ? known.handle
      : undefined;
  }

  lead(entry: FileEntry, handle: RecordHandle): void {
    if (!HardLinks.hasSeveralNames(entry)) return;
    const inode = inodeOf(entry);
    if (this.#files.has(inode)) return;
    // copied, so that the tree chunk it lies in can go
    this.#files.set(inode, { handle, size: entry.size, content: Buffer.from(entry.content) });
  }

  namedLeaderOf(entry: Exclude<Entry, FileEntry | DirectoryEntry>): NamedEntry | undefined {
    return HardLinks.hasSeveralNames(entry) ? this.#named.get(`${entry.type}:${inodeOf(entry)}`) : undefined;
  }

  leadNamed(entry: Exclude<Entry, FileEntry | DirectoryEntry>, named: NamedEntry): void {
    if (HardLinks.hasSeveralNames(entry)) this.#named.set(`${entry.type}:${inodeOf(entry)}`, named);
  }
}

function inodeOf({ inode, links }: Entry): string {
  return `${links?.device ?? 0}:${inode}`;
}
