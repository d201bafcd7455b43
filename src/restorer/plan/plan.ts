import { setImmediate } from 'node:timers/promises';
import type { ByteString } from '../../base/byte-path.ts';
import { DirectoryCursor } from '../../browse/directory-cursor.ts';
import { type DirectoryEntry, MAX_DEPTH } from '../../format/tree.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import { MOST_ENTRIES, TreeBudget, treeBudget } from '../../repository/contents/tree-bounds.ts';
import type { TreeReader } from '../../repository/contents/tree-reader.ts';
import type { ContentPlan } from '../content/content-plan.ts';
import { DirectoryMaker } from './directory-maker.ts';
import { entryFailure, requirePossible } from '../target/entry-failure.ts';
import { type EntryRecordWriter, RECORD, type RecordHandle } from '../target/entry-records.ts';
import { ExtraCollector } from './extra-collector.ts';
import type { StayReason } from './extra-entries.ts';
import { FilePlanner } from './file-planner.ts';
import { HardLinks } from './hard-links.ts';
import type { LiftedModes } from '../metadata/lifted-modes.ts';
import { isSameAsStanding, type NamedEntry, type NamedKind } from './named-entries.ts';
import type { MetadataPolicy } from '../metadata/metadata.ts';
import type { OpenDirectories } from '../target/open-directories.ts';
import { beginsUnread, isLostPart, readPart } from './read-part.ts';
import type { PlannedAction, RestoreObserver, RestoreRequest } from '../request/request.ts';
import type { RestorePlan } from './restore-plan.ts';
import type { SelectedDirectory } from '../request/selection.ts';
import { actionOf } from '../request/standing.ts';
import type { RestoreTally } from '../request/tally.ts';
import { clashesAmong, type ClashingName } from '../target/taken-names.ts';
import type { OwnTest } from '../target/own-places.ts';
import { TargetLook } from './target-look.ts';
import { pathInVisit, pathOfVisit, rootVisit, type Visit, visitBelow } from './visit.ts';

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
  readonly run: string;
  readonly lifted: LiftedModes;
  readonly observer: RestoreObserver;
  /** Path of the target with links resolved. */
  readonly place: ByteString;
  /** Why nothing at or below a path is removed; undefined if it may be removed. */
  readonly keep: (path: ByteString) => StayReason | undefined;
  readonly isOwn: OwnTest;
  readonly ignoresCase: boolean;
  /** Called for every file that will have to be written or compared. */
  readonly expect: (bytes: number) => void;
}

export interface PlanStart {
  readonly tree: Buffer;
  readonly selection: SelectedDirectory;
}

/** Walks the snapshot's tree, makes the directories and plans everything else. */
export async function planRestore(
  parts: PlanParts,
  start: PlanStart,
  signal: AbortSignal,
): Promise<RestorePlan> {
  return await new PlanWalk(parts).run(start, signal);
}

/** Tree chunks between two turns of the event loop, for an interrupt or a progress display. */
const STRETCH = 64;

class PlanWalk {
  readonly #parts: PlanParts;
  readonly #maker: DirectoryMaker;
  readonly #look: TargetLook;
  readonly #files: FilePlanner;
  readonly #links = new HardLinks();
  #steps = 0;
  /** A stack: the next directory to visit is the last. */
  readonly #visits: Visit[] = [];
  readonly #named: NamedEntry[] = [];
  readonly #extra: ExtraCollector;
  #isEmpty = true;
  #budget = new TreeBudget(0);

