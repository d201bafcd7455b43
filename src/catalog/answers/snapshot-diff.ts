/** Lists what differs between two snapshots, in order of the paths, with each directory before what is in it. */
import { type ByteString, pathNames } from '../../base/byte-path.ts';
import type { ChangePage, SnapshotChange } from '../../jobs/agent.ts';
import { decodeCursor, encodeCursor, invalid } from './list-order.ts';
import { sameContent } from '../tables/entry-row.ts';
import { type Hit, type HitQueries, inBatches } from './hits.ts';
import {
  type KnownSnapshot,
  requireComplete,
  requireSnapshot,
  shownPath,
  snapshotBefore,
} from './known-snapshots.ts';
import type { ListSource } from './list-search.ts';
import { idsComparable } from './path-versions.ts';
import { NODE_TYPE } from '../tables/schema.ts';
import { childNamed, nameOf } from './tree-walk.ts';
import type { UnreadDirectories } from './unread-directories.ts';

type ChangeKind = SnapshotChange['change'];
type Children = Generator<Hit, undefined, undefined>;

interface Level {
  readonly path: ByteString;
  readonly left: Children;
  readonly right: Children;
  /** The next entry of each side. */
  readonly heads: { left: Hit | undefined; right: Hit | undefined };
}

const LIST = 'diff';

/**
 * @param base undefined: the previous snapshot of the same host and sources; when there is none, everything was added
 * @throws {RequestError} SNAPSHOT_NOT_FOUND, INVALID_CURSOR, SERVICE_UNAVAILABLE
 */
export function diffPage(
  source: Pick<ListSource, 'epoch' | 'queries' | 'snapshots' | 'unread'>,
  id: string,
  base: string | undefined,
  limit: number,
  after: string | undefined,
): ChangePage {
  const { epoch, snapshots } = source;
  const right = requireComplete(requireSnapshot(snapshots, id));
  const cursor = after === undefined ? undefined : decodeCursor(after, epoch, LIST);
  const left =
    cursor === undefined
      ? base === undefined
        ? snapshotBefore(snapshots, right)
        : requireComplete(requireSnapshot(snapshots, base))
      : pinnedBase(snapshots, cursor.ordinals, right);
  const start = cursor === undefined ? [] : pathNames(String(cursor.key) as ByteString);
  const items: SnapshotChange[] = [];
  const unreadable = right.unreadable + (left?.unreadable ?? 0);
  let last = '' as ByteString;
  for (const { path, change } of new Comparison(source, left, right).run(start)) {
    if (items.length === limit) {
      const ordinals = [left?.ordinal ?? 0, right.ordinal];
      return { items, unreadable, next: encodeCursor({ epoch, list: LIST, ordinals, key: last, tie: 0 }) };
    }
    items.push(change);
    last = path;
  }
  return { items, unreadable, next: null };
}

function pinnedBase(
  snapshots: readonly KnownSnapshot[],
  [left, right]: readonly number[],
  wanted: KnownSnapshot,
): KnownSnapshot | undefined {
  if (right !== wanted.ordinal) throw invalid('it belongs to another list');
  if (left === 0) return undefined;
  const found = snapshots.find(({ ordinal }) => ordinal === left);
  if (found === undefined) throw invalid('a snapshot in it has been removed since');
  return found;
}

class Comparison {
  readonly #queries: HitQueries;
  readonly #unread: UnreadDirectories;
  readonly #left: KnownSnapshot | undefined;
  readonly #right: KnownSnapshot;
  readonly #comparable: boolean;
  readonly #open: Level[] = [];

  constructor(
    { queries, unread }: Pick<ListSource, 'queries' | 'unread'>,
    left: KnownSnapshot | undefined,
    right: KnownSnapshot,
  ) {
    this.#queries = queries;
    this.#unread = unread;
    this.#left = left;
    this.#right = right;
    this.#comparable = left !== undefined && idsComparable(left, right);
  }

  /**
   * @param start nested names from the root down. The comparison continues after the entry that the last one names,
   * beginning with what is in it
   */
  *run(
    start: readonly ByteString[],
  ): Generator<{ readonly path: ByteString; readonly change: SnapshotChange }, undefined, undefined> {
    this.#begin(start);
    for (let level = this.#open.at(-1); level !== undefined; level = this.#open.at(-1)) {
      const pair = nextPair(level);
      if (pair === undefined) {
        this.#open.pop();
        continue;
      }
      const path = `${level.path === '/' ? '' : level.path}/${pair.name}` as ByteString;
      const kind = this.#compare(pair.left, pair.right);
      if (kind !== undefined) yield { path, change: changeOf(path, kind, pair.left, pair.right) };
      this.#enterBoth(path, pair.left, pair.right);
    }
    return undefined;
  }

