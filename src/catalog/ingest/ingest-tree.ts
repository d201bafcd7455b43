/**
 * Takes in the tree of a snapshot: what is new, changed or gone since the previous snapshot of its lineage.
 *
 * A directory whose tree is already known is not read. The version of a directory is written after everything below it,
 * so a version with a content means that the directory has been taken in completely: after an interruption, the next
 * run skips what is finished without reading it again.
 *
 * A directory gets a new version when anything below it did, whether or not its tree could be compared. So a version
 * that two snapshots share means that everything below is the same in both.
 */
import { asByteString, type ByteString } from '../../base/byte-path.ts';
import { corrupt } from '../../base/errors.ts';
import { DirectoryCursor } from '../../browse/directory-cursor.ts';
import { readOrReport } from '../../browse/list.ts';
import { isDamage } from '../../browse/snapshot-trees.ts';
import { MAX_DEPTH, type DirectoryEntry, type DirectoryTotals, type Entry } from '../../format/tree.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import { MOST_ENTRIES, TreeBudget, isUnending, treeBudget } from '../../repository/contents/tree-bounds.ts';
import type { TreeReader } from '../../repository/contents/tree-reader.ts';
import {
  digestOfTree,
  rowOf,
  rowOfRoot,
  sameContent,
  sameMetadata,
  type EntryRow,
} from '../tables/entry-row.ts';
import { NODE_TYPE } from '../tables/schema.ts';
import type { KnownNode, VersionWriter } from './version-writer.ts';

export interface IngestObserver {
  /** Entries processed since the last call. */
  onEntries(count: number): void;
  /** Called for a directory, or a part of one, that cannot be read. The rest is taken in. */
  onUnreadable(path: ByteString, error: Error): void;
}

export interface TreeSource {
  readonly snapshot: Snapshot;
  readonly reader: TreeReader;
  /** The node of the lineage's root. */
  readonly root: number;
}

/** Takes in a whole snapshot. May be called again after an interruption at any point. */
export async function ingestTree(
  source: TreeSource,
  writer: VersionWriter,
  observer: IngestObserver,
  signal: AbortSignal,
): Promise<void> {
  const { snapshot, reader, root } = source;
  const { salt, root: tree } = snapshot.record;
  const ingest = new TreeIngest(reader, salt !== undefined, writer, observer);
  await ingest.run(root, tree, signal);
}

/** A directory that is being read, and those above it. */
interface Place {
  readonly above: Place | undefined;
  readonly name: ByteString;
  readonly depth: number;
}

interface DirectoryOutcome {
  /** Whether anything below, at any depth, differs from the previous snapshot. */
  readonly changed: boolean;
  /** Whether all of it could be read. */
  readonly whole: boolean;
  readonly children: number;
  /** Entries below it at all depths. */
  readonly entries: number;
  readonly bytes: number;
}

class TreeIngest {
  readonly #reader: TreeReader;
  readonly #salted: boolean;
  readonly #writer: VersionWriter;
  readonly #observer: IngestObserver;
  #budget = new TreeBudget(MOST_ENTRIES);

  constructor(reader: TreeReader, salted: boolean, writer: VersionWriter, observer: IngestObserver) {
    this.#reader = reader;
    this.#salted = salted;
    this.#writer = writer;
    this.#observer = observer;
  }

