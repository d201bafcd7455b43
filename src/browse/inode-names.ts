/** Recognises entries that are names of one inode, for restores and archives to make links. */
import type { Entry } from '../format/tree.ts';
import { contentDiffers } from './entries.ts';

interface Known<T> {
  /** The entry without the buffer of its tree chunk, so that the buffer can be freed. */
  readonly entry: Entry;
  readonly kept: T;
}

/**
 * Keeps a value with the first name of every inode that has several. Inode and device numbers alone prove nothing: they
 * are reused, and a file may change between the reads of two of its names. So only entries with the same content are
 * names of one inode.
 */
export class InodeNames<T> {
  readonly #inodes = new Map<string, readonly Known<T>[]>();

  static hasSeveral({ links }: Entry): boolean {
    return links !== undefined && links.count > 1;
  }

  /** The value kept with the first name. Undefined for the first name itself, and for anything with only one name. */
  get(entry: Entry): T | undefined {
    if (!InodeNames.hasSeveral(entry)) return undefined;
    return this.#inodes.get(inodeOf(entry))?.find((one) => holdsSame(one.entry, entry))?.kept;
  }

  /** Keeps a value with the first name. Does nothing if another name was the first, or if there is only one. */
  add(entry: Entry, kept: T): void {
    if (!InodeNames.hasSeveral(entry) || this.get(entry) !== undefined) return;
    const inode = inodeOf(entry);
    this.#inodes.set(inode, [...(this.#inodes.get(inode) ?? []), { entry: bare(entry), kept }]);
  }

  /** To be called when no further name is expected. */
  delete(entry: Entry): void {
    const inode = inodeOf(entry);
    const others = this.#inodes.get(inode)?.filter((one) => !holdsSame(one.entry, entry)) ?? [];
    if (others.length > 0) this.#inodes.set(inode, others);
    else this.#inodes.delete(inode);
  }
}

function holdsSame(a: Entry, b: Entry): boolean {
  return a.type === b.type && !contentDiffers(a, b, true);
}

function bare(entry: Entry): Entry {
  const small = { ...entry, xattrs: undefined };
  return small.type === 'file' ? { ...small, content: Buffer.from(small.content) } : small;
}

function inodeOf({ inode, links }: Entry): string {
  return `${links?.device ?? 0}:${inode}`;
}
