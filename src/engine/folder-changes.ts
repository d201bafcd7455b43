/**
 * Adds up what changed between two snapshots of a source, folder by folder with everything below: which files look
 * encrypted now, and which are gone. Damage to a few hundred files is nothing among the many of a whole home directory,
 * but most of the files of a folder.
 */
import { isWithin, joinBytes, pathAbove, pathNames, type ByteString } from '../base/byte-path.ts';
import type { Change } from '../browse/diff.ts';
import type { FileEntry } from '../format/tree.ts';

/** Changed files of one folder that are looked at, spread evenly. */
const LOOKS_IN_FOLDER = 16;
/** Changed files that are looked at in all. */
const MOST_LOOKS = 20_000;
/** Earlier versions that are kept for a look, of a folder with all below. */
const EARLIER_KEPT = 16;

/** Folders that programs fill and empty by themselves. Files that vanish from them are no loss. */
const REMADE: ReadonlySet<string> = new Set(
  'node_modules vendor target build dist out obj bin coverage venv tmp temp cache caches __pycache__'.split(
    ' ',
  ),
);

export interface FolderChange {
  readonly path: ByteString;
  /** 0 for the source itself. */
  readonly depth: number;
  /** Files that changed, or came where others went, and look encrypted now; an estimate from those looked at. */
  readonly encrypted: number;
  /** Files that are gone, except from folders that programs empty by themselves, and hidden ones. */
  readonly gone: number;
  /** Earlier versions of files that are counted as encrypted. */
  readonly earlier: readonly FileEntry[];
}

/** Whether the file at a path of the source looks encrypted; undefined when that cannot be told. */
export type Look = (path: ByteString, entry: FileEntry) => boolean | undefined;

/** Takes the changes in their order, and keeps no more than the folders that are open at the moment. */
export class FolderChanges {
  readonly #root: ByteString;
  readonly #look: Look;
  readonly #least: number;
  readonly #open: Folder[] = [];
  readonly #found: FolderChange[] = [];
  #looks = 0;
  /** Files that were added anywhere in the source. */
  added = 0;

  /** @param least folders with fewer files of either kind are not reported, except for the source */
  constructor(root: ByteString, least: number, look: Look) {
    this.#root = root;
    this.#least = least;
    this.#look = look;
  }

  take(change: Change): void {
    const { path } = change;
    if (path === this.#root || !isWithin(path, this.#root)) return;
    const before = change.kind === 'added' ? undefined : change.before;
    const after = change.kind === 'removed' ? undefined : change.after;
    const was = before?.type === 'file' ? before : undefined;
    const is = after?.type === 'file' ? after : undefined;
    if ((was === undefined && is === undefined) || change.kind === 'metadata') return;
    const folder = this.#enter(pathAbove(path));
    if (was !== undefined && is !== undefined) folder.modified.add({ path, is, was });
    else if (is !== undefined) {
      this.added += 1;
      folder.added.add({ path, is, was: undefined });
    } else if (was !== undefined) {
      folder.removed += 1;
      if (!folder.isRemade) folder.gone += 1;
      folder.earlierRemoved.add(was);
    }
  }

  /** The folders, each before those in it. */
  finish(): readonly FolderChange[] {
    while (this.#open.length > 0) this.#leave();
    return this.#found.toReversed();
  }

  #enter(path: ByteString): Folder {
    while (this.#open.length > 0 && !isWithin(path, this.#open.at(-1)?.path ?? path)) this.#leave();
    let last = this.#open.at(-1);
    if (last === undefined) this.#open.push((last = new Folder(this.#root, 0, false)));
    for (const name of pathNames(path).slice(pathNames(last.path).length)) {
      const isRemade = last.isRemade || name.startsWith('.') || REMADE.has(name.toLowerCase());
      this.#open.push((last = new Folder(joinBytes(last.path, name), last.depth + 1, isRemade)));
    }
    return last;
  }

  #leave(): void {
    const folder = this.#open.pop();
    if (folder === undefined) return;
    this.#judge(folder);
    const { path, depth, gone } = folder;
    const [inPlace, renamed] = [folder.encryptedInPlace, Math.min(folder.encryptedNew, folder.removed)];
    const encrypted = Math.round(inPlace + renamed);
    const earlier = [...folder.earlier.items, ...(renamed === 0 ? [] : folder.earlierRemoved.items)];
    if (depth === 0 || Math.max(encrypted, gone) >= this.#least)
      this.#found.push({ path, depth, encrypted, gone, earlier });
    this.#open.at(-1)?.join(folder);
  }

  #judge(folder: Folder): void {
    const share = (kept: Spread<ChangedFile>): number => {
      const looked = kept.items.flatMap(({ path, is, was }) => {
        if (this.#looks >= MOST_LOOKS) return [];
        this.#looks += 1;
        const isEncrypted = this.#look(path, is);
        if (isEncrypted === true && was !== undefined) folder.earlier.add(was);
        return isEncrypted ?? [];
      });
      return looked.length === 0 ? 0 : looked.filter(Boolean).length / looked.length;
    };
    folder.encryptedInPlace += folder.modified.count * share(folder.modified);
    folder.encryptedNew += folder.added.count * share(folder.added);
  }
}

interface ChangedFile {
  readonly path: ByteString;
  readonly is: FileEntry;
  readonly was: FileEntry | undefined;
}

class Folder {
  readonly path: ByteString;
  readonly depth: number;
  readonly isRemade: boolean;
  /** Of files directly in it. */
  readonly modified = new Spread<ChangedFile>(LOOKS_IN_FOLDER);
  readonly added = new Spread<ChangedFile>(LOOKS_IN_FOLDER);
  /** With all below, from here on. */
  readonly earlier = new Spread<FileEntry>(EARLIER_KEPT);
  readonly earlierRemoved = new Spread<FileEntry>(EARLIER_KEPT);
  encryptedInPlace = 0;
  encryptedNew = 0;
  removed = 0;
  gone = 0;

  constructor(path: ByteString, depth: number, isRemade: boolean) {
    this.path = path;
    this.depth = depth;
    this.isRemade = isRemade;
  }

  join(below: Folder): void {
    this.encryptedInPlace += below.encryptedInPlace;
    this.encryptedNew += below.encryptedNew;
    this.removed += below.removed;
    this.gone += below.gone;
    for (const entry of below.earlier.items) this.earlier.add(entry);
    for (const entry of below.earlierRemoved.items) this.earlierRemoved.add(entry);
  }
}

/** Keeps a limited number of many items, spread evenly over all of them. */
class Spread<T> {
  readonly #most: number;
  #step = 1;
  count = 0;
  items: readonly T[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  add(item: T): void {
    if (this.count % this.#step === 0) {
      this.items = [...this.items, item];
      if (this.items.length > this.#most) {
        this.items = this.items.filter((_, at) => at % 2 === 0);
        this.#step *= 2;
      }
    }
    this.count += 1;
  }
}
