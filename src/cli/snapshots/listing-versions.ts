/** Versions of paths as they are listed, found by name or for one path: tables, and objects for `--json`. */
import { hostname } from 'node:os';
import { statPath } from '../../archiver/source/stat.ts';
import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import { isFull, storedByText, storeKey } from '../../base/stored-by.ts';
import type { FoundVersion } from '../../browse/found-versions.ts';
import type { Found } from '../../browse/find.ts';
import type { PathVersion } from '../../browse/versions.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import { entryObject, entryTime, type Look, modeText, pathFields, sizeText } from './listing.ts';
import { type Cell, type Column, renderTable } from '../terminal/table.ts';
import { shortId, storedByObject, timeOf, timeText } from '../terminal/wording.ts';
import { printable, printableBytes, printablePath } from '../terminal/terminal.ts';

const STORED_BY: Column = { title: 'Stored by' };

const FOUND_COLUMNS: readonly Column[] = [
  { title: 'Modified', cut: 'never' },
  { title: 'Size', align: 'right', cut: 'never' },
  { title: 'Snapshots' },
  { title: 'Newest', cut: 'never' },
  { title: 'Path', cut: 'never' },
];

/** The newest snapshot lacks it: it was deleted or, if it is still on this computer, a rule or setting leaves it out. */
function nowText({ path, last }: FoundVersion): string {
  if (last.record.host !== hostname()) return 'deleted';
  try {
    return statPath(path) === undefined ? 'deleted' : 'left out';
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return 'cannot be read';
  }
}

/** The results of a search, a row for each version of a path. Paths are not cut, so that they can be copied. */
export function foundTable(
  versions: readonly FoundVersion[],
  { styles, width }: Look,
  deleted: ReadonlySet<FoundVersion> = new Set(),
): string {
  const areNamed = versions.some(({ last }) => !isFull(last.storedBy));
  const rows = versions.map((version): readonly Cell[] => {
    const { path, entry, snapshots, last } = version;
    return [
      entryTime(entry.mtimeNs),
      sizeText(entry),
      snapshots,
      shortId(last.id),
      ...(deleted.size > 0
        ? [deleted.has(version) ? { text: nowText(version), style: styles.yellow } : '']
        : []),
      ...(areNamed ? [printable(storedByText(last.storedBy))] : []),
      nameCell(path, entry.target, entry.type === 'directory' ? styles.bold : unstyled),
    ];
  });
  const more = [...(deleted.size > 0 ? [{ title: 'Now' }] : []), ...(areNamed ? [STORED_BY] : [])];
  const columns = FOUND_COLUMNS.toSpliced(-1, 0, ...more);
  return renderTable(columns, rows, { width, titleStyle: styles.bold });
}

function nameCell(path: ByteString, target: ByteString | undefined, style: (text: string) => string): Cell {
  const name = printablePath(path);
  return { text: target === undefined ? name : `${name} -> ${printableBytes(target)}`, style };
}

const unstyled = (text: string): string => text;

/** One entry that a search found in one snapshot. */
export function foundObject({ snapshot, path, entry }: Found): object {
  return {
    snapshot_id: snapshot.id,
    stored_by: storedByObject(snapshot.storedBy),
    ...entryObject(path, entry, snapshot.record.owners),
  };
}

const VERSION_COLUMNS: readonly Column[] = [
  { title: 'Modified', cut: 'never' },
  { title: 'Size', align: 'right', cut: 'never' },
  { title: 'Mode', cut: 'never' },
  { title: 'Snapshots' },
  { title: 'From', cut: 'never' },
  { title: 'To', cut: 'never' },
  { title: 'Newest', cut: 'never' },
];

/** All versions of one path, in the order given. Hosts are named when there are several. */
export function versionsTable(versions: readonly PathVersion[], { styles, width }: Look): string {
  const severalHosts = new Set(versions.map(({ last }) => last.record.host)).size > 1;
  const areNamed = versions.some(({ last }) => !isFull(last.storedBy));
  const rows = versions.map((version): readonly Cell[] => {
    const span = [
      version.snapshots,
      timeText(version.first),
      timeText(version.last),
      shortId(version.last.id),
    ];
    const cells: readonly Cell[] =
      version.state === 'present'
        ? [entryTime(version.entry.mtimeNs), sizeText(version.entry), modeText(version.entry), ...span]
        : [
            {
              text: absenceText(version, versions),
              style: version.state === 'absent' ? styles.dim : styles.yellow,
            },
            '',
            '',
            ...span,
          ];
    return [
      ...cells,
      ...(severalHosts ? [version.last.record.host] : []),
      ...(areNamed ? [printable(storedByText(version.last.storedBy))] : []),
    ];
  });
  const columns = [
    ...VERSION_COLUMNS,
    ...(severalHosts ? [{ title: 'Host' }] : []),
    ...(areNamed ? [STORED_BY] : []),
  ];
  return renderTable(columns, rows, { width, titleStyle: styles.bold });
}

/** Why there is no version to show. */
function absenceText(
  version: Exclude<PathVersion, { state: 'present' }>,
  all: readonly PathVersion[],
): string {
  if (version.state === 'failed') return `unreadable (${version.problem.code})`;
  if (version.state === 'unreadable') return 'damaged';
  return existedBefore(version, all) ? 'deleted' : 'not there yet';
}

function existedBefore({ first }: PathVersion, all: readonly PathVersion[]): boolean {
  return all.some(
    (other) =>
      other.state === 'present' &&
      other.first.record.host === first.record.host &&
      storeKey(other.first.storedBy) === storeKey(first.storedBy) &&
      timeOf(other.first) < timeOf(first),
  );
}

export function versionObject(version: PathVersion): object {
  return {
    type: 'version',
    ...pathFields(version.path),
    state: version.state,
    host: version.last.record.host,
    stored_by: storedByObject(version.last.storedBy),
    snapshots: version.snapshots,
    ...seen('first', version.first),
    ...seen('last', version.last),
    ...(version.state === 'present'
      ? { entry: entryObject(version.path, version.entry, version.last.record.owners) }
      : {}),
    ...(version.state === 'failed'
      ? { error: { code: version.problem.code, message: version.problem.message } }
      : {}),
    ...(version.state === 'unreadable' ? { error: { message: version.error.message } } : {}),
  };
}

function seen(which: 'first' | 'last', { id, record, storedBy, storedMs }: Snapshot): object {
  return {
    [`${which}_snapshot_id`]: id,
    [`${which}_seen_at`]: new Date(timeOf({ storedBy, storedMs, record })).toISOString(),
  };
}
