import type { ByteString } from '../base/byte-path.ts';
import type { DirectoryEntry } from '../format/tree.ts';
import type { EntryStat } from '../system/entry-stat.ts';
import { removeAbandoned, type SharedDirectory } from './abandoned-files.ts';
import { EntryFailure, entryFailure, requirePossible } from './entry-failure.ts';
import { RECORD, type EntryRecords, type RecordHandle } from './entry-records.ts';
import { ExtraNames } from './extra-entries.ts';
import { hasDefaultAcl } from './metadata.ts';
import type { OpenDirectories } from './open-directories.ts';
import type { PlannedAction, RestoreRequest } from './request.ts';
import { standingOf } from './standing.ts';
import type { RestoreTally } from './tally.ts';
import { UNFINISHED_DIRECTORY, isUnfinished, type TargetDirectory } from './target-directory.ts';
import { isTemporary } from './temporary-names.ts';
import { pathOfVisit, type Visit } from './visit.ts';

export interface DirectoryMakerParts {
  readonly request: RestoreRequest;
  /** Where the target really lies. */
  readonly place: ByteString;
  /** Undefined in a dry run whose target does not exist. */
  readonly directories: OpenDirectories | undefined;
  readonly records: EntryRecords;
  readonly tally: RestoreTally;
  readonly planned: (path: () => ByteString, action: PlannedAction) => void;
}

/** Makes the directories of a restore as the walk comes to them, and looks at those that stand already. */
export class DirectoryMaker {
  /** Directories that get their metadata at the end, parents before what is in them. */
  readonly made: RecordHandle[] = [];
  /** Directories in which there are temporary files of processes that are alive. */
  readonly shared: SharedDirectory[] = [];
  /** A directory that stood before hands an access list down to what is created. */
  inheritsAcls = false;
  readonly #parts: DirectoryMakerParts;

  constructor(parts: DirectoryMakerParts) {
    this.#parts = parts;
  }

  /** Makes a directory, and those above it, unless that has been done. True when something can be put into it. */
  make(visit: Visit): boolean {
    if (visit.unmade === undefined) return visit.state === 'live';
    const waiting: Visit[] = [];
    for (let one: Visit | undefined = visit; one?.unmade !== undefined; one = one.above) waiting.push(one);
    for (const one of waiting.toReversed()) this.#makeInTurn(one);
    return visit.state === 'live';
  }

  /** Whether a file would have to go for a directory that was chosen itself. Makes those above it. */
  takesPlaceOfFile({ unmade: entry, above, selection }: Visit): boolean {
    if (entry === undefined || !selection.selected || above === undefined || !this.make(above)) return false;
    try {
      requirePossible(entry.name);
      return standingOf(entry, this.#find(above, entry.name), this.#parts.request.overwrite) === 'replace';
    } catch (error) {
      // told of when it is made
      entryFailure(error);
      return false;
    }
  }

  /** Looks at the target. */
  begin(root: Visit): void {
    this.#arrive(root, this.#parts.place === '/' ? ROOT_DIRECTORY : undefined);
  }

  /** Looks at a directory that stood before. @param extraStays why nothing that is extra in it is removed, if so */
  #arrive(visit: Visit, extraStays: string | undefined): void {
    const { request, directories } = this.#parts;
    if (directories === undefined) return;
    const directory = directories.at(visit.handle);
    this.inheritsAcls ||= hasDefaultAcl(directory);
    const names = directory.names();
    const gone = new Set(removeAbandoned(directory, names, request.dryRun));
    const others = names.filter((name) => isTemporary(name) && !gone.has(name));
    if (others.length > 0) this.shared.push({ handle: visit.handle, names: others });
    if (!request.deleteExtra || !visit.selection.selected) return;
    visit.extra = new ExtraNames(
      names.filter((name) => !gone.has(name)),
      extraStays,
    );
  }

  #makeInTurn(visit: Visit): void {
    const entry = visit.unmade;
    if (entry === undefined) return;
    visit.unmade = undefined;
    if (visit.above?.state === 'fail') visit.state = 'fail';
    if (visit.state === 'fail') return;
    try {
      requirePossible(entry.name);
      this.#makeOne(visit, entry);
    } catch (error) {
      const { code, message } = entryFailure(error);
      visit.state = 'fail';
      this.#parts.tally.problem(pathOfVisit(visit), code, message);
    }
  }

  #makeOne(visit: Visit, entry: DirectoryEntry): void {
    const { directories, request, planned } = this.#parts;
    const { above } = visit;
    const parent =
      above === undefined || (above.fresh && request.dryRun) ? undefined : directories?.at(above.handle);
    const found = this.#find(above, entry.name);
    const standing = standingOf(entry, found, request.overwrite);
    const path = (): ByteString => pathOfVisit(visit);
    if (standing === 'skip') {
      planned(path, 'skip');
      throw new EntryFailure('IN_THE_WAY', 'a link or a file stands in its place and is left alone');
    }
    if (found !== undefined && standing === 'merge') {
      planned(path, 'leave');
      this.#merge(visit, isUnfinished(found), this.#givesMetadata(visit, entry.mtimeNs > found.mtimeNs));
      this.#arrive(visit, this.#extraStays(visit, entry, parent));
      return;
    }
    if (standing === 'replace' && !visit.selection.selected) {
      throw new EntryFailure(
        'IN_THE_WAY',
        'a link or a file stands where a directory leads to what is restored',
      );
    }
    if (!request.dryRun) {
      if (standing === 'replace') parent?.removeFile(entry.name);
      parent?.createDirectory(entry.name, UNFINISHED_DIRECTORY);
    }
    planned(path, standing === 'replace' ? 'replace' : 'create');
    visit.fresh = true;
    this.#parts.records.at(visit.handle).flags |= RECORD.created;
    this.made.push(visit.handle);
  }

  #find(above: Visit | undefined, name: ByteString): EntryStat | undefined {
    if (above === undefined || above.fresh) return undefined;
    return this.#parts.directories?.at(above.handle).find(name);
  }

  #merge(visit: Visit, resumed: boolean, givesMetadata: boolean): void {
    if (resumed) this.#parts.records.at(visit.handle).flags |= RECORD.created;
    if (resumed || givesMetadata) this.made.push(visit.handle);
  }

  /**
   * What is mounted at a directory need not be what the backup has seen there. Only a directory that was itself asked
   * for, by the backup or by the restore, is taken to be the same, and not when the backup found it empty. What is true
   * of a directory is true of those below it.
   */
  #extraStays(
    visit: Visit,
    { name, totals }: DirectoryEntry,
    parent: TargetDirectory | undefined,
  ): string | undefined {
    const { above, selection } = visit;
    if (!this.#parts.request.deleteExtra || !selection.selected) return undefined;
    const mounted = above?.extra?.stay === MOUNTED_SINCE || parent?.isMountPoint(name) === true;
    return mounted && !(totals.entries > 0 && this.#isAskedFor(visit)) ? MOUNTED_SINCE : undefined;
  }

  #isAskedFor(visit: Visit): boolean {
    if (visit.above?.selection.selected !== true) return true;
    const { request, tally } = this.#parts;
    return request.snapshot.record.paths.includes(tally.inSnapshot(pathOfVisit(visit)));
  }

  #givesMetadata({ selection }: Visit, isNewer: boolean): boolean {
    const { overwrite } = this.#parts.request;
    return selection.selected && overwrite !== 'never' && (overwrite !== 'if_newer' || isNewer);
  }
}

const ROOT_DIRECTORY = 'nothing is removed from the root directory itself';
const MOUNTED_SINCE = 'a file system is mounted there that the backup may not have seen';
