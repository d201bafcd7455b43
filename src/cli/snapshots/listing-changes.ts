/** Differences between snapshots as they are listed: a line each and totals, and objects for `--json`. */
import { formatBytes } from '../../base/units.ts';
import type { Change, DiffCount, DiffSide, DiffTotals } from '../../browse/diff.ts';
import type { EntrySummary } from '../../browse/entries.ts';
import { entryObject, modeText, pathFields, sizeText } from './listing.ts';
import { printableBytes, printablePath, type Style, type Styles } from '../terminal/terminal.ts';
import { count, storedByObject } from '../terminal/wording.ts';

/** `M  /path  (1.0 KiB -> 2.0 KiB)`. */
export function changeLine(change: Change, styles: Styles): string {
  const { sign, style } = signOf(change.kind, styles);
  const entry = change.kind === 'removed' ? change.before : change.after;
  const name = `${printablePath(change.path)}${entry.type === 'directory' ? '/' : ''}`;
  const detail = detailOf(change);
  return `${style(sign)}  ${name}${detail === '' ? '' : styles.dim(`  (${detail})`)}\n`;
}

/** What the signs mean, for the end of the list. */
export const CHANGE_SIGNS = '+ added, - removed, M modified, U only metadata changed, T type changed';

function signOf(kind: Change['kind'], styles: Styles): { sign: string; style: Style } {
  switch (kind) {
    case 'added':
      return { sign: '+', style: styles.green };
    case 'removed':
      return { sign: '-', style: styles.red };
    case 'modified':
      return { sign: 'M', style: styles.yellow };
    case 'metadata':
      return { sign: 'U', style: styles.cyan };
    case 'type':
      return { sign: 'T', style: styles.yellow };
  }
}

function detailOf(change: Change): string {
  switch (change.kind) {
    case 'added':
      return contentText(change.after);
    case 'removed':
      return contentText(change.before);
    case 'modified':
      return `${contentText(change.before)} -> ${contentText(change.after)}`;
    case 'metadata':
      return change.fields.map((field) => fieldText(field, change.before, change.after)).join(', ');
    case 'type':
      return `${change.before.type} -> ${change.after.type}`;
  }
}

/** Size, link target or device numbers. */
function contentText(entry: EntrySummary): string {
  if (entry.target !== undefined) return printableBytes(entry.target);
  return entry.type === 'file' || entry.major !== undefined ? sizeText(entry) : '';
}

function fieldText(field: string, before: EntrySummary, after: EntrySummary): string {
  if (field === 'mode') return `mode ${modeText(before)} -> ${modeText(after)}`;
  if (field === 'owner') return `owner ${before.uid}:${before.gid} -> ${after.uid}:${after.gid}`;
  return field === 'mtime' ? 'time' : 'attributes';
}

/** A line for each kind of change that occurred, or one that says that nothing changed. */
export function totalsText(totals: DiffTotals): string {
  const lines = [
    totalLine('Added', totals.added),
    totalLine('Removed', totals.removed),
    totalLine('Modified', totals.modified),
    totalLine('Metadata', { ...totals.metadata, bytes: undefined }),
  ].filter((line) => line !== '');
  return lines.length === 0 ? 'No differences.\n' : `${lines.join('\n')}\n`;
}

function totalLine(title: string, counts: Omit<DiffCount, 'bytes'> & { bytes: number | undefined }): string {
  const { files, directories, others, bytes } = counts;
  const parts = [
    files > 0 ? count(files, 'file') : '',
    directories > 0 ? count(directories, 'directory', 'directories') : '',
    others > 0 ? count(others, 'other') : '',
  ].filter((part) => part !== '');
  if (parts.length === 0) return '';
  return `${`${title}:`.padEnd(10)}${parts.join(', ')}${files > 0 && bytes !== undefined ? `, ${formatBytes(bytes)}` : ''}`;
}

export function changeObject(change: Change, left: DiffSide, right: DiffSide): object {
  const before = (entry: EntrySummary) => ({
    before: entryObject(change.path, entry, left.snapshot.record.owners),
  });
  const after = (entry: EntrySummary) => ({
    after: entryObject(change.path, entry, right.snapshot.record.owners),
  });
  return {
    type: 'change',
    change: change.kind,
    ...pathFields(change.path),
    ...('fields' in change ? { fields: change.fields } : {}),
    ...('before' in change ? before(change.before) : {}),
    ...('after' in change ? after(change.after) : {}),
  };
}

export function totalsObject(totals: DiffTotals, left: DiffSide, right: DiffSide): object {
  return {
    type: 'summary',
    left_snapshot_id: left.snapshot.id,
    right_snapshot_id: right.snapshot.id,
    left_stored_by: storedByObject(left.snapshot.storedBy),
    right_stored_by: storedByObject(right.snapshot.storedBy),
    added: totals.added,
    removed: totals.removed,
    modified: totals.modified,
    metadata: totals.metadata,
    type_changed: totals.typeChanged,
  };
}
