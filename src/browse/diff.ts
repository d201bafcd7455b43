import { joinBytes, type ByteString } from '../base/byte-path.ts';
import { MAX_DEPTH, type Entry } from '../format/tree.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import { lateTreeBudget, type TreeBudget } from '../repository/contents/tree-bounds.ts';
import type { TreeReader } from '../repository/contents/tree-reader.ts';
import { DirectoryCursor } from './directory-cursor.ts';
import { contentDiffers, metadataDifferences, type MetadataField } from './entries.ts';
import { tooDeep } from './list.ts';
import { lookUpPath, notInSnapshot, type Location } from './locate.ts';
import { shareNamespace, type SnapshotTrees } from './snapshot-trees.ts';

export type Change = { readonly path: ByteString } & (
  | { readonly kind: 'added'; readonly after: Entry }
  | { readonly kind: 'removed'; readonly before: Entry }
  /** Other bytes, link target or device; `fields` lists what else differs. */
  | {
      readonly kind: 'modified';
      readonly before: Entry;
      readonly after: Entry;
      readonly fields: readonly MetadataField[];
    }
  | {
      readonly kind: 'metadata';
      readonly before: Entry;
      readonly after: Entry;
      readonly fields: readonly MetadataField[];
    }
  /** A file became a link, or the like. What was or is in a directory follows as separate changes. */
  | { readonly kind: 'type'; readonly before: Entry; readonly after: Entry }
);

/** One side of a comparison. */
export interface DiffSide {
  readonly snapshot: Snapshot;
  /** An absolute source path; `/` for the whole snapshot. */
  readonly path: ByteString;
}

export interface DiffOptions {
  /** Report directories whose time alone differs, as it does whenever an entry is added or removed. */
  readonly directoryTimes: boolean;
}

/**
 * The changes between two snapshots in order of path, a directory before its content. Paths are those of the right side.
 * Trees with the same id are skipped without reading. Where the snapshots name their chunks by different keys (plain against
 * encrypted, or deduplication switched off) everything is read, and files with the same size and time count as the same.
 * @throws {RepositoryError} PATH_NOT_IN_SNAPSHOT when neither side has its path; CORRUPT_DATA, LIMIT_EXCEEDED
 */
export async function* diffSnapshots(
  trees: SnapshotTrees,
  left: DiffSide,
  right: DiffSide,
  options: DiffOptions,
  signal: AbortSignal,
): AsyncGenerator<Change, void, undefined> {
  const readers = { left: trees.reader(left.snapshot), right: trees.reader(right.snapshot) };
  const before = await lookUpPath(readers.left, left.snapshot, left.path, signal);
  const after = await lookUpPath(readers.right, right.snapshot, right.path, signal);
  if ('nearest' in before && 'nearest' in after)
    throw notInSnapshot(right.snapshot, right.path, after.nearest);
  const compare = new Comparison(readers, shareNamespace(left.snapshot, right.snapshot), options);
  yield* compare.run(
    'nearest' in before ? undefined : before,
    'nearest' in after ? undefined : after,
    signal,
  );
}

/** One side of a comparison: its top directory, and the limit on how many entries it may have. */
class Side {
  readonly #reader: TreeReader;
  readonly #top: Location | undefined;
  #budget: TreeBudget | undefined;

  constructor(reader: TreeReader, top: Location | undefined) {
    this.#reader = reader;
    this.#top = top;
  }