  async run(root: number, tree: Buffer, signal: AbortSignal): Promise<void> {
    const known = this.#writer.knownRoot(root);
    if (known.row !== undefined && this.#isKnownTree(known.row, tree)) return;
    const place: Place = { above: undefined, name: asByteString(''), depth: 0 };
    const outcome = await this.#all(root, tree, place, signal);
    const row = whole(rowOfRoot(tree, this.#salted, outcome), outcome);
    this.#settle(root, known, row, outcome.changed);
  }

  /**
   * Takes in the whole tree. A tree that unfolds without end is refused, and only the existence of the snapshot is
   * known then.
   */
  async #all(root: number, tree: Buffer, place: Place, signal: AbortSignal): Promise<DirectoryOutcome> {
    try {
      this.#budget = await treeBudget(this.#reader, tree, undefined, signal);
      return await this.#directory(root, { id: tree }, place, false, signal);
    } catch (error) {
      // If the root is damaged, the walk reports what can be read of it.
      if (isDamage(error)) return await this.#directory(root, { id: tree }, place, false, signal);
      if (!isUnending(error)) throw error;
      return await this.#refused(root, place, error, signal);
    }
  }

  async #refused(node: number, place: Place, error: Error, signal: AbortSignal): Promise<DirectoryOutcome> {
    this.#unreadable(place, undefined, error);
    await this.#writer.endBelow(node, signal);
    return { changed: true, whole: false, children: 0, entries: 0, bytes: 0 };
  }

  /** @param fresh whether the directory is new, so that it has no known nodes */
  async #directory(
    node: number,
    { id: tree, totals }: { readonly id: Buffer; readonly totals?: DirectoryTotals },
    place: Place,
    fresh: boolean,
    signal: AbortSignal,
  ): Promise<DirectoryOutcome> {
    const cursor = new DirectoryCursor(this.#reader, tree, { totals, budget: this.#budget });
    const known = fresh ? nothing() : this.#writer.known(node);
    let before = known.next().value;
    let changed = false;
    let complete = true;
    let [children, entries, bytes] = [0, 0, 0];
    for (;;) {
      const { entry } = cursor;
      if (entry === undefined) {
        if (cursor.part === undefined) break;
        if (!(await this.#read(cursor, place, signal))) complete = false;
        continue;
      }
      cursor.skip();
      children += 1;
      entries += entry.type === 'directory' ? entry.totals.entries + 1 : 1;
      bytes += entry.type === 'directory' ? entry.totals.bytes : entry.type === 'file' ? entry.size : 0;
      while (before !== undefined && before.name < entry.name) {
        if (await this.#gone(before, signal)) changed = true;
        before = known.next().value;
      }
      const same = before?.name === entry.name ? before : undefined;
      if (same !== undefined) before = known.next().value;
      const below = await this.#entry(node, entry, same, place, signal);
      if (below.changed) changed = true;
      if (!below.whole) complete = false;
      await this.#writer.breathe(signal);
    }
    for (; before !== undefined; before = known.next().value) {
      if (await this.#gone(before, signal)) changed = true;
    }
    this.#observer.onEntries(children);
    return { changed, whole: complete, children, entries, bytes };
  }

  async #read(cursor: DirectoryCursor, place: Place, signal: AbortSignal): Promise<boolean> {
    const part = cursor.part?.id;
    const told = (_: ByteString, error: Error): void => this.#unreadable(place, part, error);
    return await readOrReport(cursor, asByteString(''), told, signal);
  }

  #unreadable(place: Place, tree: Buffer | undefined, error: Error): void {
    const path = pathOfPlace(place);
    this.#writer.addGap(path, tree);
    this.#observer.onUnreadable(path, error);
  }

  async #entry(
    directory: number,
    entry: Entry,
    known: KnownNode | undefined,
    place: Place,
    signal: AbortSignal,
  ): Promise<{ changed: boolean; whole: boolean }> {
    if (entry.type === 'directory') return await this.#subdirectory(directory, entry, known, place, signal);
    if (known?.row?.type === NODE_TYPE.directory) await this.#writer.endBelow(known.id, signal);
    const row = rowOf(entry, this.#salted, null);
    const before = known?.row;
    if (
      known !== undefined &&
      before !== undefined &&
      sameMetadata(before, row) &&
      sameContent(before, row, true)
    ) {
      if (before.content === null && row.content !== null) this.#writer.learn(known.id, row);
      return { changed: known.since === this.#writer.ordinal, whole: true };
    }
    this.#writer.begin(known?.id ?? this.#writer.addNode(directory, entry.name), known, row);
    return { changed: true, whole: true };
  }

  async #subdirectory(
    directory: number,
    entry: DirectoryEntry,
    known: KnownNode | undefined,
    above: Place,
    signal: AbortSignal,
  ): Promise<{ changed: boolean; whole: boolean }> {
    const before = known?.row;
    if (known !== undefined && before !== undefined && this.#isKnownTree(before, entry.id)) {
      const row = rowOf(entry, this.#salted, before.children);
      if (!sameMetadata(before, row)) this.#writer.begin(known.id, known, row);
      return {
        changed: known.since === this.#writer.ordinal || known.ended || !sameMetadata(before, row),
        whole: true,
      };
    }
    const place: Place = { above, name: entry.name, depth: above.depth + 1 };
    const node = known?.id ?? this.#writer.addNode(directory, entry.name);
    const outcome = await this.#descend(node, entry, place, known === undefined, signal);
    const row = whole(rowOf(entry, this.#salted, outcome.children), outcome);
    return { changed: this.#settle(node, known, row, outcome.changed), whole: outcome.whole };
  }

  async #descend(
    node: number,
    entry: DirectoryEntry,
    place: Place,
    fresh: boolean,
    signal: AbortSignal,
  ): Promise<DirectoryOutcome> {
    if (place.depth < MAX_DEPTH) return await this.#directory(node, entry, place, fresh, signal);
    const tooDeep = corrupt(`tree ${entry.id.toString('hex')}`, `it lies more than ${MAX_DEPTH} deep`);
    return await this.#refused(node, place, tooDeep, signal);
  }

  /** Writes the version of a directory after its content. Returns whether it differs from the previous snapshot. */
  #settle(node: number, known: KnownNode | undefined, row: EntryRow, changedBelow: boolean): boolean {
    const before = known?.row;
    const comparable = before !== undefined && before.content !== null && row.content !== null;
    if (
      before !== undefined &&
      sameMetadata(before, row) &&
      !changedBelow &&
      (!comparable || before.content === row.content)
    ) {
      if (before.content === null && row.content !== null) this.#writer.learn(node, row);
      return known?.since === this.#writer.ordinal;
    }
    this.#writer.begin(node, known, row);
    return true;
  }

  /** Whether the version means that the directory has been taken in with this very tree. */
  #isKnownTree(row: EntryRow, tree: Buffer): boolean {
    return row.type === NODE_TYPE.directory && !this.#salted && row.content === digestOfTree(tree);
  }

  /** Ends an entry that the snapshot does not have. Returns whether that is a change. */
  async #gone(known: KnownNode, signal: AbortSignal): Promise<boolean> {
    if (known.row === undefined) return known.ended;
    if (known.row.type === NODE_TYPE.directory) await this.#writer.endBelow(known.id, signal);
    this.#writer.end(known.id, known.since);
    await this.#writer.breathe(signal);
    return true;
  }
}

/** The known nodes of a new directory. */
function* nothing(): Generator<KnownNode, undefined, undefined> {
  yield* [];
  return undefined;
}

/**
 * The row of a directory. Without its content if the directory could not be read completely, so that the next snapshot
 * reads it again.
 */
function whole(row: EntryRow, { whole: isWhole }: DirectoryOutcome): EntryRow {
  return isWhole ? row : { ...row, content: null, children: null };
}

function pathOfPlace(place: Place): ByteString {
  const names: ByteString[] = [];
  for (let at: Place | undefined = place; at?.above !== undefined; at = at.above) names.unshift(at.name);
  return asByteString(`/${names.join('/')}`);
}
