import { type ByteString, pathNames, pathOf } from '../base/byte-path.ts';
import { RequestError } from '../base/errors.ts';
import { holdfastThere } from '../base/holdfast-command.ts';
import { storeKey } from '../base/stored-by.ts';
import type { EntryProblem } from '../format/records.ts';
import type { Entry } from '../format/tree.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import type { TreeReader } from '../repository/contents/tree-reader.ts';
import { contentDiffers } from './entries.ts';
import { pathIn } from '../base/source-names.ts';
import { childOf, type Location, rootOf } from './locate.ts';
import { isDamage, shareNamespace, type SnapshotTrees } from './snapshot-trees.ts';

/** The state of a path in one snapshot. */
export type PathState =
  | { readonly state: 'present'; readonly entry: Entry }
  /** The snapshot covers the place, but does not contain the path: not created yet, deleted, or excluded. */
  | { readonly state: 'absent' }
  /** The path, or a directory above it, existed but could not be read during the backup. */
  | { readonly state: 'failed'; readonly problem: EntryProblem }
  /** The snapshot's tree is damaged on the way to the path. */
  | { readonly state: 'unreadable'; readonly error: Error };

/**
 * Consecutive snapshots of one host, stored with full keys or with the same write-only key, in which the path has the
 * same state.
 */
export type PathVersion = PathState & {
  readonly path: ByteString;
  /** The oldest and the newest of these snapshots. */
  readonly first: Snapshot;
  readonly last: Snapshot;
  readonly snapshots: number;
};

export type VersionOrder = 'oldest-first' | 'newest-first';

/**
 * The versions of one path. Consecutive snapshots with the same content, size, time and mode are one version. Snapshots
 * whose sources do not include the path, or that do not list every error, are passed over. With several hosts the
 * versions of each are in order.
 * @param snapshots oldest first
 * @param leadsTo where the path leads on this machine, for snapshots that did not record how their sources were named
 * @throws {RequestError} INVALID_PATH for the root, which is in every snapshot
 */
export async function* pathVersions(
  trees: SnapshotTrees,
  snapshots: readonly Snapshot[],
  path: ByteString,
  order: VersionOrder,
  signal: AbortSignal,
  leadsTo: readonly ByteString[] = [],
): AsyncGenerator<PathVersion, void, undefined> {
  const names = pathNames(path);
  if (names.length === 0) {
    throw new RequestError('INVALID_PATH', 'The root directory has no versions of its own', {
      hint: `Name a file or directory below it. To list the snapshots themselves, run: ${holdfastThere`snapshots`}`,
    });
  }
  const open = new Map<string, Open>();
  const walkers = new Walkers(pathOf(names), leadsTo);
  for (const snapshot of order === 'oldest-first' ? snapshots : snapshots.toReversed()) {
    signal.throwIfAborted();
    const [wanted, walker] = walkers.in(snapshot);
    const state = await stateIn(snapshot, wanted, walker, trees.reader(snapshot), signal);
    if (state === undefined) continue;
    const origin = JSON.stringify([storeKey(snapshot.storedBy), snapshot.record.host]);
    const seen = { state, snapshot };
    const current = open.get(origin);
    if (current === undefined || !isSame(current, seen)) {
      if (current !== undefined) yield current.version;
      const version = { ...state, path: wanted, first: snapshot, last: snapshot, snapshots: 1 };
      open.set(origin, withSeen(version, undefined, seen));
    } else {
      open.set(origin, withSeen(extended(current.version, snapshot, order), current, seen));
    }
  }
  for (const { version } of open.values()) yield version;
}

/** The newest of the snapshots that has the path. Snapshots in which it cannot be read are passed over. */
export async function newestWith(
  trees: SnapshotTrees,
  snapshots: readonly Snapshot[],
  path: ByteString,
  signal: AbortSignal,
): Promise<Snapshot | undefined> {
  const walkers = new Walkers(pathOf(pathNames(path)), []);
  for (const snapshot of snapshots.toReversed()) {
    signal.throwIfAborted();
    const [wanted, walker] = walkers.in(snapshot);
    const state = await stateIn(snapshot, wanted, walker, trees.reader(snapshot), signal);
    if (state?.state === 'present') return snapshot;
  }
  return undefined;
}

/**
 * The walkers of a path. A link on the way may have led elsewhere in some snapshots, so that the path there is another;
 * usually there is only one.
 */
class Walkers {
  readonly #asked: ByteString;
  readonly #leadsTo: readonly ByteString[];
  readonly #walkers = new Map<ByteString, TrailWalker>();

  constructor(asked: ByteString, leadsTo: readonly ByteString[]) {
    this.#asked = asked;
    this.#leadsTo = leadsTo;
  }

