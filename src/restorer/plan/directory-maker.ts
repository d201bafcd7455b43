import type { ByteString } from '../../base/byte-path.ts';
import type { DirectoryEntry } from '../../format/tree.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import { lookAtRemains, type SharedDirectory } from '../target/abandoned-files.ts';
import { errnoOf } from '../../base/errors.ts';
import { EntryFailure, entryFailure, requirePossible } from '../target/entry-failure.ts';
import { type EntryRecords, RECORD, type RecordHandle } from '../target/entry-records.ts';
import { ExtraNames, type StayReason, stayText } from './extra-entries.ts';
import type { LiftedModes } from '../metadata/lifted-modes.ts';
import { hasDefaultAcl } from '../metadata/metadata.ts';
import type { OpenDirectories } from '../target/open-directories.ts';
import type { OwnTest } from '../target/own-places.ts';
import type { PlannedAction, RestoreRequest } from '../request/request.ts';
import { isDirectory, standingOf } from '../request/standing.ts';
import type { RestoreTally } from '../request/tally.ts';
import { ignoresCase, nameTakenMeanwhile, sameName } from '../target/taken-names.ts';
import {
  looksUnfinished,
  type TargetDirectory,
  UNFINISHED_DIRECTORY,
  UNFINISHED_FILE,
} from '../target/target-directory.ts';
import { isTemporary, unfinishedMark } from '../target/temporary-names.ts';
import { pathOfVisit, type Visit } from './visit.ts';

export interface DirectoryMakerParts {
  readonly request: RestoreRequest;
  /** Path of the target with links resolved. */
  readonly place: ByteString;
  /** Undefined in a dry run whose target does not exist. */
  readonly directories: OpenDirectories | undefined;
  readonly records: EntryRecords;
  readonly tally: RestoreTally;
  readonly run: string;
  readonly lifted: LiftedModes;
  readonly planned: (path: () => ByteString, action: PlannedAction) => void;
  /** Whether a directory is one of Holdfast's own places, under whatever name. */
  readonly isOwn: OwnTest;
}

/** Makes the directories of a restore as the walk reaches them, and looks at those that exist already. */
export class DirectoryMaker {
  /** Directories that get their metadata at the end, each before those below it. */
  readonly made: RecordHandle[] = [];
  /** Directories that contain temporary files of live processes. */
  readonly shared: SharedDirectory[] = [];
  /** Marks of entries that this run or an earlier one has not finished, by record. The mark lies in the entry's directory. */
  readonly marks = new Map<RecordHandle, ByteString>();
  /** A directory that existed before passes an access list on to what is created in it. */
  inheritsAcls = false;
  readonly #parts: DirectoryMakerParts;

  constructor(parts: DirectoryMakerParts) {
    this.#parts = parts;
  }

  /** Makes a directory, and those above it, unless that has been done. True when entries can be made in it. */
  make(visit: Visit): boolean {
    if (visit.unmade === undefined) return visit.state === 'live';
    const waiting: Visit[] = [];
    for (let one: Visit | undefined = visit; one?.unmade !== undefined; one = one.above) waiting.push(one);
    for (const one of waiting.toReversed()) this.#makeInTurn(one);
    return visit.state === 'live';
  }

