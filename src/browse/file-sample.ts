/** Picks files of snapshots at random, each with the same probability. */
import { asByteString, joinBytes, type ByteString } from '../base/byte-path.ts';
import { FULL_KEYS, storeKey } from '../base/stored-by.ts';
import type { SnapshotTrees } from './snapshot-trees.ts';
import type { FileEntry } from '../format/tree.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import type { TreeReader } from '../repository/contents/tree-reader.ts';

export interface PickedFile {
  readonly path: ByteString;
  readonly entry: FileEntry;
}

export interface PickedFiles {
  readonly snapshot: Snapshot;
  readonly files: readonly PickedFile[];
}

/**
 * The newest snapshot of every host and set of sources, grouped by who stored them; full keys come first. Each group is
 * to be sampled separately: a write-only key can claim any number of files, and would otherwise attract the whole sample.
 */
export function newestOfEachSource(live: readonly Snapshot[]): readonly (readonly Snapshot[])[] {
  const newest = new Map<string, Map<string, Snapshot>>([[storeKey(FULL_KEYS), new Map()]]);
  for (const snapshot of live) {
    const key = storeKey(snapshot.storedBy);
    const ofGroup = newest.get(key) ?? new Map<string, Snapshot>();
    newest.set(key, ofGroup);
    const { host, paths } = snapshot.record;
    ofGroup.set(JSON.stringify([host, paths.toSorted()]), snapshot);
  }
  return [...newest.values()].map((ofGroup) => [...ofGroup.values()]).filter((group) => group.length > 0);
}

/**
 * Picks `count` regular files, or all when there are fewer. Directories know how many files are below them, so only
 * those on the way to a picked file are read.
 * @param below returns a random whole number from 0 to below its argument, uniformly distributed
 */
export async function pickFiles(
  trees: SnapshotTrees,
  snapshots: readonly Snapshot[],
  count: number,
  below: (limit: number) => number,
  signal: AbortSignal,
): Promise<readonly PickedFiles[]> {
  const total = snapshots.reduce((sum, { record }) => sum + record.counts.files, 0);
  const numbers = distinctNumbers(total, count, below);
  const picked: PickedFiles[] = [];
  let before = 0;
  for (const snapshot of snapshots) {
    const { root, counts } = snapshot.record;
    const first = before;
    const wanted = numbers.filter((n) => n >= first && n < first + counts.files).map((n) => n - first);
    before += counts.files;
    if (wanted.length === 0) continue;
    const files: PickedFile[] = [];
    const reader = trees.reader(snapshot);
    for await (const file of filesAt(reader, asByteString('/'), root, wanted, signal)) files.push(file);
    picked.push({ snapshot, files });
  }
  return picked;
}

/** Draws distinct numbers, in ascending order, by Floyd's algorithm: it draws only once per number. */
function distinctNumbers(total: number, count: number, below: (limit: number) => number): readonly number[] {
  const chosen = new Set<number>();
  for (let last = Math.max(0, total - Math.max(0, count)); last < total; last += 1) {
    const drawn = below(last + 1);
    chosen.add(chosen.has(drawn) ? last : drawn);
  }
  return [...chosen].sort((a, b) => a - b);
}

/** The files with these numbers, counted in the order of the tree. */
async function* filesAt(
  reader: TreeReader,
  path: ByteString,
  tree: Buffer,
  wanted: readonly number[],
  signal: AbortSignal,
): AsyncGenerator<PickedFile, void, undefined> {
  let before = 0;
  let next = 0;
  for await (const leaf of reader.leaves(tree, signal)) {
    for (const entry of leaf) {
      const files = entry.type === 'file' ? 1 : entry.type === 'directory' ? entry.totals.files : 0;
      const here: number[] = [];
      for (let n = wanted[next]; n !== undefined && n < before + files; n = wanted[next]) {
        here.push(n - before);
        next += 1;
      }
      before += files;
      if (here.length === 0) continue;
      const entryPath = joinBytes(path, entry.name);
      if (entry.type === 'file') yield { path: entryPath, entry };
      else if (entry.type === 'directory') yield* filesAt(reader, entryPath, entry.id, here, signal);
      if (next === wanted.length) return;
    }
  }
}