  constructor(parts: PlanParts) {
    const { request, place, directories, tally, records, run, lifted, isOwn } = parts;
    this.#parts = parts;
    this.#extra = new ExtraCollector({
      tally,
      find: (visit, name) => this.#look.find(visit, name),
      open: (visit) => this.#maker.open(visit),
    });
    const planned = (path: () => ByteString, action: PlannedAction): void =>
      this.#look.planned(path, action, 'directory');
    this.#maker = new DirectoryMaker({
      request,
      place,
      directories,
      records: records.records,
      tally,
      run,
      lifted,
      planned,
      isOwn,
    });
    this.#look = new TargetLook(parts, this.#maker);
    this.#files = new FilePlanner({
      ...parts,
      dryRun: request.dryRun,
      maker: this.#maker,
      look: this.#look,
      links: this.#links,
    });
  }

  async run({ tree, selection }: PlanStart, signal: AbortSignal): Promise<RestorePlan> {
    const { root: handle, directories, reader, ignoresCase } = this.#parts;
    const root = rootVisit(tree, handle, selection, { fresh: directories === undefined, ignoresCase });
    this.#budget = await treeBudget(reader, tree, undefined, signal);
    this.#maker.begin(root);
    this.#visits.push(root);
    for (let visit = this.#visits.pop(); visit !== undefined; visit = this.#visits.pop()) {
      await this.#pace(signal);
      await this.#visit(visit, signal);
    }
    for (const group of this.#links.groups) await this.#files.lead(group, signal);
    return {
      directories: this.#maker.made,
      compare: this.#files.compare,
      clearing: this.#files.clearing,
      named: this.#named,
      groups: this.#links.groups,
      marks: this.#maker.marks,
      markedFiles: this.#files.marked,
      extra: this.#extra.entries,
      shared: this.#maker.shared,
      inheritsAcls: this.#maker.inheritsAcls,
      isEmpty: this.#isEmpty,
    };
  }

  async #visit(visit: Visit, signal: AbortSignal): Promise<void> {
    const { reader, tally } = this.#parts;
    const below: Visit[] = [];
    const isRoot = visit.above === undefined;
    let isWhole = true;
    try {
      const { id, totals } = visit;
      if (visit.ignoresCase) visit.clashes = await clashesAmong(this.#names(visit, signal));
      const cursor = new DirectoryCursor(reader, id, { totals, budget: this.#budget });
      while (cursor.part !== undefined) {
        await this.#pace(signal);
        if (!(await readPart(cursor, visit, tally, signal))) isWhole = false;
        for (let entry = cursor.entry; entry !== undefined; entry = cursor.entry) {
          cursor.skip();
          this.#extra.claim(visit, entry.name);
          if (entry.type === 'file') {
            if (!visit.selection.takes(entry.name)) continue;
            this.#isEmpty = false;
            const waiting = this.#files.plan(visit, entry, signal);
            if (waiting !== undefined) await waiting;
          } else if (entry.type === 'directory') {
            const waiting = this.#directory(visit, entry, below, signal);
            if (waiting !== undefined) await waiting;
          } else {
            this.#namedEntry(visit, entry);
          }
        }
      }
      // the part that could not be read may have any name, so nothing counts as extra then
      if (isWhole) this.#extra.finish(visit);
    } catch (error) {
      if (isRoot || !isLostPart(error)) throw error;
      // what was found before the damage is still restored
      const { code, message } = entryFailure(error);
      tally.problem(pathOfVisit(visit), code, message);
      isWhole = false;
    }
    if (!isWhole) tally.directoriesUnread += 1;
    // reversed, so that the walk follows the order in which the archiver stored everything
    for (const child of below.toReversed()) this.#visits.push(child);
  }

  /** The names in a directory of the snapshot. Parts that cannot be read are told of when its entries are planned. */
  async *#names({ id, totals, selection }: Visit, signal: AbortSignal): AsyncGenerator<ClashingName> {
    const cursor = new DirectoryCursor(this.#parts.reader, id, {
      totals,
      budget: new TreeBudget(MOST_ENTRIES),
    });
    while (cursor.part !== undefined) {
      await this.#pace(signal);
      try {
        await cursor.read(signal);
      } catch (error) {
        if (!isLostPart(error)) throw error;
        continue;
      }
      for (let entry = cursor.entry; entry !== undefined; entry = cursor.entry) {
        cursor.skip();
        const { name, type } = entry;
        const selected = type === 'directory' ? selection.enter(name) !== undefined : selection.takes(name);
        yield { name, selected };
      }
    }
  }

  /** Yields to the event loop now and then. Nearly all reads come from memory, so nothing else would get its turn. */
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

  /** A file is removed for a directory only once the first part of that directory has been read. */
  async #readAndMake(visit: Visit, below: Visit[], signal: AbortSignal): Promise<void> {
    const { reader, tally } = this.#parts;
    if (await beginsUnread(reader, visit, tally, signal)) return;
    this.#maker.make(visit);
    below.push(visit);
  }

  #namedEntry(visit: Visit, entry: NamedKind): void {
    const { tally } = this.#parts;
    if (!visit.selection.takes(entry.name)) return;
    this.#isEmpty = false;
    if (!this.#maker.make(visit)) return;
    try {
      requirePossible(entry.name);
      const found = this.#look.find(visit, entry.name);
      const standing = this.#look.standing(visit, entry, found);
      this.#look.planned(() => pathInVisit(visit, entry.name), actionOf(standing));
      const group = this.#links.namedGroupOf(entry);
      if (standing === 'skip') {
        const directory = this.#parts.directories?.at(visit.handle);
        if (group !== undefined && found !== undefined && isSameAsStanding(entry, found, directory))
          group.made ??= { parent: visit.handle, name: entry.name };
        return;
      }
      if (standing === 'clear') this.#look.wouldDelete(visit, entry.name);
      this.#maker.open(visit);
      this.#named.push({ parent: visit.handle, entry, standing, group });
    } catch (error) {
      const { code, message } = entryFailure(error);
      tally.problem(pathInVisit(visit, entry.name), code, message);
    }
  }
}
