import type { FileEntry } from '../../format/tree.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import type { TreeReader } from '../../repository/contents/tree-reader.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import type { ContentPlan } from '../content/content-plan.ts';
import type { DirectoryMaker } from './directory-maker.ts';
import { entryFailure, requirePossible } from '../target/entry-failure.ts';
import { RECORD, type EntryRecordWriter, type RecordHandle } from '../target/entry-records.ts';
import { FileContent } from '../content/file-content.ts';
import { addLink, isTakenForSame, type HardLinks, type LinkGroup } from './hard-links.ts';
import { standingOfMetadata } from '../metadata/compare.ts';
import { keptOwner, type MetadataPolicy } from '../metadata/metadata.ts';
import type { OpenDirectories } from '../target/open-directories.ts';
import { actionOf, type Standing } from '../request/standing.ts';
import type { RestoreTally } from '../request/tally.ts';
import type { TargetLook } from './target-look.ts';
import { pathInVisit, type Visit } from './visit.ts';

export interface FilePlanParts {
  readonly reader: TreeReader;
  readonly index: ChunkIndex;
  readonly records: EntryRecordWriter;
  readonly content: ContentPlan;
  /** Undefined in a dry run whose target does not exist. */
  readonly directories: OpenDirectories | undefined;
  readonly tally: RestoreTally;
  readonly policy: MetadataPolicy;
  readonly dryRun: boolean;
  readonly maker: DirectoryMaker;
  readonly look: TargetLook;
  readonly links: HardLinks;
  /** Called for every file that will have to be written or compared. */
  readonly expect: (bytes: number) => void;
}

/** A file system that compresses may hold this many times its nominal size. */
const COMPRESSION_AT_MOST = 16;
/** The most bytes of data in one file: 64 TiB. */
const LARGEST_ANYWHERE = 2 ** 46;

const LEFT_ALONE = 'a file with another of its names existed, and was not changed';

/** Plans the files of a restore: which exist already, which are made, and from which segments. */
export class FilePlanner {
  /** Files that exist in the target and have to be compared. */
  readonly compare: RecordHandle[] = [];
  /** Files whose name a directory has in the target. */
  readonly clearing: RecordHandle[] = [];
  /** Files that an earlier restore has not finished. */
  readonly marked = new Set<RecordHandle>();
  readonly #parts: FilePlanParts;
  readonly #content: FileContent;

  constructor(parts: FilePlanParts) {
    this.#parts = parts;
    this.#content = new FileContent(parts.index, parts.content);
  }

  /** Returns a promise only when something has to be read first. */
  plan(visit: Visit, entry: FileEntry, signal: AbortSignal): Promise<void> | undefined {
    const { tally } = this.#parts;
    tally.filesTotal += 1;
    tally.bytesTotal += entry.size;
    if (!this.#parts.maker.make(visit)) {
      tally.fileLost(entry.size);
      return undefined;
    }
    try {
      requirePossible(entry.name);
      const found = this.#parts.look.find(visit, entry.name);
      let standing = this.#parts.look.standing(visit, entry, found);
      if (standing === 'leave') standing = this.#metadataOf(visit, entry, found);
      const group = this.#parts.links.groupOf(entry);
      if (standing !== 'compare' || group !== undefined)
        this.#parts.look.planned(() => pathInVisit(visit, entry.name), actionOf(standing));
      if (standing === 'skip') {
        this.#skipped(visit, entry, found, group);
        return undefined;
      }
      if (group?.leader === undefined) {
        if (standing === 'leave') {
          this.#leave(visit, entry, found, group);
          return undefined;
        }
        if (standing === 'touch-up') {
          this.#touchUp(visit, entry, found, group);
          return undefined;
        }
      }
      if (group !== undefined) {
        const hasOthers = group.leader !== undefined || group.first !== undefined;
        if (standing === 'clear' && hasOthers) this.#parts.look.wouldDelete(visit, entry.name);
        if (standing !== 'leave') this.#parts.maker.open(visit);
        addLink(group, visit, entry, standing);
        return undefined;
      }
      if (entry.indirect) return this.#readAndPlan(visit, entry, standing, signal);
      this.#content.resolveDirect(entry, () => this.#largestFile(visit));
      this.#planFile(visit, entry, standing);
    } catch (error) {
      this.#fileFailed(visit, entry, error);
    }
    return undefined;
  }

  /** To be called when all names of a file have been seen: gives the content to one of them, unless one that exists has it. */
  async lead(group: LinkGroup, signal: AbortSignal): Promise<void> {
    const { first } = group;
    group.first = undefined;
    if (group.leader !== undefined || first === undefined) return;
    const { visit, entry } = first;
    const standing = group.links.shift()?.standing ?? 'create';
    if (group.leftAlone)
      this.#parts.tally.omissions.note('hard-links', LEFT_ALONE, () => pathInVisit(visit, entry.name));
    await this.#readAndPlan(visit, entry, standing, signal, group);
  }

