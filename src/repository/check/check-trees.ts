import { corrupt } from '../../base/errors.ts';
import { ID_BYTES } from '../../codec/hash.ts';
import type { Namespace } from '../../codec/keys.ts';
import {
  MAX_DEPTH,
  sameTotals,
  totalsOf,
  type BranchChild,
  type DirectoryTotals,
  type FileEntry,
} from '../../format/tree.ts';
import type { IdEnds } from './check-ids.ts';
import { chunkKey } from './check-index.ts';
import { isDamage, type ChunkIndex } from '../chunk-index.ts';
import type { Repository } from '../repository.ts';
import { SlotSet } from '../packs/slot-set.ts';
import type { Snapshot } from '../snapshots.ts';
import { DirectorySum, NamedTotals } from '../stated-totals.ts';
import { ContentBudget, mostChunks } from '../contents/tree-bounds.ts';
import { TreeReader } from '../contents/tree-reader.ts';

/** A file whose entry is not consistent with its chunks. */
export interface UnsoundFile {
  readonly tree: Buffer;
  readonly name: string;
  readonly reason: string;
}

/** The results of traversing every tree of the live snapshots. */
export interface Traversal {
  /** Every chunk that a live snapshot needs. */
  readonly referenced: SlotSet;
  /** Needed chunks that no pack holds, by chunk key. */
  readonly missing: ReadonlyMap<string, Buffer>;
  /** Tree chunks that cannot be read, by chunk key. */
  readonly unreadable: ReadonlyMap<string, { readonly id: Buffer; readonly error: Error }>;
  readonly unsoundFiles: readonly UnsoundFile[];
  /**
   * By chunk key: directories whose content differs from what their entries state, and those with unsound files beyond
   * `MOST_UNSOUND_FILES`.
   */
  readonly unsoundTrees: ReadonlyMap<string, { readonly id: Buffer; readonly reason: string }>;
  /**
   * What snapshots hold, by the chunk key of their root. Roots that are missing or cannot be read completely are left
   * out.
   */
  readonly roots: ReadonlyMap<string, DirectoryTotals>;
  readonly trees: number;
  readonly files: number;
}

/** Beyond this number, a directory is reported instead of each of its files. */
const MOST_UNSOUND_FILES = 10_000;

/** What is known of a file's content. */
class FileContent {
  /** Total length of the chunks that were found. */
  bytes = 0;
  chunks = 0;
  isWhole = true;
  isNamedOtherwise = false;

  add(list: FileContent): void {
    this.bytes += list.bytes;
    this.chunks += list.chunks;
    this.isWhole &&= list.isWhole;
    this.isNamedOtherwise ||= list.isNamedOtherwise;
  }
}

interface Visit {
  readonly id: Buffer;
  readonly depth: number;
  readonly sum: DirectorySum;
  /** Set for the parts of a split directory. */
  readonly part?: { readonly level: number; readonly from: string; readonly before: string | undefined };
}

export interface TraversalOptions {
  /** Chunks that are skipped, with everything below them. */
  readonly passed?: SlotSet;
  /** Receives every chunk id that a file names. A file is unsound when it names a chunk by another id than its pack does. */
  readonly ids?: IdEnds | undefined;
  /** Whether to compare the totals that entries state of a directory with each other and with its content. */
  readonly compareTotals?: boolean;
}

/** Visits each distinct tree chunk of the snapshots once. */
export async function traverseTrees(
  repository: Repository,
  index: ChunkIndex,
  snapshots: readonly Snapshot[],
  signal: AbortSignal,
  options: TraversalOptions = {},
): Promise<Traversal> {
  const walk = new TreeWalk(index, options);
  for (const { namespace, roots } of byNamespace(snapshots)) {
    await walk.visitAll(new TreeReader(repository, index, namespace), roots, signal);
  }
  return walk;
}

/** The snapshots' roots, grouped by the namespace of their chunk ids. */
function byNamespace(snapshots: readonly Snapshot[]): { namespace: Namespace; roots: Buffer[] }[] {
  const groups = new Map<string, { namespace: Namespace; roots: Buffer[] }>();
  for (const { record } of snapshots) {
    const { plain, salt } = record;
    const key = `${plain}/${salt?.toString('hex') ?? ''}`;
    const group: { namespace: Namespace; roots: Buffer[] } = groups.get(key) ?? {
      namespace: { plain, salt },
      roots: [],
    };
    group.roots.push(record.root);
    groups.set(key, group);
  }
  return [...groups.values()];
}