  /** A cursor for the top directory or one below it. */
  cursor(tree: Buffer, entry: Entry | undefined, signal: AbortSignal): DirectoryCursor {
    const totals = entry?.type === 'directory' ? entry.totals : undefined;
    const { tree: whole = tree, entry: top } = this.#top ?? {};
    const all = top?.type === 'directory' ? top.totals : undefined;
    const budget = (this.#budget ??= lateTreeBudget(this.#reader, whole, all, signal));
    return new DirectoryCursor(this.#reader, tree, { totals, budget });
  }
}

/** A directory being compared; one side may lack it. */
interface Level {
  readonly path: ByteString;
  readonly left: DirectoryCursor | undefined;
  readonly right: DirectoryCursor | undefined;
}

class Comparison {
  readonly #readers: { readonly left: TreeReader; readonly right: TreeReader };
  readonly #idsComparable: boolean;
  readonly #options: DiffOptions;
  readonly #open: Level[] = [];

  constructor(
    readers: { readonly left: TreeReader; readonly right: TreeReader },
    idsComparable: boolean,
    options: DiffOptions,
  ) {
    this.#readers = readers;
    this.#idsComparable = idsComparable;
    this.#options = options;
  }

  async *run(
    before: Location | undefined,
    after: Location | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<Change, void, undefined> {
    const path = after?.path ?? before?.path;
    if (path === undefined) return;
    // The root has no metadata. Compared with a directory, only the content of both is compared.
    const rootInvolved = [before, after].some((side) => side !== undefined && side.entry === undefined);
    const top = rootInvolved ? undefined : this.#compare(path, before?.entry, after?.entry);
    if (top !== undefined) yield top;
    const sides = { left: new Side(this.#readers.left, before), right: new Side(this.#readers.right, after) };
    this.#enter(sides, path, before, after, signal);
    for (let level = this.#open.at(-1); level !== undefined; level = this.#open.at(-1)) {
      signal.throwIfAborted();
      const pair = await nextPair(level, this.#idsComparable, signal);
      if (pair === undefined) {
        this.#open.pop();
        continue;
      }
      const entryPath = joinBytes(level.path, pair.name);
      const change = this.#compare(entryPath, pair.before, pair.after);
      if (change !== undefined) yield change;
      this.#enter(sides, entryPath, placeOf(pair.before), placeOf(pair.after), signal);
    }
  }

  #compare(path: ByteString, before: Entry | undefined, after: Entry | undefined): Change | undefined {
    if (before === undefined) return after === undefined ? undefined : { kind: 'added', path, after };
    if (after === undefined) return { kind: 'removed', path, before };
    if (before.type !== after.type) return { kind: 'type', path, before, after };
    const fields = metadataDifferences(before, after);
    if (contentDiffers(before, after, this.#idsComparable))
      return { kind: 'modified', path, before, after, fields };
    if (fields.length === 0) return undefined;
    const onlyTime = fields.length === 1 && fields[0] === 'mtime';
    if (onlyTime && after.type === 'directory' && !this.#options.directoryTimes) return undefined;
    return { kind: 'metadata', path, before, after, fields };
  }

  /** Makes a directory the next to be compared, unless it is the same on both sides. */
  #enter(
    { left, right }: { readonly left: Side; readonly right: Side },
    path: ByteString,
    before: Place | undefined,
    after: Place | undefined,
    signal: AbortSignal,
  ): void {
    const [old, now] = [before?.tree, after?.tree];
    if (old === undefined && now === undefined) return;
    if (old !== undefined && now !== undefined && this.#idsComparable && old.equals(now)) return;
    if (this.#open.length >= MAX_DEPTH) throw tooDeep(now ?? old ?? Buffer.alloc(0));
    this.#open.push({
      path,
      left: old === undefined ? undefined : left.cursor(old, before?.entry, signal),
      right: now === undefined ? undefined : right.cursor(now, after?.entry, signal),
    });
  }
}

type Place = Pick<Location, 'entry' | 'tree'>;

function placeOf(entry: Entry | undefined): Place | undefined {
  return entry?.type === 'directory' ? { entry, tree: entry.id } : undefined;
}

interface Pair {
  readonly name: ByteString;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
}

/**
 * The next name of a directory with its entries on both sides. Parts of split directories that are the same on both
 * sides are skipped, and none is read before its turn.
 */
async function nextPair(
  level: Level,
  idsComparable: boolean,
  signal: AbortSignal,
): Promise<Pair | undefined> {
  const { left, right } = level;
  for (;;) {
    const [leftName, rightName] = [nameAt(left), nameAt(right)];
    if (leftName === undefined && rightName === undefined) return undefined;
    const onLeft = rightName === undefined || (leftName !== undefined && leftName <= rightName);
    const onRight = leftName === undefined || (rightName !== undefined && rightName <= leftName);
    const [leftPart, rightPart] = [onLeft ? left?.part : undefined, onRight ? right?.part : undefined];
    if (
      idsComparable &&
      leftPart !== undefined &&
      rightPart !== undefined &&
      leftPart.id.equals(rightPart.id)
    ) {
      left?.skip();
      right?.skip();
    } else if (leftPart !== undefined || rightPart !== undefined) {
      if (leftPart !== undefined) await left?.read(signal);
      if (rightPart !== undefined) await right?.read(signal);
    } else {
      const before = onLeft ? left?.entry : undefined;
      const after = onRight ? right?.entry : undefined;
      const name = before?.name ?? after?.name;
      if (name === undefined) return undefined;
      if (before !== undefined) left?.skip();
      if (after !== undefined) right?.skip();
      return { name, before, after };
    }
  }
}

/** The name at the cursor, or the lowest name possible in the unread part before it; undefined at the end. */
function nameAt(cursor: DirectoryCursor | undefined): ByteString | undefined {
  return cursor?.entry?.name ?? cursor?.part?.firstName;
}

/** Entries and bytes of regular files. */
export interface DiffCount {
  readonly files: number;
  readonly directories: number;
  readonly others: number;
  readonly bytes: number;
}

export interface DiffTotals {
  readonly added: DiffCount;
  readonly removed: DiffCount;
  /** Files, links and devices with other content; `bytes` are those of the new content. */
  readonly modified: DiffCount;
  /** Entries whose metadata alone differs; no bytes. */
  readonly metadata: DiffCount;
  /** Such entries are also counted under `removed` as what they were, and under `added` as what they are. */
  readonly typeChanged: number;
}

const nothing: DiffCount = { files: 0, directories: 0, others: 0, bytes: 0 };

export const NO_CHANGES: DiffTotals = {
  added: nothing,
  removed: nothing,
  modified: nothing,
  metadata: nothing,
  typeChanged: 0,
};

/** The totals with one more change. */
export function countChange(totals: DiffTotals, change: Change): DiffTotals {
  switch (change.kind) {
    case 'added':
      return { ...totals, added: plus(totals.added, change.after) };
    case 'removed':
      return { ...totals, removed: plus(totals.removed, change.before) };
    case 'modified':
      return { ...totals, modified: plus(totals.modified, change.after) };
    case 'metadata':
      return { ...totals, metadata: { ...plus(totals.metadata, change.after), bytes: 0 } };
    case 'type':
      return {
        ...totals,
        added: plus(totals.added, change.after),
        removed: plus(totals.removed, change.before),
        typeChanged: totals.typeChanged + 1,
      };
  }
}

function plus(count: DiffCount, entry: Entry): DiffCount {
  if (entry.type === 'file') return { ...count, files: count.files + 1, bytes: count.bytes + entry.size };
  if (entry.type === 'directory') return { ...count, directories: count.directories + 1 };
  return { ...count, others: count.others + 1 };
}
