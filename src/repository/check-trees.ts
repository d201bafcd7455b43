import { corrupt } from '../base/errors.ts';
import { ID_BYTES } from '../codec/hash.ts';
import type { Namespace } from '../codec/keys.ts';
import { MAX_DEPTH, type BranchChild, type FileEntry } from '../format/tree.ts';
import type { IdEnds } from './check-ids.ts';
import { chunkKey } from './check-index.ts';
import { isDamage, type ChunkIndex } from './chunk-index.ts';
import type { Repository } from './repository.ts';
import { SlotSet } from './slot-set.ts';
import type { Snapshot } from './snapshots.ts';
import { TreeReader } from './tree-reader.ts';

/** A file whose own record does not add up. */
export interface UnsoundFile {
  readonly tree: Buffer;
  readonly name: string;
  readonly reason: string;
}

/** What traversing every tree of the live snapshots showed. */
export interface Traversal {
  /** Every chunk that a live snapshot needs. */
  readonly referenced: SlotSet;
  /** Chunks that are needed and that no pack holds, by chunk key. */
  readonly missing: ReadonlyMap<string, Buffer>;
  /** Tree chunks that cannot be read, by chunk key. */
  readonly unreadable: ReadonlyMap<string, { readonly id: Buffer; readonly error: Error }>;
  readonly unsoundFiles: readonly UnsoundFile[];
  readonly trees: number;
  readonly files: number;
}

/** What is found of a file's content. */
class FileContent {
  /** Of the chunks that are there. */
  bytes = 0;
  isWhole = true;
  isNamedOtherwise = false;
}

interface Visit {
  readonly id: Buffer;
  readonly depth: number;
  /** Set for the parts of a split directory. */
  readonly part?: { readonly level: number; readonly from: string; readonly before: string | undefined };
}

/**
 * Visits each distinct tree chunk of the snapshots once.
 * @param passed chunks that are passed over, with all that is below them
 * @param ids told of each chunk that a file names: a file is unsound that names one otherwise than its pack has it
 */
export async function traverseTrees(
  repository: Repository,
  index: ChunkIndex,
  snapshots: readonly Snapshot[],
  signal: AbortSignal,
  passed?: SlotSet,
  ids?: IdEnds,
): Promise<Traversal> {
  const walk = new TreeWalk(index, passed, ids);
  for (const { namespace, roots } of byNamespace(snapshots)) {
    await walk.visitAll(new TreeReader(repository, index, namespace), roots, signal);
  }
  return walk;
}

/** The snapshots' roots by the keys that their chunk ids are made with. */
export function byNamespace(snapshots: readonly Snapshot[]): { namespace: Namespace; roots: Buffer[] }[] {
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
  trees = 0;
  files = 0;
  readonly #index: ChunkIndex;
  readonly #passed: SlotSet | undefined;
  readonly #ids: IdEnds | undefined;

  constructor(index: ChunkIndex, passed: SlotSet | undefined, ids: IdEnds | undefined) {
    this.#index = index;
    this.#passed = passed;
    this.#ids = ids;
  }

  async visitAll(reader: TreeReader, roots: readonly Buffer[], signal: AbortSignal): Promise<void> {
    const stack: Visit[] = roots.map((id) => ({ id, depth: 0 }));
    for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
      signal.throwIfAborted();
      if (!this.#claim(visit.id)) continue;
      try {
        await this.#visit(reader, visit, stack, signal);
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.unreadable.set(chunkKey(visit.id), { id: visit.id, error });
      }
    }
  }

  /** True the first time that an existing chunk is asked for. */
  #claim(id: Buffer): boolean {
    const slot = this.#index.table.slotOf(id);
    if (slot >= 0) return this.#passed?.has(slot) !== true && this.referenced.add(slot);
    this.missing.set(chunkKey(id), Buffer.from(id));
    return false;
  }

  async #visit(reader: TreeReader, visit: Visit, stack: Visit[], signal: AbortSignal): Promise<void> {
    const { id, depth, part } = visit;
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
      pushParts(stack, chunk.children, chunk.level, part?.before, depth);
      return;
    }
    for (const entry of chunk.entries) {
      if (entry.type === 'file') this.files += 1;
      // Copied: the id is a view of a segment that would otherwise stay in memory as long as the stack.
      if (entry.type === 'directory') stack.push({ id: Buffer.from(entry.id), depth: depth + 1 });
      if (entry.type !== 'file') continue;
      const content = new FileContent();
      if (entry.indirect) await this.#listed(reader, entry, content, signal);
      else this.#content(entry.content, content);
      this.#file(id, entry, content);
    }
  }

  #file(
    tree: Buffer,
    { name, size, holes }: FileEntry,
    { bytes, isWhole, isNamedOtherwise }: FileContent,
  ): void {
    const file = `file ${JSON.stringify(name)}`;
    if (isNamedOtherwise)
      this.unsoundFiles.push({
        tree,
        name,
        reason: `${file} names a chunk that no pack holds under this id; a backup with --force reads it again`,
      });
    if (!isWhole) return;
    const holeBytes = holes === undefined ? 0 : holes.reduce((sum, hole) => sum + hole.length, 0);
    if (bytes + holeBytes === size) return;
    const reason = `${file} has ${size} bytes, its chunks and holes ${bytes + holeBytes}`;
    this.unsoundFiles.push({ tree, name, reason });
  }

  /** Marks data chunks as needed. */
  #content(ids: Buffer, content: FileContent): void {
    const { table } = this.#index;
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
    for (let at = 0; at < file.content.length; at += ID_BYTES) {
      const id = Buffer.from(file.content.subarray(at, at + ID_BYTES));
      await this.#list(reader, id, content, signal);
    }
  }

  async #list(reader: TreeReader, id: Buffer, content: FileContent, signal: AbortSignal): Promise<void> {
    const key = chunkKey(id);
    if (this.#claim(id)) this.trees += 1;
    if (this.missing.has(key) || this.unreadable.has(key)) {
      content.isWhole = false;
      return;
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
  }
}

function pushParts(
  stack: Visit[],
  children: readonly BranchChild[],
  level: number,
  before: string | undefined,
  depth: number,
): void {
  for (const [i, child] of children.entries()) {
    const part = { level: level - 1, from: child.firstName, before: children[i + 1]?.firstName ?? before };
    stack.push({ id: Buffer.from(child.id), depth, part });
  }
}