class TreeWalk implements Traversal {
  readonly referenced = new SlotSet();
  readonly missing = new Map<string, Buffer>();
  readonly unreadable = new Map<string, { id: Buffer; error: Error }>();
  readonly unsoundFiles: UnsoundFile[] = [];
  readonly unsoundTrees = new Map<string, { id: Buffer; reason: string }>();
  readonly roots = new Map<string, DirectoryTotals>();
  trees = 0;
  files = 0;
  readonly #index: ChunkIndex;
  readonly #passed: SlotSet | undefined;
  readonly #ids: IdEnds | undefined;
  readonly #named: NamedTotals | undefined;
  /** Totals of leaves that are parts of directories. */
  readonly #leaves = new Map<string, DirectoryTotals>();
  /** Lists of chunk ids, each read once however often it is named. */
  readonly #lists = new Map<string, FileContent>();

  constructor(index: ChunkIndex, { passed, ids, compareTotals = false }: TraversalOptions) {
    this.#index = index;
    this.#passed = passed;
    this.#ids = ids;
    this.#named = compareTotals ? new NamedTotals() : undefined;
  }

  async visitAll(reader: TreeReader, roots: readonly Buffer[], signal: AbortSignal): Promise<void> {
    const stack: Visit[] = roots.map((id) => ({ id, depth: 0, sum: new DirectorySum(undefined) }));
    const directories = new Map<DirectorySum, Buffer>();
    for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
      signal.throwIfAborted();
      const { id, sum, part } = visit;
      const isNew = this.#claim(id);
      if (part === undefined) {
        this.#compareNamed(id, sum.stated);
        if (!isNew) continue;
        directories.set(sum, id);
      }
      let isRead = false;
      try {
        if (isNew) isRead = await this.#visit(reader, visit, stack, signal);
        else isRead = await this.#sharedPart(reader, visit, stack, signal);
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.unreadable.set(chunkKey(id), { id, error });
      }
      this.#partDone(directories, sum, isRead);
    }
  }

  /**
   * Adds a part of a directory that was visited already, since another directory shares it: the totals of both must be
   * right. False when the part could not be read.
   */
  async #sharedPart(reader: TreeReader, visit: Visit, stack: Visit[], signal: AbortSignal): Promise<boolean> {
    const { id, sum } = visit;
    const key = chunkKey(id);
    if (this.#named === undefined || this.missing.has(key) || this.unreadable.has(key)) return false;
    const known = this.#leaves.get(key);
    if (known !== undefined) {
      sum.add(known);
      return true;
    }
    const chunk = await reader.chunk(id, signal);
    if (chunk.form !== 'branch') return false;
    pushParts(stack, chunk.children, chunk.level, visit);
    return true;
  }

  #compareNamed(id: Buffer, stated: DirectoryTotals | undefined): void {
    const slot = this.#index.table.slotOf(id);
    if (stated === undefined || slot < 0 || this.#named?.isAsBefore(slot, stated) !== false) return;
    this.#unsoundTree(id, 'two entries that name this directory differ in what they say of its size');
  }

  #partDone(directories: Map<DirectorySum, Buffer>, sum: DirectorySum, isRead: boolean): void {
    const found = sum.partDone(isRead);
    const id = directories.get(sum);
    if (!sum.isOver || id === undefined) return;
    directories.delete(sum);
    if (found === undefined) return;
    const { stated } = sum;
    if (stated === undefined) this.roots.set(chunkKey(id), found);
    else if (this.#named !== undefined && !sameTotals(stated, found)) {
      const said = `${stated.entries} entries, ${stated.files} files and ${stated.bytes} bytes`;
      const held = `${found.entries} entries, ${found.files} files and ${found.bytes} bytes`;
      this.#unsoundTree(id, `this directory holds ${held}; its entry says ${said}`);
    }
  }

  #unsoundTree(id: Buffer, reason: string): void {
    this.unsoundTrees.set(chunkKey(id), { id, reason });
  }

  /** True the first time that an existing chunk is seen. */
  #claim(id: Buffer): boolean {
    const slot = this.#index.table.slotOf(id);
    if (slot >= 0) return this.#passed?.has(slot) !== true && this.referenced.add(slot);
    this.missing.set(chunkKey(id), Buffer.from(id));
    return false;
  }

  async #visit(reader: TreeReader, visit: Visit, stack: Visit[], signal: AbortSignal): Promise<true> {
    const { id, depth, sum, part } = visit;
    const object = `tree ${id.toString('hex')}`;
    if (depth > MAX_DEPTH) throw corrupt(object, 'it lies deeper than paths can be');
    const chunk = await reader.chunk(id, signal);
    this.trees += 1;
    if (chunk.form === 'list') throw corrupt(object, 'it is a list of chunks where a directory belongs');
    const first = chunk.form === 'leaf' ? chunk.entries[0]?.name : chunk.children[0]?.firstName;
    const last = chunk.form === 'leaf' ? chunk.entries.at(-1)?.name : chunk.children.at(-1)?.firstName;
    if (part !== undefined) {
      const level = chunk.form === 'leaf' ? 0 : chunk.level;
      const within =
        first === part.from && last !== undefined && (part.before === undefined || last < part.before);
      if (level !== part.level || !within)
        throw corrupt(object, 'it does not belong where its directory has it');
    }
    if (chunk.form === 'branch') {
      pushParts(stack, chunk.children, chunk.level, visit);
      return true;
    }
    const totals = totalsOf(chunk.entries);
    sum.add(totals);
    if (part !== undefined && this.#named !== undefined) this.#leaves.set(chunkKey(id), totals);
    for (const entry of chunk.entries) {
      if (entry.type === 'file') this.files += 1;
      // The id is copied, since a view would keep its whole segment in memory as long as it is on the stack.
      if (entry.type === 'directory')
        stack.push({ id: Buffer.from(entry.id), depth: depth + 1, sum: new DirectorySum(entry.totals) });
      if (entry.type !== 'file') continue;
      const content = new FileContent();
      if (entry.indirect) await this.#listed(reader, entry, content, signal);
      else this.#content(entry.content, content);
      this.#file(id, entry, content);
    }
    return true;
  }

  #file(
    tree: Buffer,
    { name, size, holes }: FileEntry,
    { bytes, chunks, isWhole, isNamedOtherwise }: FileContent,
  ): void {
    const unsound = (reason: string): void => {
      if (this.unsoundFiles.length < MOST_UNSOUND_FILES)
        this.unsoundFiles.push({ tree, name, reason: `file ${JSON.stringify(name)} ${reason}` });
      else this.#unsoundTree(tree, 'more of its files do not add up');
    };
    if (isNamedOtherwise)
      unsound('names a chunk that no pack holds under this id; a backup with --force reads it again');
    if (!isWhole) return;
    const holeBytes = holes === undefined ? 0 : holes.reduce((sum, hole) => sum + hole.length, 0);
    if (bytes + holeBytes !== size) unsound(`has ${size} bytes, its chunks and holes ${bytes + holeBytes}`);
    else if (chunks > mostChunks(bytes, holes?.length ?? 0))
      unsound(`has ${chunks} chunks, more than ${bytes} bytes can have`);
  }

  /** Marks data chunks as needed. */
  #content(ids: Buffer, content: FileContent): void {
    const { table } = this.#index;
    content.chunks += ids.length / ID_BYTES;
    for (let at = 0; at < ids.length; at += ID_BYTES) {
      const slot = table.slotOf(ids, at);
      if (slot < 0) {
        this.missing.set(chunkKey(ids, at), Buffer.from(ids.subarray(at, at + ID_BYTES)));
        content.isWhole = false;
        continue;
      }
      this.referenced.add(slot);
      content.bytes += table.locationAt(slot).length;
      if (this.#ids?.takeNamed(slot, ids, at) === false) content.isNamedOtherwise = true;
    }
  }

  async #listed(
    reader: TreeReader,
    file: FileEntry,
    content: FileContent,
    signal: AbortSignal,
  ): Promise<void> {
    const budget = new ContentBudget(file);
    for (let at = 0; at < file.content.length; at += ID_BYTES) {
      const id = Buffer.from(file.content.subarray(at, at + ID_BYTES));
      const list = await this.#list(reader, id, signal);
      content.add(list);
      if (!budget.has(id, list.chunks)) content.chunks = Infinity;
    }
  }

  async #list(reader: TreeReader, id: Buffer, signal: AbortSignal): Promise<FileContent> {
    const key = chunkKey(id);
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const content = new FileContent();
    this.#lists.set(key, content);
    if (this.#claim(id)) this.trees += 1;
    if (this.missing.has(key) || this.unreadable.has(key)) {
      content.isWhole = false;
      return content;
    }
    try {
      const chunk = await reader.chunk(id, signal);
      if (chunk.form !== 'list') throw corrupt(`tree ${id.toString('hex')}`, 'it is not a list of chunks');
      this.#content(chunk.ids, content);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.unreadable.set(key, { id, error });
      content.isWhole = false;
    }
    return content;
  }
}

function pushParts(
  stack: Visit[],
  children: readonly BranchChild[],
  level: number,
  { depth, sum, part }: Visit,
): void {
  sum.split(children.length);
  for (const [i, child] of children.entries()) {
    const before = children[i + 1]?.firstName ?? part?.before;
    const below = { level: level - 1, from: child.firstName, before };
    stack.push({ id: Buffer.from(child.id), depth, sum, part: below });
  }
}
