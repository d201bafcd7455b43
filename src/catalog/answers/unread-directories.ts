/** Keeps track of directories that the catalog could not read. Their content is unknown, so nothing about it is answered. */
import { type ByteString, pathNames, pathOf, textOfBytes } from '../../base/byte-path.ts';
import { pathText } from '../../base/tree-path.ts';
import { RepositoryError } from '../../base/errors.ts';
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import { covers, type KnownSnapshot } from './known-snapshots.ts';

export class UnreadDirectories {
  readonly #at;
  readonly #below;

  constructor(database: CatalogDatabase) {
    this.#at = database
      .prepare<[number, Buffer], number>('SELECT damaged FROM gap WHERE ordinal = ? AND path = ?')
      .pluck();
    this.#below = database
      .prepare<[number, Buffer, Buffer], number>(
        'SELECT count(*) FROM gap WHERE ordinal = ? AND path > ? AND path < ? AND damaged = 1',
      )
      .pluck();
  }

  /** Whether the directory, or a part of it, could not be read. */
  has({ ordinal, unreadable }: KnownSnapshot, path: ByteString): boolean {
    return unreadable > 0 && this.#at.get(ordinal, Buffer.from(path, 'latin1')) === 1;
  }

  /** Whether something was not read at this path, by the backup or by the catalog: a snapshot without it says nothing. */
  isUnknown({ ordinal, partial, unreadable }: KnownSnapshot, path: ByteString): boolean {
    return (partial || unreadable > 0) && this.#at.get(ordinal, Buffer.from(path, 'latin1')) !== undefined;
  }

  /** The number of unread directories below a directory, at any depth. */
  countBelow({ ordinal, unreadable }: KnownSnapshot, path: ByteString): number {
    if (unreadable === 0) return 0;
    const start = path === '/' ? '' : path;
    // `0` is the byte after the slash, so this is the end of all paths below.
    const [first, end] = [Buffer.from(`${start}/`, 'latin1'), Buffer.from(`${start}0`, 'latin1')];
    return Number(this.#below.get(ordinal, first, end));
  }

  /**
   * Checks that a path can be listed.
   * @param isThere whether the catalog knows the path; if not, it may be in a directory that could not be read
   * @throws {RepositoryError} CORRUPT_DATA
   */
  requireRead(snapshot: KnownSnapshot, path: ByteString, isThere: boolean): void {
    if (snapshot.unreadable === 0) return;
    if (isThere) {
      if (this.has(snapshot, path)) throw unread(path, snapshot.id);
      return;
    }
    if (!covers(snapshot, path)) return;
    const names = pathNames(path);
    for (let depth = names.length - 1; depth >= 0; depth -= 1) {
      const above = pathOf(names.slice(0, depth));
      if (this.has(snapshot, above)) throw unread(above, snapshot.id);
    }
  }
}

/** The error for a directory that could not be read, or for something in it. */
export function unread(path: ByteString, snapshot: string): RepositoryError {
  const shown = textOfBytes(path);
  return new RepositoryError(
    'CORRUPT_DATA',
    `What snapshot ${snapshot.slice(0, 8)} has at ${pathText(path)} could not be read from the destination`,
    {
      hint: 'Holdfast keeps trying. If that does not help, a check finds what is damaged.',
      details: { path: shown, snapshot },
      retry: 'later',
    },
  );
}
