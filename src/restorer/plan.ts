import { setImmediate } from 'node:timers/promises';
import type { ByteString } from '../base/byte-path.ts';
import { DirectoryCursor } from '../browse/directory-cursor.ts';
import { MAX_DEPTH, type DirectoryEntry, type FileEntry } from '../format/tree.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';
import type { TreeReader } from '../repository/tree-reader.ts';
import type { EntryStat } from '../system/entry-stat.ts';
import { clearDirectory } from './clear-directory.ts';
import type { ContentPlan } from './content-plan.ts';
import { DirectoryMaker } from './directory-maker.ts';
import { EntryBudget, mostEntries } from './entry-budget.ts';
import { EntryFailure, entryFailure, requirePossible } from './entry-failure.ts';
import { RECORD, type EntryRecordWriter, type RecordHandle } from './entry-records.ts';
import { ExtraCollector } from './extra-collector.ts';
import { FileContent } from './file-content.ts';
import { HardLinks } from './hard-links.ts';
import type { HardLink } from './make-hard-link.ts';
import type { NamedEntry, NamedKind } from './make-named.ts';
import { standingOfMetadata } from './metadata-compare.ts';
import { keptOwner, type MetadataPolicy } from './metadata.ts';
import type { OpenDirectories } from './open-directories.ts';
import { beginsUnread, isLostPart, readPart } from './read-part.ts';
import type { PlannedAction, PlannedKind, RestoreObserver, RestoreRequest } from './request.ts';
import type { RestorePlan } from './restore-plan.ts';
import type { SelectedDirectory } from './selection.ts';
import { actionOf, isDirectory, standingOf, type Standing } from './standing.ts';
import type { RestoreTally } from './tally.ts';
import { pathInVisit, pathOfVisit, rootVisit, visitBelow, type Visit } from './visit.ts';

export interface PlanParts {
  readonly request: RestoreRequest;
  readonly reader: TreeReader;
  readonly index: ChunkIndex;
  readonly records: EntryRecordWriter;
  readonly content: ContentPlan;
  /** Undefined in a dry run whose target does not exist. */
  readonly directories: OpenDirectories | undefined;
  readonly root: RecordHandle;
  readonly tally: RestoreTally;
  readonly policy: MetadataPolicy;
  readonly observer: RestoreObserver;
  /** Where the target really lies. */
  readonly place: ByteString;
  /** Why nothing at or below a path is removed; undefined when it may be. */
  readonly keep: (path: ByteString) => string | undefined;
  /** Told of every file that will have to be written or compared. */
  readonly expect: (bytes: number) => void;
}

export interface PlanStart {
  readonly tree: Buffer;
  readonly selection: SelectedDirectory;
}

/** Walks the snapshot's tree, makes the directories and notes what is to be done with everything else. */
export async function planRestore(
  parts: PlanParts,
  start: PlanStart,
  signal: AbortSignal,
): Promise<RestorePlan> {
  return await new PlanWalk(parts).run(start, signal);
}

/** Tree chunks between two looks at what else there is to do: an interrupt, a progress display. */
const STRETCH = 64;
/** A file system that compresses may hold so many times what its size says. */
const COMPRESSION_AT_MOST = 16;
/** Bytes of data in one file: 64 TiB. */
const LARGEST_ANYWHERE = 2 ** 46;

const LEFT_ALONE = 'a file that has another name of it was there and is left alone';

class PlanWalk {
  readonly #parts: PlanParts;
  readonly #maker: DirectoryMaker;
  readonly #content: FileContent;
  readonly #links = new HardLinks();
  readonly #dryRun: boolean;
  #steps = 0;
  /** The next one last. */
  readonly #visits: Visit[] = [];
  readonly #compare: RecordHandle[] = [];
  readonly #clearing: RecordHandle[] = [];
  readonly #named: NamedEntry[] = [];
  readonly #hardLinks: HardLink[] = [];
  readonly #extra: ExtraCollector;
  #isEmpty = true;