  /** Whether a file would have to be removed for a selected directory. Makes the directories above it. */
  takesPlaceOfFile({ unmade: entry, above, selection }: Visit): boolean {
    if (entry === undefined || !selection.selected || above === undefined || !this.make(above)) return false;
    try {
      requirePossible(entry.name);
      const found = this.#find(above, entry.name);
      const finished = !above.unfinished.has(entry.name);
      return standingOf(entry, found, this.#parts.request.overwrite, finished) === 'replace';
    } catch (error) {
      // the error is reported when the directory is made
      entryFailure(error);
      return false;
    }
  }

  /** Makes an existing directory writable, so that entries can be made in it. */
  open(visit: Visit): void {
    if (visit.fresh || this.#parts.request.dryRun) return;
    this.#parts.lifted.makeWritable(visit.handle);
  }

  /** Looks at the target itself. */
  begin(root: Visit): void {
    this.#arrive(root, this.#parts.place === '/' ? 'root_directory' : undefined);
  }

  /**
   * Looks at a directory that existed before.
   * @param extraStays why no extra entry in it is removed; undefined if they may be
   */
  #arrive(visit: Visit, extraStays: StayReason | undefined): void {
    const { request, directories } = this.#parts;
    if (directories === undefined) return;
    const directory = directories.at(visit.handle);
    this.inheritsAcls ||= hasDefaultAcl(directory);
    const names = directory.names();
    visit.ignoresCase = ignoresCase(names, (name) => directory.find(name)) ?? visit.ignoresCase;
    if (visit.ignoresCase) visit.taken.arrived(names);
    const { gone, others, unfinished, lifted } = lookAtRemains(directory, names, request.dryRun);
    visit.unfinished = unfinished;
    if (lifted !== undefined && !request.dryRun) this.#parts.lifted.takeOver(visit.handle, lifted);
    if (others.length > 0) this.shared.push({ handle: visit.handle, names: others });
    if (!request.deleteExtra || !visit.selection.selected) return;
    visit.extra = new ExtraNames(
      names.filter((name) => !gone.has(name) && !isTemporary(name)),
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
    const path = (): ByteString => pathOfVisit(visit);
    const rival = found && above?.taken.rivalOf(entry.name, found, () => parent?.names() ?? []);
    if (rival !== undefined) {
      this.#join(visit, rival);
      return;
    }
    const isLeft = above?.unfinished.has(entry.name) === true;
    const standing = standingOf(entry, found, request.overwrite, !isLeft);
    if (standing === 'skip') {
      planned(path, 'skip');
      throw new EntryFailure('IN_THE_WAY', 'a link or a file has its name, and was not changed');
    }
    if (found !== undefined && standing === 'merge') {
      if (this.#parts.isOwn(found)) throw new EntryFailure('IN_THE_WAY', stayText('own'));
      planned(path, 'leave');
      visit.resumed = isLeft || (above?.resumed === true && looksUnfinished(found));
      const mark = above?.unfinished.get(entry.name);
      if (mark !== undefined) this.marks.set(visit.handle, mark);
      this.#merge(visit, this.#givesMetadata(visit, entry.mtimeNs > found.mtimeNs));
      above?.taken.add(entry.name, found);
      above?.taken.addDirectory(entry.name, visit);
      if (parent !== undefined && !request.dryRun)
        this.#parts.lifted.open(parent, entry.name, found, visit.handle);
      this.#arrive(visit, this.#extraStays(visit, entry, parent));
      return;
    }
    if (standing === 'replace' && !visit.selection.selected) {
      throw new EntryFailure('IN_THE_WAY', 'a link or a file is where a directory above it should be');
    }
    if (!request.dryRun && above !== undefined && parent !== undefined) {
      this.open(above);
      if (standing === 'replace') parent.removeFile(entry.name);
      if (!this.#create(above, visit, parent)) return;
    }
    above?.taken.made(entry.name, visit);
    planned(path, standing === 'replace' ? 'replace' : 'create');
    visit.fresh = true;
    this.#parts.records.at(visit.handle).flags |= RECORD.created;
    this.made.push(visit.handle);
  }

  /**
   * Creates a directory. It gets a mark unless it lies in one that a restore made: that one's mark covers everything in it.
   * @returns false if this file system takes its name for that of another entry of the snapshot
   */
  #create(above: Visit, visit: Visit, parent: TargetDirectory): boolean {
    const { name, handle } = visit;
    const mark = unfinishedMark(this.#parts.run, handle, name);
    const needsMark = !above.fresh && !above.resumed;
    if (needsMark) parent.closeFile(parent.createFile(mark, UNFINISHED_FILE));
    try {
      parent.createDirectory(name, UNFINISHED_DIRECTORY);
    } catch (error) {
      if (needsMark) parent.removeFile(mark);
      if (errnoOf(error) !== 'EEXIST') throw error;
      const there = parent.find(name);
      const isOther = above.taken.directoryLike(name) === undefined;
      if (there === undefined || !isDirectory(there) || isOther) throw nameTakenMeanwhile(parent, name);
      this.#join(visit, name);
      return false;
    }
    if (needsMark) this.marks.set(handle, mark);
    return true;
  }

  /**
   * Two directories of the snapshot are the same on this file system: the content of both is restored into the first,
   * and this is reported as a problem.
   */
  #join(visit: Visit, rival: ByteString): void {
    const other = visit.above?.taken.directoryLike(visit.name);
    if (other === undefined || other.directory.state === 'fail') throw sameName(rival);
    const { directory: first, name } = other;
    this.#parts.planned(() => pathOfVisit(visit), 'leave');
    const { code, message } = sameName(name);
    this.#parts.tally.problem(pathOfVisit(visit), code, `${message}: that one now has the contents of both`);
    // what one of them lacks may belong to the other
    first.extra = undefined;
    visit.fresh = first.fresh;
    visit.resumed = first.resumed;
    visit.unfinished = first.unfinished;
    visit.taken = first.taken;
  }

  #find(above: Visit | undefined, name: ByteString): EntryStat | undefined {
    if (above === undefined || above.fresh) return undefined;
    return this.#parts.directories?.at(above.handle).find(name);
  }

  #merge({ handle, resumed }: Visit, givesMetadata: boolean): void {
    if (resumed) this.#parts.records.at(handle).flags |= RECORD.created;
    if (resumed || givesMetadata) this.made.push(handle);
  }

  /**
   * Why extra entries in a directory stay. What is mounted at a directory need not be what the backup saw there. It is
   * taken for the same only if the directory itself was asked for, by the backup or by the restore, and the backup did
   * not find it empty. What holds for a directory holds for those below it.
   */
  #extraStays(
    visit: Visit,
    { name, totals }: DirectoryEntry,
    parent: TargetDirectory | undefined,
  ): StayReason | undefined {
    const { above, selection } = visit;
    if (!this.#parts.request.deleteExtra || !selection.selected) return undefined;
    const mounted = above?.extra?.stay === 'mounted_since' || parent?.isMountPoint(name) === true;
    return mounted && !(totals.entries > 0 && this.#isAskedFor(visit)) ? 'mounted_since' : undefined;
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
