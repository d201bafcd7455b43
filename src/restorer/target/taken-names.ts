/**
 * Detects entries of a snapshot whose names are the same to the target's file system. Most of Windows and macOS ignore
 * case, some file systems compose letters in their own way, and FAT drops trailing dots. The second of two such entries
 * must not be taken for the first.
 */
import { isAscii, textOfBytes, type ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import { EntryFailure } from './entry-failure.ts';
import type { TargetDirectory } from './target-directory.ts';

/** A name as such a file system compares it, or more coarsely. */
export function foldedName(name: ByteString): string {
  const text = isAscii(name) ? name : textOfBytes(name).normalize('NFD');
  return text
    .toUpperCase()
    .toLowerCase()
    .replace(/[. ]+$/, '');
}

/**
 * The entries of the snapshot that exist in one directory of the target. `T` is what is known about a directory among them.
 */
export class TakenNames<T> {
  readonly #byName = new Map<string, ByteString[]>();
  readonly #byInode = new Map<string, ByteString>();
  readonly #directories = new Map<ByteString, T>();
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
    `the file system of the target takes its name for the same as ${textOfBytes(rival)}, which has it`,
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
  return new EntryFailure('CHANGED', 'another entry took its name during the restore');
}

function inodeOf({ dev, ino }: Pick<EntryStat, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`;
}
