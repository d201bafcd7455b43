/** Finds the extra entries of a restored directory: those in the target that the snapshot's version does not have. */
import { asByteString, type ByteString } from '../../base/byte-path.ts';
import type { SnapshotRecord } from '../../format/records.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import type { SelectedDirectory } from '../request/selection.ts';
import { isDirectory } from '../request/standing.ts';
import { EntryFailure } from '../target/entry-failure.ts';
import type { RecordHandle } from '../target/entry-records.ts';
import type { OwnTest } from '../target/own-places.ts';
import type { TargetDirectory } from '../target/target-directory.ts';

/** An entry that is to be removed. */
export interface ExtraEntry {
  readonly parent: RecordHandle;
  readonly name: ByteString;
  /** The selection for the directory it lies in. */
  readonly selection: SelectedDirectory;
}

type Find = (name: ByteString) => EntryStat | undefined;

/** The names in a directory that no entry of the snapshot has claimed yet. */
export class ExtraNames {
  /** Why none of them is removed; undefined if they may be. */
  readonly stay: StayReason | undefined;
  readonly #names: Set<ByteString>;
  readonly #claimed = new Set<string>();

  constructor(names: readonly ByteString[], stay: StayReason | undefined) {
    this.#names = new Set(names);
    this.stay = stay;
  }

  /**
   * Claims a name. A file system that treats different spellings (case, composed letters) as one name lists its own
   * spelling: then the entry is claimed by its identity instead.
   */
  claim(name: ByteString, find: Find): void {
    if (this.#names.delete(name)) return;
    const found = find(name);
    if (found !== undefined) this.#claimed.add(identityOf(found));
  }

  /**
   * The extra entries, once all entries of the snapshot have been claimed. Entries that the restore leaves out are not extra.
   */
  unclaimed(selection: SelectedDirectory, find: Find): readonly ByteString[] {
    return [...this.#names].filter((name) => {
      if (selection.everything && this.#claimed.size === 0) return true;
      const found = find(name);
      if (found === undefined || this.#claimed.has(identityOf(found))) return false;
      return isDirectory(found) ? selection.enter(name) !== undefined : selection.takes(name);
    });
  }
}

function identityOf({ dev, ino }: EntryStat): string {
  return `${dev}:${ino}`;
}

/** The most levels of directories; each keeps one directory open. */
const MOST_LEVELS = 512;

interface Level {
  readonly directory: TargetDirectory;
  readonly names: ByteString[];
  readonly selection: SelectedDirectory;
}

/**
 * Why an entry must not be removed with everything below it; undefined if it may be.
 * @param selection of the directory it lies in
 * @param isOwn whether a directory is one of Holdfast's own places
 * @throws a system error for what cannot be looked at, {EntryFailure} TOO_DEEP
 */
export function reasonToStay(
  parent: TargetDirectory,
  name: ByteString,
  selection: SelectedDirectory,
  isOwn: OwnTest,
): StayReason | undefined {
  const levels: Level[] = [{ directory: parent, names: [name], selection }];
  try {
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const next = level.names.pop();
      if (next === undefined) {
        levels.pop();
        if (level.directory !== parent) level.directory.close();
        continue;
      }
      const found = level.directory.find(next);
      if (found === undefined) continue;
      if (!isDirectory(found)) {
        if (!level.selection.takes(next)) return 'left_out';
        continue;
      }
      if (isOwn(found)) return 'own';
      const below = level.selection.enter(next);
      if (below === undefined) return 'left_out';
      if (level.directory.isMountPoint(next)) return 'mounted';
      if (levels.length > MOST_LEVELS)
        throw new EntryFailure('TOO_DEEP', 'its directories are nested too deeply');
      levels.push(levelOf(level.directory.openDirectory(next), below));
    }
    return undefined;
  } finally {
    for (const { directory } of levels) if (directory !== parent) directory.close();
  }
}

function levelOf(directory: TargetDirectory, selection: SelectedDirectory): Level {
  try {
    return { directory, names: directory.names(), selection };
  } catch (error) {
    directory.close();
    throw error;
  }
}

export type StayReason = keyof typeof TEXTS;

const TEXTS = {
  root_directory: 'Holdfast removes nothing from the root directory itself',
  mounted_since: 'a file system is mounted there that the backup may not have seen',
  mounted: 'another file system is mounted there',
  left_out: 'something in it is left out of this restore',
  own: "Holdfast's own data is there",
  unread: 'the backup could not read it, so it may not have been deleted',
} as const;

/**
 * Reasons for not removing an entry that a restore would otherwise remove. The end of a sentence: `it stays, because
 * …`.
 */
export function stayText(reason: StayReason): string {
  return TEXTS[reason];
}

/**
 * Returns a test for paths whose absence from the snapshot proves nothing, because the backup could not read them,
 * something above them or something below them.
 */
export function keptPaths({
  errors,
  errorsMore,
}: Pick<SnapshotRecord, 'errors' | 'errorsMore'>): (path: ByteString) => boolean {
  if (errorsMore > 0) return () => true;
  if (errors.length === 0) return () => false;
  const unread = new Set<ByteString>();
  const above = new Set<ByteString>();
  for (const { path } of errors) {
    unread.add(path);
    for (const one of parentsOf(path)) above.add(one);
  }
  return (path) => unread.has(path) || above.has(path) || parentsOf(path).some((one) => unread.has(one));
}

function parentsOf(path: ByteString): ByteString[] {
  const parents: ByteString[] = [];
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    parents.push(asByteString(path.slice(0, at)));
  return parents;
}
