/** What one path was in every snapshot. */
import type { ByteString } from '../base/byte-path.ts';
import { RequestError } from '../base/errors.ts';
import { pathNames, pathOf } from '../browse/locate.ts';
import type { FileVersion } from '../jobs/agent.ts';
import type { CatalogDatabase } from './catalog-database.ts';
import { sameContent, type EntryRow } from './entry-row.ts';
import { fileItem } from './file-item.ts';
import { notThere } from './file-list.ts';
import { covers, hasSource, type KnownSnapshot } from './known-snapshots.ts';
import type { Places } from './places.ts';
import { NODE_TYPE } from './schema.ts';

type VersionRow = EntryRow & { readonly node: number; readonly since: number; readonly until: number };

interface Present {
  readonly snapshot: KnownSnapshot;
  readonly row: VersionRow;
}

/**
 * One item for every snapshot that has the path, told against the snapshot of the same host before, and one for every
 * time it went; the newest first. Snapshots that do not cover the path, or could not read it, say nothing.
 * @throws {RequestError} PATH_NOT_IN_SNAPSHOT when no snapshot has it; INVALID_REQUEST for the root
 */
export function pathVersions(
  database: CatalogDatabase,
  places: Places,
  snapshots: readonly KnownSnapshot[],
  path: ByteString,
  source: string | undefined,
): readonly FileVersion[] {
  const names = pathNames(path);
  if (names.length === 0) {
    throw new RequestError('INVALID_REQUEST', 'The root directory has no versions of its own', {
      hint: 'Name a file or directory below it.',
    });
  }
  const wanted = pathOf(names);
  const rows = new Map<number, readonly VersionRow[]>();
  const unknown = unknownIn(database, names);
  const before = new Map<string, Present | undefined>();
  const versions: FileVersion[] = [];
  for (const snapshot of snapshots) {
    if (!snapshot.complete || !hasSource(snapshot, source)) continue;
    if (!rows.has(snapshot.lineage)) {
      rows.set(snapshot.lineage, rowsOf(database, places.find(snapshot.root, names)));
    }
    const row = rows
      .get(snapshot.lineage)
      ?.find(({ since, until }) => since <= snapshot.ordinal && until >= snapshot.ordinal);
    const last = before.get(snapshot.host);
    if (row !== undefined) {
      const now = { snapshot, row };
      const change = last === undefined ? 'added' : isSame(last, now) ? 'unchanged' : 'modified';
      versions.push({ ...fileItem(wanted, row, snapshot), change });
      before.set(snapshot.host, now);
    } else if (last !== undefined && !unknown.has(snapshot.ordinal) && covers(snapshot, wanted)) {
      versions.push({ ...fileItem(wanted, last.row, snapshot), change: 'removed' });
      before.delete(snapshot.host);
    }
  }
  if (versions.length === 0) throw notThere(wanted);
  return versions.toReversed();
}

function rowsOf(database: CatalogDatabase, node: number | undefined): readonly VersionRow[] {
  if (node === undefined) return [];
  return database.prepare<[number], VersionRow>('SELECT * FROM version WHERE node = ?').all(node);
}

/** Ordinals of the snapshots in which the path, or a directory above it, could not be read. */
function unknownIn(database: CatalogDatabase, names: readonly ByteString[]): ReadonlySet<number> {
  const at = database.prepare<[Buffer], number>('SELECT ordinal FROM gap WHERE path = ?').pluck();
  const above = Array.from({ length: names.length + 1 }, (_, depth) => pathOf(names.slice(0, depth)));
  return new Set(above.flatMap((path) => at.all(Buffer.from(path, 'latin1'))));
}

/** Other owners and attributes make no other version. */
function isSame(a: Present, b: Present): boolean {
  if (a.row.node === b.row.node && a.row.since === b.row.since) return true;
  const comparable = idsComparable(a.snapshot, b.snapshot);
  const same = (field: 'mode' | 'modified' | 'finer' | 'kind'): boolean => a.row[field] === b.row[field];
  if (!same('kind') || !same('mode') || !same('modified') || !same('finer')) return false;
  if (a.row.type !== NODE_TYPE.directory) return sameContent(a.row, b.row, comparable);
  return !comparable || a.row.content === b.row.content;
}

/** Whether equal content has equal names in both snapshots. */
export function idsComparable(a: KnownSnapshot, b: KnownSnapshot): boolean {
  return a.id === b.id || (a.plain === b.plain && !a.salted && !b.salted);
}
