/**
 * Detects entries of a snapshot whose names are the same to the target's file system. Most of Windows and macOS ignore
 * case, some file systems compose letters in their own way, and FAT drops trailing dots. The second of two such entries
 * must not be taken for the first.
 */
import { textOfBytes, type ByteString } from '../../base/byte-path.ts';
import { foldedName, otherSpellings } from '../../base/spellings.ts';
import { errnoOf } from '../../base/errors.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import { EntryFailure } from './entry-failure.ts';
import type { TargetDirectory } from './target-directory.ts';

/**
 * Whether a directory finds its entries by other spellings; undefined where nothing in it tells.
 * @param names what it lists
 */
export function ignoresCase(
  names: readonly ByteString[],
  find: (name: ByteString) => Pick<EntryStat, 'dev' | 'ino'> | undefined,
): boolean | undefined {
  for (const name of names.slice(0, TRIED)) {
    const other = otherSpellings(name)[0];
    if (other === undefined || names.includes(other)) continue;
    const [found, alike] = [find(name), find(other)];
    if (found !== undefined) return alike !== undefined && inodeOf(alike) === inodeOf(found);
  }
  return undefined;
}

/** Entries of one directory of the snapshot whose names are one, by the folded name. */
export type Clashes = ReadonlyMap<string, readonly ClashingName[]>;

export interface ClashingName {
  readonly name: ByteString;
  /** It is to be restored. */
  readonly selected: boolean;
}

export const NO_CLASHES: Clashes = new Map();

/** The entries of a directory whose names are one. */
export async function clashesAmong(entries: AsyncIterable<ClashingName>): Promise<Clashes> {
  const first = new Map<string, ClashingName>();
  const clashes = new Map<string, ClashingName[]>();
  for await (const entry of entries) {
    const folded = foldedName(entry.name);
    const other = first.get(folded);
    if (other === undefined) first.set(folded, entry);
    else clashes.set(folded, [...(clashes.get(folded) ?? [other]), entry]);
  }
  return clashes;
}

/** Names of a directory that are tried: the first one with a letter in it tells. */
const TRIED = 8;

/**
 * The entries of the snapshot that exist in one directory of the target. `T` is what is known about a directory among them.
 */
export class TakenNames<T> {
  readonly #byName = new Map<string, ByteString[]>();
  readonly #byInode = new Map<string, ByteString>();
  readonly #directories = new Map<ByteString, T>();
  #stored: ReadonlySet<ByteString> = new Set();
  /** Who has claimed a name, by its folded form. */
  readonly #claimed = new Map<string, ByteString>();
  #listed: ReadonlySet<ByteString> | undefined;

  /**
   * The earlier entry that has the same name on this file system.
   * @param list the names as the directory lists them; called only when in doubt
   */
  rivalOf(
    name: ByteString,
    found: Pick<EntryStat, 'dev' | 'ino'>,
    list: () => readonly ByteString[],
  ): ByteString | undefined {
    const alike = [...(this.#byName.get(foldedName(name)) ?? [])];
    // inode numbers alone prove nothing: some file systems number names, and others give one file several names
    const sameInode = this.#byInode.get(inodeOf(found));
    if (sameInode !== undefined) alike.push(sameInode);
    if (alike.length === 0) return undefined;
    if (alike.includes(name)) return name;
    this.#listed ??= new Set(list());
    const listed = this.#listed;
    return alike.find((one) => !listed.has(name) || !listed.has(one));
  }

  /** Notes the names that the directory had before the restore. */
  arrived(names: readonly ByteString[]): void {
    this.#stored = new Set(names);
  }

  /**
   * Claims a name for a file or a link before anything is planned for it, where names that differ in spelling are one. Of
   * several entries of the snapshot, the one that the directory lists in this very spelling has the name, or else the first.
   * @returns the entry that has the name, if it is another one
   */
  claim(name: ByteString, clashes: Clashes): ByteString | undefined {
    const folded = foldedName(name);
    const alike = clashes.get(folded) ?? [];
    const owner = alike.find((one) => this.#stored.has(one.name)) ?? alike.find((one) => one.selected);
    if (owner !== undefined && owner.name !== name) return owner.name;
    const before = this.#claimed.get(folded);
    if (before === undefined) this.#claimed.set(folded, name);
    return before;
  }

  add(name: ByteString, found?: Pick<EntryStat, 'dev' | 'ino'>): void {
    const folded = foldedName(name);
    this.#byName.set(folded, [...(this.#byName.get(folded) ?? []), name]);
    if (found !== undefined) this.#byInode.set(inodeOf(found), name);
  }

  addDirectory(name: ByteString, directory: T): void {
    if (!this.#directories.has(name)) this.#directories.set(name, directory);
  }

  /** Notes a directory that has just been made. */
  made(name: ByteString, directory: T): void {
    this.#listed = undefined;
    this.add(name);
    this.addDirectory(name, directory);
  }

  /** The directory that has this name on this file system. */
  directoryLike(name: ByteString): { readonly name: ByteString; readonly directory: T } | undefined {
    for (const one of this.#byName.get(foldedName(name)) ?? []) {
      const directory = this.#directories.get(one);
      if (directory !== undefined) return { name: one, directory };
    }
    return undefined;
  }
}

export function sameName(rival: ByteString): EntryFailure {
  return new EntryFailure(
    'SAME_NAME',
    `to the file system of the target its name is the same as that of ${textOfBytes(rival)}`,
  );
}

/**
 * Renames a complete entry to its own name, which was free when the restore looked.
 * @throws {EntryFailure} SAME_NAME or CHANGED when the name has been taken since
 */
export function renameToOwn(directory: TargetDirectory, from: ByteString, name: ByteString): void {
  try {
    directory.renameNew(from, name);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    throw nameTakenMeanwhile(directory, name);
  }
}

/** The error for a name that was free when the restore looked and is taken now. */
export function nameTakenMeanwhile(directory: TargetDirectory, name: ByteString): EntryFailure {
  const names = directory.names();
  const folded = foldedName(name);
  const alike = names.includes(name) ? undefined : names.find((one) => foldedName(one) === folded);
  if (alike !== undefined) return sameName(alike);
  return new EntryFailure(
    'CHANGED',
    'something else took its name during the restore, such as another restore that is at work there',
  );
}

function inodeOf({ dev, ino }: Pick<EntryStat, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`;
}
