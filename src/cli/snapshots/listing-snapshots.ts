/** Snapshots as they are listed: a table, and objects for `--json`. */
import { type ByteString, isUtf8, textOfBytes } from '../../base/byte-path.ts';
import { FULL_KEYS, isFull, type StoredBy, storedByText } from '../../base/stored-by.ts';
import { NARROWED_TAG, isJobTag } from '../../base/job-tag.ts';
import { formatBytes } from '../../base/units.ts';
import { omissionText } from '../../format/omission.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import { type Look, pathFields } from './listing.ts';
import { type Cell, type Column, renderTable } from '../terminal/table.ts';
import { count, shortId, storedByObject, timeText } from '../terminal/wording.ts';
import { printable, printablePath } from '../terminal/terminal.ts';

const COLUMNS: readonly Column[] = [
  { title: 'ID', cut: 'never' },
  { title: 'Time', cut: 'never' },
  { title: 'Host' },
  { title: 'Tags' },
  { title: 'Paths', cut: 'middle' },
  { title: 'Files' },
  { title: 'Size', align: 'right', cut: 'never' },
  { title: 'Status' },
];

/** The column that most lists do without. */
const TAGS = COLUMNS.findIndex(({ title }) => title === 'Tags');

/** A row for each, in the order given. */
export function snapshotsTable(snapshots: readonly Snapshot[], { styles, width }: Look): string {
  const rows = snapshots.map((snapshot): readonly Cell[] => rowOf(snapshot, styles));
  // On a terminal of 80 columns an empty one takes its place from the paths.
  const isTagged = rows.some((row) => row[TAGS] !== '');
  const shown = <Part>(parts: readonly Part[]): readonly Part[] =>
    isTagged ? parts : parts.filter((_, index) => index !== TAGS);
  return renderTable(shown(COLUMNS), rows.map(shown), { width, titleStyle: styles.bold });
}

/** Without those that only name the job, which `--json` has. */
export function shownTags(tags: readonly string[]): string {
  return tags.filter((tag) => tag === NARROWED_TAG || !isJobTag(tag)).join(', ');
}

function rowOf(snapshot: Snapshot, styles: Look['styles']): readonly Cell[] {
  const { id, record, storedBy } = snapshot;
  return [
    { text: shortId(id), style: styles.bold },
    timeText(snapshot),
    record.host,
    shownTags(record.tags),
    record.paths.map(printablePath).join(', '),
    record.counts.files,
    formatBytes(record.counts.bytes),
    { text: statusText(record, storedBy), style: record.status === 'complete' ? styles.dim : styles.yellow },
  ];
}

/**
 * `complete`, or `partial (3 files)`; and what else is special.
 * @param storedBy shown if it is a write-only key
 */
export function statusText(record: Snapshot['record'], storedBy: StoredBy = FULL_KEYS): string {
  const problems = record.errors.length + record.errorsMore;
  const words: string[] = [
    record.status === 'complete' || problems === 0 ? record.status : `partial (${count(problems, 'file')})`,
  ];
  if (record.pinned) words.push('pinned');
  if (record.plain) words.push('not encrypted');
  if (!isFull(storedBy)) words.push(printable(storedByText(storedBy)));
  return words.join(', ');
}

export interface SnapshotObjectOptions {
  /** Name every entry that could not be read, not only how many there are. */
  readonly errors: boolean;
}

export function snapshotObject(snapshot: Snapshot, options: SnapshotObjectOptions): object {
  const { id, record, chain, storedBy, storedMs } = snapshot;
  const { counts } = record;
  return {
    id,
    short_id: shortId(id),
    started_at: new Date(record.startedMs).toISOString(),
    finished_at: new Date(record.finishedMs).toISOString(),
    host: record.host,
    user: record.user,
    tool: record.tool,
    kind: record.kind,
    ...pathLists(record.paths),
    tags: record.tags,
    pinned: record.pinned,
    status: record.status,
    encrypted: !record.plain,
    deduplicated: record.salt === undefined || !isFull(storedBy),
    files_total: counts.files,
    files_new: counts.new,
    files_changed: counts.changed,
    files_unchanged: counts.unchanged,
    files_failed: counts.failed,
    directories_total: counts.directories,
    links_total: counts.links,
    others_total: counts.others,
    bytes_total: counts.bytes,
    errors_total: record.errors.length + record.errorsMore,
    ...(options.errors
      ? { errors: record.errors.map(({ path, code, message }) => ({ ...pathFields(path), code, message })) }
      : {}),
    omitted: record.omitted.map(omissionText),
    ...(record.parent === undefined ? {} : { parent_id: record.parent }),
    ...(record.original === undefined ? {} : { original_id: record.original }),
    stored_by: storedByObject(storedBy),
    ...(isFull(storedBy)
      ? {}
      : {
          write_only_key: storedBy.number,
          stored_at: storedMs === undefined ? null : new Date(storedMs).toISOString(),
        }),
    writer: chain.writer,
    sequence: chain.seq,
  };
}

/** If one path is not UTF-8, all paths are also given in base64, so that the two lists correspond. */
function pathLists(paths: readonly ByteString[]): object {
  const texts = { paths: paths.map(textOfBytes) };
  if (paths.every(isUtf8)) return texts;
  return { ...texts, paths_b64: paths.map((path) => Buffer.from(path, 'latin1').toString('base64')) };
}
