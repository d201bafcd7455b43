/** Arranges snapshots in folders: one for each source and key that stored it, and in it one for each time. */
import { asByteString, bytesOfText, type ByteString } from '../../base/byte-path.ts';
import { isFull, storeKey } from '../../base/stored-by.ts';
import type { SnapshotSummary } from '../../jobs/agent.ts';
import { sourceFolderName, timeNames } from './folder-names.ts';

/** Characters of a snapshot id that are enough for people to tell snapshots apart. */
const SHORT_ID = 8;

export interface SnapshotFolder {
  readonly name: ByteString;
  /** Ids of the snapshot and of its copies in other destinations, in the order in which to try them. */
  readonly ids: readonly string[];
  /** The same for all copies of the snapshot, and unique to it. */
  readonly key: string;
  readonly paths: readonly ByteString[];
  /** Milliseconds since 1970. */
  readonly madeMs: number;
}

export interface SourceFolder {
  readonly name: ByteString;
  /** The newest first, by time. */
  readonly snapshots: readonly SnapshotFolder[];
  /** The snapshot that was made last; not the one with the latest time if a clock was wrong. */
  readonly latest: SnapshotFolder;
}

export interface FolderNaming {
  /** The name of this host, which is omitted from the folder names of its own sources. */
  readonly host: string;
  /** Time zone of the folder names; null for that of the machine. */
  readonly timeZone: string | null;
}

/** @param summaries newest first; among those with equal times, in the order in which to try their destinations */
export function sourceFolders(
  summaries: readonly SnapshotSummary[],
  { host, timeZone }: FolderNaming,
): readonly SourceFolder[] {
  const timeName = timeNames(timeZone);
  const bySource = Map.groupBy(summaries, (one) =>
    JSON.stringify([storeKey(one.stored_by), one.host, ...one.paths.toSorted()]),
  );
  return [...bySource].flatMap(([source, ofSource]) => {
    const [first] = ofSource;
    if (first === undefined) return [];
    const paths = first.paths.map(asByteString).toSorted();
    const isOwn = first.host === host && isFull(first.stored_by);
    const name = sourceFolderName(paths, isOwn ? undefined : first.host, first.stored_by);
    const snapshots = snapshotFolders(source, paths, ofSource, timeName);
    const { id: last } = lastMade(ofSource);
    const latest = snapshots.find(({ ids }) => ids.includes(last));
    return latest === undefined ? [] : [{ name: bytesOfText(name), snapshots, latest }];
  });
}

/**
 * The snapshot made last: within a destination by rank, which does not depend on clocks, and between destinations by
 * time.
 */
function lastMade(summaries: readonly SnapshotSummary[]): SnapshotSummary {
  const ofEach = [...Map.groupBy(summaries, ({ destination }) => destination).values()];
  return ofEach
    .map((list) => list.reduce((last, one) => (one.rank > last.rank ? one : last)))
    .reduce((last, one) => (one.created_at > last.created_at ? one : last));
}

function snapshotFolders(
  source: string,
  paths: readonly ByteString[],
  summaries: readonly SnapshotSummary[],
  timeName: (ms: number) => string,
): readonly SnapshotFolder[] {
  // Copies in other destinations have the same time and counts.
  const copies = Map.groupBy(summaries, (one) => [one.created_at, one.files, one.size_bytes].join(' '));
  const folders = [...copies].flatMap(([facts, [first, ...others]]) => {
    if (first === undefined) return [];
    const ids = [first, ...others].map(({ id }) => id);
    const key = `${source} ${facts}`;
    return [{ id: first.id, time: timeName(first.created_at), ids, key, paths, madeMs: first.created_at }];
  });
  const ofTime = Map.groupBy(folders, ({ time }) => time);
  return folders.map(({ id, time, ...folder }) => {
    const isAlone = ofTime.get(time)?.length === 1;
    return { ...folder, name: bytesOfText(isAlone ? time : `${time}_${id.slice(0, SHORT_ID)}`) };
  });
}
