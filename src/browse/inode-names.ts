/** Entries that are names of one inode: what a restore and an archive make links of. */
import type { Entry } from '../format/tree.ts';
import { contentDiffers } from './entry-comparison.ts';

interface Known<T> {
  /** Without the buffer of the tree chunk that it came in, so that this can go. */
  readonly entry: Entry;
  readonly kept: T;
}

/**
 * What was kept with the first name of every inode that has several. Numbers of inodes and devices alone prove nothing: they are
 * given again, and a file may change between the reads of two of its names. So only entries that hold the same are names of one.
 */
export class InodeNames<T> {
  readonly #inodes = new Map<string, readonly Known<T>[]>();

  static hasSeveral({ links }: Entry): boolean {
    return links !== undefined && links.count > 1;
  }

  /** Undefined for the first name, and for everything that has one name. */
  get(entry: Entry): T | undefined {
    if (!InodeNames.hasSeveral(entry)) return undefined;
    return this.#inodes.get(inodeOf(entry))?.find((one) => holdsSame(one.entry, entry))?.kept;
  }

  /** Keeps something with the first name; nothing where another one was the first, or there is only one. */
  add(entry: Entry, kept: T): void {
    if (!InodeNames.hasSeveral(entry) || this.get(entry) !== undefined) return;
    const inode = inodeOf(entry);
    this.#inodes.set(inode, [...(this.#inodes.get(inode) ?? []), { entry: bare(entry), kept }]);
  }

  /** No further name is expected. */
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