  async #readAndPlan(
    visit: Visit,
    entry: FileEntry,
    standing: Standing,
    signal: AbortSignal,
    group?: LinkGroup,
  ): Promise<void> {
    try {
      await this.#content.resolve(entry, this.#parts.reader, () => this.#largestFile(visit), signal);
      this.#planFile(visit, entry, standing, group);
    } catch (error) {
      signal.throwIfAborted();
      this.#fileFailed(visit, entry, error);
    }
  }

  /** Makes the record of a file whose content has been located. */
  #planFile(visit: Visit, entry: FileEntry, standing: Standing, group?: LinkGroup): void {
    const { records, content, tally, policy } = this.#parts;
    if (standing === 'clear') this.#parts.look.wouldDelete(visit, entry.name);
    if (this.#parts.dryRun && (standing !== 'compare' || group !== undefined)) {
      tally.filesRestored += 1;
      tally.bytesRestored += entry.size;
      tally.bytesDone += entry.size;
      return;
    }
    if (!this.#parts.dryRun) this.#parts.maker.open(visit);
    const resolved = this.#content;
    const update = standing === 'update' || standing === 'compare';
    const segment = resolved.onlySegment;
    const spread = !update && resolved.count > 0 && segment === undefined;
    const flags =
      (update ? RECORD.update : 0) |
      (standing === 'replace' ? RECORD.replace | keptOwner(policy) : 0) |
      (standing === 'clear' ? RECORD.replace | RECORD.clears : 0) |
      (spread ? RECORD.spread : 0) |
      (resolved.endsInHole ? RECORD.sized : 0) |
      (group === undefined ? 0 : RECORD.leader);
    const record = records.add(visit.handle, entry, flags, entry.size, resolved.count);
    resolved.store(record);
    this.#parts.expect(entry.size);
    if (group !== undefined) group.leader = record.handle;
    this.#marked(visit, entry, record.handle);
    if (standing === 'clear') this.clearing.push(record.handle);
    if (update) this.compare.push(record.handle);
    else if (resolved.count === 0) content.addPlain(record.handle);
    else if (segment !== undefined) content.addWhole(record.handle, segment);
    else resolved.spread(record, content);
  }

  #skipped(visit: Visit, entry: FileEntry, found: EntryStat | undefined, group: LinkGroup | undefined): void {
    this.#parts.tally.filesSkipped += 1;
    this.#parts.tally.bytesDone += entry.size;
    if (group === undefined || found === undefined) return;
    // an earlier restore may have left it like this: its other names are made links to it
    if (isTakenForSame(entry, found)) this.#stands(visit, entry, found, group);
    else group.leftAlone = true;
  }

  #leave(visit: Visit, entry: FileEntry, found: EntryStat | undefined, group: LinkGroup | undefined): void {
    const { tally } = this.#parts;
    tally.filesUnchanged += 1;
    tally.bytesDone += entry.size;
    if (found !== undefined && group !== undefined) this.#stands(visit, entry, found, group);
  }

  #stands(visit: Visit, entry: FileEntry, found: EntryStat, group: LinkGroup): void {
    if (group.leader !== undefined) return;
    const { records } = this.#parts;
    const record = records.add(visit.handle, { ...entry, xattrs: undefined }, RECORD.leader, entry.size, 0);
    record.created = found;
    group.leader = record.handle;
  }

  /** Notes the mark of an earlier restore that says the file is unfinished; once it is finished, the mark is removed. */
  #marked(visit: Visit, { name }: FileEntry, handle: RecordHandle): void {
    const mark = visit.unfinished.get(name);
    if (mark === undefined) return;
    this.#parts.maker.marks.set(handle, mark);
    this.marked.add(handle);
  }

  #metadataOf(visit: Visit, entry: FileEntry, found: EntryStat | undefined): Standing {
    const { policy, directories } = this.#parts;
    if (found === undefined || directories === undefined) return 'leave';
    return standingOfMetadata(policy, entry, found, directories.at(visit.handle));
  }

  #touchUp(visit: Visit, entry: FileEntry, found: EntryStat | undefined, group: LinkGroup | undefined): void {
    const { tally, records, content } = this.#parts;
    if (this.#parts.dryRun || found === undefined) {
      tally.filesRestored += 1;
      tally.bytesDone += entry.size;
      return;
    }
    const flags = RECORD.update | RECORD.metadataOnly | (group === undefined ? 0 : RECORD.leader);
    const record = records.add(visit.handle, entry, flags, entry.size, 0);
    record.created = found;
    this.#parts.expect(0);
    if (group !== undefined) group.leader = record.handle;
    content.addPlain(record.handle);
  }

  /** The most bytes of data that one file can have in a directory. */
  #largestFile(visit: Visit): number {
    const { directories } = this.#parts;
    if (directories === undefined || (this.#parts.dryRun && visit.fresh)) return LARGEST_ANYWHERE;
    return Math.min(LARGEST_ANYWHERE, directories.at(visit.handle).capacity() * COMPRESSION_AT_MOST);
  }

  #fileFailed(visit: Visit, entry: FileEntry, error: unknown): void {
    const { code, message } = entryFailure(error);
    this.#parts.tally.fileFailed(pathInVisit(visit, entry.name), entry.size, code, message);
  }
}