  #begin(start: readonly ByteString[]): void {
    let path = '/' as ByteString;
    let left = this.#left?.root;
    let right: number | undefined = this.#right.root;
    if (start.length === 0) this.#enter(path, left, right, '' as ByteString);
    for (const [depth, name] of start.entries()) {
      this.#enter(path, left, right, name);
      path = `${path === '/' ? '' : path}/${name}` as ByteString;
      const before = this.#childIn(this.#left, left, name);
      const after = this.#childIn(this.#right, right, name);
      left = directoryNode(before);
      right = directoryNode(after);
      if (left === undefined && right === undefined) return;
      if (depth === start.length - 1) this.#enterBoth(path, before, after);
    }
  }

  #childIn(
    snapshot: KnownSnapshot | undefined,
    directory: number | undefined,
    name: ByteString,
  ): Hit | undefined {
    if (snapshot === undefined || directory === undefined) return undefined;
    return childNamed(this.#queries, snapshot.ordinal, directory, name);
  }

  #enterBoth(path: ByteString, before: Hit | undefined, after: Hit | undefined): void {
    const [left, right] = [directoryNode(before), directoryNode(after)];
    if (left === undefined && right === undefined) return;
    if (before !== undefined && after !== undefined && this.#isSameTree(before, after)) return;
    this.#enter(path, left, right, '' as ByteString);
  }

  /** Whether all below is the same. Also true for directories of different lineages whose trees are the same. */
  #isSameTree(before: Hit, after: Hit): boolean {
    if (before.node === after.node && before.since === after.since) return true;
    if (before.type !== NODE_TYPE.directory || after.type !== NODE_TYPE.directory) return false;
    return this.#comparable && before.content !== null && before.content === after.content;
  }

  #enter(path: ByteString, left: number | undefined, right: number | undefined, name: ByteString): void {
    // If one side could not be read, everything on the other side would be taken for removed or added.
    const sides = [this.#left, this.#right];
    if (sides.some((side) => side !== undefined && this.#unread.has(side, path))) return;
    const level = {
      path,
      left: this.#changed(this.#left, left, this.#right, name),
      right: this.#changed(this.#right, right, this.#left, name),
    };
    this.#open.push({ ...level, heads: { left: level.left.next().value, right: level.right.next().value } });
  }

  /** The children of a directory after a name, except those with the same version in the other snapshot. */
  #changed(
    snapshot: KnownSnapshot | undefined,
    directory: number | undefined,
    other: KnownSnapshot | undefined,
    name: ByteString,
  ): Children {
    if (snapshot === undefined || directory === undefined) return none();
    const { ordinal } = snapshot;
    // Snapshots of different lineages share no versions.
    const not = other?.ordinal ?? -1;
    const first = Buffer.from(name, 'latin1');
    return inBatches((last, limit) =>
      this.#queries.changedChildren.all(ordinal, ordinal, not, not, directory, last?.name ?? first, limit),
    );
  }

  #compare(before: Hit | undefined, after: Hit | undefined): ChangeKind | undefined {
    if (before === undefined) return after === undefined ? undefined : 'added';
    if (after === undefined) return 'removed';
    if (before.kind !== after.kind) return 'type_changed';
    const isDirectory = after.type === NODE_TYPE.directory;
    if (!isDirectory && !sameContent(before, after, this.#comparable)) return 'modified';
    if (before.mode !== after.mode || before.attributes !== after.attributes) return 'metadata';
    const sameTime = before.modified === after.modified && before.finer === after.finer;
    // The time of a directory changes whenever an entry comes or goes.
    return sameTime || isDirectory ? undefined : 'metadata';
  }
}

function changeOf(
  path: ByteString,
  change: ChangeKind,
  before: Hit | undefined,
  after: Hit | undefined,
): SnapshotChange {
  return {
    ...shownPath(path),
    change,
    size_before: before === undefined ? null : before.size,
    size_after: after === undefined ? null : after.size,
  };
}

function directoryNode(hit: Hit | undefined): number | undefined {
  return hit?.type === NODE_TYPE.directory ? hit.node : undefined;
}

function nextPair(
  level: Level,
):
  | { readonly name: ByteString; readonly left: Hit | undefined; readonly right: Hit | undefined }
  | undefined {
  const { heads } = level;
  const leftName = heads.left === undefined ? undefined : nameOf(heads.left);
  const rightName = heads.right === undefined ? undefined : nameOf(heads.right);
  const name =
    leftName === undefined || (rightName !== undefined && rightName < leftName) ? rightName : leftName;
  if (name === undefined) return undefined;
  const left = leftName === name ? heads.left : undefined;
  const right = rightName === name ? heads.right : undefined;
  if (left !== undefined) heads.left = level.left.next().value;
  if (right !== undefined) heads.right = level.right.next().value;
  return { name, left, right };
}

/** The children of a side that does not have the directory. */
function* none(): Children {
  yield* [];
  return undefined;
}