  in({ record }: Snapshot): readonly [ByteString, TrailWalker] {
    const path = pathIn(record, this.#asked, this.#leadsTo);
    const walker = this.#walkers.get(path) ?? new TrailWalker(pathNames(path));
    this.#walkers.set(path, walker);
    return [path, walker];
  }
}

interface Seen {
  readonly state: PathState;
  readonly snapshot: Snapshot;
}

/** A version that the next snapshot may extend. */
interface Open {
  readonly version: PathVersion;
  /** Where it was last seen. */
  readonly nearest: Seen;
  /** The last such snapshot that shares chunks with others; undefined when there is none. */
  readonly shared: Seen | undefined;
}

function withSeen(version: PathVersion, before: Open | undefined, seen: Seen): Open {
  const isShared = seen.snapshot.record.salt === undefined;
  return { version, nearest: seen, shared: isShared ? seen : before?.shared };
}

/** Compares with the last snapshot that names its chunks by the same key, if there is one, so that ids are comparable. */
function isSame({ nearest, shared }: Open, seen: Seen): boolean {
  const isShared = shared !== undefined && shareNamespace(shared.snapshot, seen.snapshot);
  const before = isShared ? shared : nearest;
  return sameState(before.state, seen.state, shareNamespace(before.snapshot, seen.snapshot));
}

function extended(version: PathVersion, snapshot: Snapshot, order: VersionOrder): PathVersion {
  const end = order === 'oldest-first' ? { last: snapshot } : { first: snapshot };
  return { ...version, ...end, snapshots: version.snapshots + 1 };
}

async function stateIn(
  snapshot: Snapshot,
  path: ByteString,
  walker: TrailWalker,
  reader: TreeReader,
  signal: AbortSignal,
): Promise<PathState | undefined> {
  try {
    const found = await walker.walk(reader, snapshot, signal);
    if (found?.entry !== undefined) return { state: 'present', entry: found.entry };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { state: 'unreadable', error };
  }
  const problem = snapshot.record.errors.find((one) => isAtOrBelow(path, pathOf(pathNames(one.path))));
  if (problem !== undefined) return { state: 'failed', problem };
  // The path may be among the errors that were too many to be listed.
  if (snapshot.record.errorsMore > 0) return undefined;
  return covers(snapshot, path) ? { state: 'absent' } : undefined;
}

/** Whether a snapshot's sources cover a path: it is a source, lies below one, or leads to one. */
function covers(snapshot: Snapshot, path: ByteString): boolean {
  return snapshot.record.paths.some((written) => {
    const source = pathOf(pathNames(written));
    return isAtOrBelow(path, source) || isAtOrBelow(source, path);
  });
}

function isAtOrBelow(path: ByteString, directory: ByteString): boolean {
  return directory === '/' || path === directory || path.startsWith(`${directory}/`);
}

function sameState(a: PathState, b: PathState, idsComparable: boolean): boolean {
  if (a.state === 'present' && b.state === 'present') return sameVersion(a.entry, b.entry, idsComparable);
  if (a.state === 'failed' && b.state === 'failed') return a.problem.code === b.problem.code;
  return a.state === b.state;
}

function sameVersion(a: Entry, b: Entry, idsComparable: boolean): boolean {
  if (a.mode !== b.mode || a.mtimeNs !== b.mtimeNs || contentDiffers(a, b, idsComparable)) return false;
  return a.type !== 'directory' || b.type !== 'directory' || !idsComparable || a.id.equals(b.id);
}

/**
 * Follows one path through snapshot after snapshot. Once it reaches a directory that it found at the same place in the
 * previous snapshot, the rest of the way is known.
 */
class TrailWalker {
  readonly #names: readonly ByteString[];
  /** The trees gone through in the last snapshot; index 0 is the root. */
  #trail: readonly Buffer[] = [];
  #end: Location | undefined;

  constructor(names: readonly ByteString[]) {
    this.#names = names;
  }

  async walk(reader: TreeReader, snapshot: Snapshot, signal: AbortSignal): Promise<Location | undefined> {
    const trail: Buffer[] = [];
    let at: Location | undefined = rootOf(snapshot);
    for (const [depth, name] of this.#names.entries()) {
      if (at?.tree === undefined) {
        at = undefined;
        break;
      }
      if (this.#trail[depth]?.equals(at.tree) === true) {
        this.#trail = [...trail, ...this.#trail.slice(depth)];
        return this.#end;
      }
      trail.push(at.tree);
      at = await childOf(reader, at, name, signal);
    }
    this.#trail = trail;
    this.#end = at;
    return at;
  }
}
