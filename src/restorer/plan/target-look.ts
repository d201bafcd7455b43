import type { ByteString } from '../../base/byte-path.ts';
import type { FileEntry } from '../../format/tree.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import type { DirectoryMaker } from './directory-maker.ts';
import { EntryFailure } from '../target/entry-failure.ts';
import type { NamedKind } from './named-entries.ts';
import type { OwnTest } from '../target/own-places.ts';
import type { OpenDirectories } from '../target/open-directories.ts';
import type { PlannedAction, PlannedKind, RestoreObserver, RestoreRequest } from '../request/request.ts';
import { isDirectory, type Standing, standingOf } from '../request/standing.ts';
import type { RestoreTally } from '../request/tally.ts';
import { sameName } from '../target/taken-names.ts';
import type { TargetDirectory } from '../target/target-directory.ts';
import { pathInVisit, type Visit } from './visit.ts';
import { reasonToStay, type StayReason, stayText } from './extra-entries.ts';

export interface LookParts extends ClearingParts {
  /** Undefined in a dry run whose target does not exist. */
  readonly directories: OpenDirectories | undefined;
  readonly tally: RestoreTally;
  readonly observer: RestoreObserver;
}

/** Looks at what exists in the target under an entry's name, and decides what to do about it. */
export class TargetLook {
  readonly #parts: LookParts;
  readonly #maker: DirectoryMaker;

  constructor(parts: LookParts, maker: DirectoryMaker) {
    this.#parts = parts;
    this.#maker = maker;
  }

  find(visit: Visit, name: ByteString): EntryStat | undefined {
    return visit.fresh ? undefined : this.#parts.directories?.at(visit.handle).find(name);
  }

  /**
   * Decides what to do about an entry.
   * @throws {EntryFailure} IN_THE_WAY, SAME_NAME
   */
  standing(visit: Visit, entry: NamedKind | FileEntry, found: EntryStat | undefined): Standing {
    const { directories, request } = this.#parts;
    this.#requireOwnName(visit, entry.name, found);
    const finished = !visit.unfinished.has(entry.name);
    const standing = standingOf(entry, found, request.overwrite, finished);
    if (standing === 'skip' && found !== undefined && isDirectory(found)) {
      this.planned(() => pathInVisit(visit, entry.name), 'skip');
      throw new EntryFailure('IN_THE_WAY', 'a directory has its name, and was not changed');
    }
    const cleared =
      standing === 'clear' && directories !== undefined
        ? this.#clear(visit, entry.name, directories.at(visit.handle))
        : standing;
    if (found !== undefined) visit.taken.add(entry.name, found);
    return cleared;
  }

  #clear(visit: Visit, name: ByteString, directory: TargetDirectory): Standing {
    this.#maker.open(visit);
    return clearDirectory(this.#parts, directory, visit, name);
  }

  /**
   * The existing entry may be another entry of the snapshot that has the same name on this file system.
   * @throws {EntryFailure} SAME_NAME
   */
  #requireOwnName(visit: Visit, name: ByteString, found: EntryStat | undefined): void {
    const owner = visit.ignoresCase ? visit.taken.claim(name, visit.clashes) : undefined;
    if (owner !== undefined) throw sameName(owner);
    if (found === undefined) return;
    const directory = this.#parts.directories?.at(visit.handle);
    if (directory === undefined) return;
    const rival = visit.taken.rivalOf(name, found, () => directory.names());
    if (rival !== undefined) throw sameName(rival);
  }

  wouldDelete(visit: Visit, name: ByteString): void {
    if (this.#parts.request.dryRun) this.#parts.tally.deleted(pathInVisit(visit, name));
  }

  planned(path: () => ByteString, action: PlannedAction, kind: PlannedKind = 'file'): void {
    if (this.#parts.request.dryRun) this.#parts.observer.planned(path(), action, kind);
  }
}

interface ClearingParts {
  readonly request: RestoreRequest;
  readonly keep: (path: ByteString) => StayReason | undefined;
  readonly isOwn: OwnTest;
}

/**
 * Decides whether a directory may be removed for another entry: if it is empty, or if extra entries are to be deleted.
 * An empty one is removed at once, any other only when the entry that replaces it is complete: it must not be lost for
 * something that cannot be restored.
 * @returns what to do about the entry then: `clear` if the directory still has to be removed
 * @throws {EntryFailure} IN_THE_WAY
 */
function clearDirectory(
  { request, keep, isOwn }: ClearingParts,
  directory: TargetDirectory,
  visit: Visit,
  name: ByteString,
): Standing {
  if (request.deleteExtra) {
    const path = pathInVisit(visit, name);
    const why = visit.extra?.stay ?? keep(path) ?? reasonToStay(directory, name, visit.selection, isOwn);
    if (why === undefined) return 'clear';
    throw new EntryFailure('IN_THE_WAY', `a directory has its name and is kept, because ${stayText(why)}`);
  }
  const inTheWay = directory.openDirectory(name);
  const isEmpty = inTheWay.names().length === 0;
  inTheWay.close();
  if (!isEmpty) throw new EntryFailure('IN_THE_WAY', 'a directory that is not empty has its name');
  if (!request.dryRun) directory.removeDirectory(name);
  return 'create';
}