  constructor(parts: PlanParts) {
    const { request, place, directories, tally, records, index, content } = parts;
    this.#parts = parts;
    this.#dryRun = request.dryRun;
    this.#content = new FileContent(index, content);
    this.#extra = new ExtraCollector(tally, (visit, name) => this.#find(visit, name));
    const planned = (path: () => ByteString, action: PlannedAction): void =>
      this.#planned(path, action, 'directory');
    this.#maker = new DirectoryMaker({
      request,
      place,
      directories,
      records: records.records,
      tally,
      planned,
    });
  }

  async run({ tree, selection }: PlanStart, signal: AbortSignal): Promise<RestorePlan> {
    const { root: handle, directories } = this.#parts;
    const root = rootVisit(tree, handle, selection, directories === undefined);
    this.#maker.begin(root);
    this.#visits.push(root);
    for (let visit = this.#visits.pop(); visit !== undefined; visit = this.#visits.pop()) {
      await this.#pace(signal);
      await this.#visit(visit, signal);
    }
    return {
      directories: this.#maker.made,
      compare: this.#compare,
      clearing: this.#clearing,
      named: this.#named,
      hardLinks: this.#hardLinks,
      extra: this.#extra.entries,
      shared: this.#maker.shared,
      inheritsAcls: this.#maker.inheritsAcls,
      isEmpty: this.#isEmpty,
    };
  }

  async #visit(visit: Visit, signal: AbortSignal): Promise<void> {
    const { reader, index, tally } = this.#parts;
    const below: Visit[] = [];
    const isRoot = visit.above === undefined;
    let isWhole = true;
    try {
      const cursor = new DirectoryCursor(reader, visit.id);
      const budget = new EntryBudget(visit.totals?.entries ?? mostEntries(index), isRoot);
      while (cursor.part !== undefined) {
        await this.#pace(signal);
        if (!(await readPart(cursor, visit, tally, signal))) isWhole = false;
        for (let entry = cursor.entry; entry !== undefined; entry = cursor.entry) {
          cursor.skip();
          budget.count(entry);
          this.#extra.claim(visit, entry.name);
          if (entry.type === 'file') {
            const waiting = this.#file(visit, entry, signal);
            if (waiting !== undefined) await waiting;
          } else if (entry.type === 'directory') {
            const waiting = this.#directory(visit, entry, below, signal);
            if (waiting !== undefined) await waiting;
          } else {
            this.#namedEntry(visit, entry);
          }
        }
      }
      // what could not be read may have any name, so nothing there counts as extra then
      if (isWhole) this.#extra.finish(visit);
    } catch (error) {
      if (isRoot || !isLostPart(error)) throw error;
      // what was found before the damage is restored all the same
      const { code, message } = entryFailure(error);
      tally.problem(pathOfVisit(visit), code, message);
      isWhole = false;
    }
    if (!isWhole) tally.directoriesUnread += 1;
    // the first one is visited next: the walk follows the order in which the archiver stored everything
    for (const child of below.toReversed()) this.#visits.push(child);
  }

  /** Nearly all reads come from memory, so that nothing else would get its turn. */
  async #pace(signal: AbortSignal): Promise<void> {
    this.#steps += 1;
    if (this.#steps % STRETCH === 0) await setImmediate();
    signal.throwIfAborted();
  }

  /** Returns a promise only when something has to be read first. */
  #directory(
    visit: Visit,
    entry: DirectoryEntry,
    below: Visit[],
    signal: AbortSignal,
  ): Promise<void> | undefined {
    const selection = visit.selection.enter(entry.name);
    if (selection === undefined) return undefined;
    if (selection.selected) this.#isEmpty = false;
    const flags = selection.selected ? RECORD.selected : 0;
    const { handle } = this.#parts.records.add(visit.handle, entry, flags, 0, 0);
    const child = visitBelow(visit, entry, handle, selection);
    if (child.depth > MAX_DEPTH) {
      this.#parts.tally.problem(
        pathOfVisit(child),
        'TOO_DEEP',
        `directories are nested deeper than ${MAX_DEPTH}`,
      );
      return undefined;
    }
    if (selection.selected && this.#maker.takesPlaceOfFile(child)) {
      return this.#readAndMake(child, below, signal);
    }
    if (selection.selected) this.#maker.make(child);
    below.push(child);
    return undefined;
  }

  /** A file gives way to a directory of which something can be had. */
  async #readAndMake(visit: Visit, below: Visit[], signal: AbortSignal): Promise<void> {
    const { reader, tally } = this.#parts;
    if (await beginsUnread(reader, visit, tally, signal)) return;
    this.#maker.make(visit);
    below.push(visit);
  }

  /** Returns a promise only when something has to be read first. */
  #file(visit: Visit, entry: FileEntry, signal: AbortSignal): Promise<void> | undefined {
    const { tally } = this.#parts;
    if (!visit.selection.takes(entry.name)) return undefined;
    this.#isEmpty = false;
    tally.filesTotal += 1;
    tally.bytesTotal += entry.size;
    if (!this.#maker.make(visit)) {
      tally.fileLost(entry.size);
      return undefined;
    }
    try {
      requirePossible(entry.name);
      const found = this.#find(visit, entry.name);
      let standing = this.#standing(visit, entry, found);
      if (standing === 'leave') standing = this.#metadataOf(visit, entry, found);
      this.#planned(() => pathInVisit(visit, entry.name), actionOf(standing));
      if (standing === 'skip') {
        this.#skipped(entry);
        return undefined;
      }
      const leader = this.#links.leaderOf(entry);
      if (leader !== undefined) {
        if (standing === 'clear') this.#wouldDelete(visit, entry.name);
        this.#hardLinks.push({ parent: visit.handle, name: entry.name, size: entry.size, leader, standing });
        return undefined;
      }
      if (standing === 'leave') {
        this.#leave(visit, entry, found);
        return undefined;
      }
      if (standing === 'touch-up') {
        this.#touchUp(visit, entry, found);
        return undefined;
      }
      if (this.#links.isLeftAlone(entry))
        tally.omissions.note('hard-links', LEFT_ALONE, () => pathInVisit(visit, entry.name));
      if (entry.indirect) return this.#readAndPlan(visit, entry, standing, signal);
      this.#content.resolveDirect(entry, () => this.#largestFile(visit));
      this.#planFile(visit, entry, standing);
    } catch (error) {
      this.#fileFailed(visit, entry, error);
    }
    return undefined;
  }

  async #readAndPlan(visit: Visit, entry: FileEntry, standing: Standing, signal: AbortSignal): Promise<void> {
    try {
      await this.#content.resolve(entry, this.#parts.reader, () => this.#largestFile(visit), signal);
      this.#planFile(visit, entry, standing);
    } catch (error) {
      signal.throwIfAborted();
      this.#fileFailed(visit, entry, error);
    }
  }

  /** Makes the record of a file whose content is worked out. */
  #planFile(visit: Visit, entry: FileEntry, standing: Standing): void {
    const { records, content, tally, policy } = this.#parts;
    if (standing === 'clear') this.#wouldDelete(visit, entry.name);
    if (this.#dryRun) {
      tally.filesRestored += 1;
      tally.bytesRestored += entry.size;
      tally.bytesDone += entry.size;
      return;
    }
    const resolved = this.#content;
    const update = standing === 'update';
    const segment = resolved.onlySegment;
    const spread = !update && resolved.count > 0 && segment === undefined;
    const flags =
      (update ? RECORD.update : 0) |
      (standing === 'replace' ? RECORD.replace | keptOwner(policy) : 0) |
      (standing === 'clear' ? RECORD.replace | RECORD.clears : 0) |
      (spread ? RECORD.spread : 0) |
      (resolved.endsInHole ? RECORD.sized : 0) |
      (HardLinks.hasSeveralNames(entry) ? RECORD.leader : 0);
    const record = records.add(visit.handle, entry, flags, entry.size, resolved.count);
    resolved.store(record);
    this.#parts.expect(entry.size);
    this.#links.lead(entry, record.handle);
    if (standing === 'clear') this.#clearing.push(record.handle);
    if (update) this.#compare.push(record.handle);
    else if (resolved.count === 0) content.addPlain(record.handle);
    else if (segment !== undefined) content.addWhole(record.handle, segment);
    else resolved.spread(record, content);
  }

  #skipped(entry: FileEntry): void {
    this.#parts.tally.filesSkipped += 1;
    this.#parts.tally.bytesDone += entry.size;
    this.#links.leaveAlone(entry);
  }

  #leave(visit: Visit, entry: FileEntry, found: EntryStat | undefined): void {
    const { tally, records } = this.#parts;
    tally.filesUnchanged += 1;
    tally.bytesDone += entry.size;
    if (found === undefined || !HardLinks.hasSeveralNames(entry)) return;
    const record = records.add(visit.handle, { ...entry, xattrs: undefined }, RECORD.leader, entry.size, 0);
    record.created = found;
    this.#links.lead(entry, record.handle);
  }

  #metadataOf(visit: Visit, entry: FileEntry, found: EntryStat | undefined): Standing {
    const { policy, directories } = this.#parts;
    if (found === undefined || directories === undefined) return 'leave';
    return standingOfMetadata(policy, entry, found, directories.at(visit.handle));
  }

  #touchUp(visit: Visit, entry: FileEntry, found: EntryStat | undefined): void {
    const { tally, records, content } = this.#parts;
    if (this.#dryRun || found === undefined) {
      tally.filesRestored += 1;
      tally.bytesDone += entry.size;
      return;
    }
    const leads = HardLinks.hasSeveralNames(entry) ? RECORD.leader : 0;
    const flags = RECORD.update | RECORD.metadataOnly | leads;
    const record = records.add(visit.handle, entry, flags, entry.size, 0);
    record.created = found;
    this.#parts.expect(0);
    this.#links.lead(entry, record.handle);
    content.addPlain(record.handle);
  }

  #namedEntry(visit: Visit, entry: NamedKind): void {
    const { tally } = this.#parts;
    if (!visit.selection.takes(entry.name)) return;
    this.#isEmpty = false;
    if (!this.#maker.make(visit)) return;
    try {
      requirePossible(entry.name);
      const found = this.#find(visit, entry.name);
      const standing = this.#standing(visit, entry, found);
      this.#planned(() => pathInVisit(visit, entry.name), actionOf(standing));
      if (standing === 'skip') return;
      if (standing === 'clear') this.#wouldDelete(visit, entry.name);
      const leader = this.#links.namedLeaderOf(entry);
      const named: NamedEntry = { parent: visit.handle, entry, standing, leader };
      if (leader === undefined) this.#links.leadNamed(entry, named);
      this.#named.push(named);
    } catch (error) {
      const { code, message } = entryFailure(error);
      tally.problem(pathInVisit(visit, entry.name), code, message);
    }
  }

  #find(visit: Visit, name: ByteString): EntryStat | undefined {
    return visit.fresh ? undefined : this.#parts.directories?.at(visit.handle).find(name);
  }

  /** How an entry stands. @throws {EntryFailure} IN_THE_WAY */
  #standing(visit: Visit, entry: NamedKind | FileEntry, found: EntryStat | undefined): Standing {
    const { directories, request } = this.#parts;
    const standing = standingOf(entry, found, request.overwrite);
    if (standing === 'skip' && found !== undefined && isDirectory(found)) {
      this.#planned(() => pathInVisit(visit, entry.name), 'skip');
      throw new EntryFailure('IN_THE_WAY', 'a directory has its name and is left alone');
    }
    if (standing !== 'clear' || directories === undefined) return standing;
    return clearDirectory(this.#parts, directories.at(visit.handle), visit, entry.name);
  }

  /** Bytes of data that one file can have in a directory. */
  #largestFile(visit: Visit): number {
    const { directories } = this.#parts;
    if (directories === undefined || (this.#dryRun && visit.fresh)) return LARGEST_ANYWHERE;
    return Math.min(LARGEST_ANYWHERE, directories.at(visit.handle).capacity() * COMPRESSION_AT_MOST);
  }

  #fileFailed(visit: Visit, entry: FileEntry, error: unknown): void {
    const { code, message } = entryFailure(error);
    this.#parts.tally.fileFailed(pathInVisit(visit, entry.name), entry.size, code, message);
  }

  #wouldDelete(visit: Visit, name: ByteString): void {
    if (this.#dryRun) this.#parts.tally.deleted(pathInVisit(visit, name));
  }

  #planned(path: () => ByteString, action: PlannedAction, kind: PlannedKind = 'file'): void {
    if (this.#dryRun) this.#parts.observer.planned(path(), action, kind);
  }
}
