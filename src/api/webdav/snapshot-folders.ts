/** Which folders there are for the snapshots: one for each source by each who stored it, and in it one for each time. */
import { asByteString, bytesOfText, type ByteString } from '../../base/byte-path.ts';
import { isFull, storeKey } from '../../base/stored-by.ts';
import type { SnapshotSummary } from '../../jobs/agent.ts';
import { sourceFolderName, timeNames } from './folder-names.ts';

/** Letters of an id by which people tell snapshots apart. */
const SHORT_ID = 8;

export interface SnapshotFolder {
  readonly name: ByteString;
  /** Of the snapshot and its copies in other destinations, in the order in which they are to be asked. */
  readonly ids: readonly string[];
  /** The same for all copies, and for no other snapshot. */
  readonly key: string;
  readonly paths: readonly ByteString[];
  /** Milliseconds since 1970. */
  readonly madeMs: number;
}

export interface SourceFolder {
  readonly name: ByteString;
  /** In order of their times, the newest first. */
  readonly snapshots: readonly SnapshotFolder[];
  /** The one that was made last: not that with the latest time where a clock was wrong. */
  readonly latest: SnapshotFolder;
}

export interface FolderNaming {
  /** Sources of this host are named without it. */
  readonly host: string;
  /** Null: that of the machine. */
  readonly timeZone: string | null;
}

/** @param summaries newest first; of one time, that of the destination which is to be asked first */
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

/** In one destination by rank, whatever the clocks said; between destinations by time. */
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
  // Copies in other destinations keep times and counts.
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
