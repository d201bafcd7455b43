/** Versions of paths as they are listed, found by name or for one path: tables, and objects for `--json`. */
import type { ByteString } from '../base/byte-path.ts';
import type { FoundVersion } from '../browse/found-versions.ts';
import type { Found } from '../browse/find.ts';
import type { PathVersion } from '../browse/versions.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import { entryObject, entryTime, modeText, pathFields, sizeText, type Look } from './listing.ts';
import { renderTable, type Cell, type Column } from './table.ts';
import { printableBytes } from './terminal.ts';
import { localTime, shortId } from './wording.ts';

const FOUND_COLUMNS: readonly Column[] = [
  { title: 'Modified', cut: 'never' },
  { title: 'Size', align: 'right', cut: 'never' },
  { title: 'Snapshots' },
  { title: 'Newest', cut: 'never' },
  { title: 'Path', cut: 'never' },
];

/** What a search found, a row for each version of a path. Paths stay whole, so that they can be copied. */
export function foundTable(versions: readonly FoundVersion[], { styles, width }: Look): string {
  const rows = versions.map(({ path, entry, snapshots, last }): readonly Cell[] => [
    entryTime(entry.mtimeNs),
    sizeText(entry),
    snapshots,
    shortId(last.id),
    nameCell(path, entry.target, entry.type === 'directory' ? styles.bold : unstyled),
  ]);
  return renderTable(FOUND_COLUMNS, rows, { width, titleStyle: styles.bold });
}

function nameCell(path: ByteString, target: ByteString | undefined, style: (text: string) => string): Cell {
  const name = printableBytes(path);
  return { text: target === undefined ? name : `${name} -> ${printableBytes(target)}`, style };
}

const unstyled = (text: string): string => text;

/** One find in one snapshot. */
export function foundObject({ snapshot, path, entry }: Found): object {
  return { snapshot_id: snapshot.id, ...entryObject(path, entry, snapshot.record.owners) };
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
  const rows = versions.map((version): readonly Cell[] => {
    const span = [
      version.snapshots,
      localTime(version.first.record.startedMs),
      localTime(version.last.record.startedMs),
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
    return severalHosts ? [...cells, version.last.record.host] : cells;
  });
  const columns = severalHosts ? [...VERSION_COLUMNS, { title: 'Host' }] : VERSION_COLUMNS;
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
      other.first.record.startedMs < first.record.startedMs,
  );
}

export function versionObject(version: PathVersion): object {
  return {
    type: 'version',
    ...pathFields(version.path),
    state: version.state,
    host: version.last.record.host,
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

function seen(which: 'first' | 'last', { id, record }: Snapshot): object {
  return {
    [`${which}_snapshot_id`]: id,
    [`${which}_seen_at`]: new Date(record.startedMs).toISOString(),
  };
}
