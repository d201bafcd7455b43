/** What a restore did, for people and for programs. */
import { holdfastThere } from '../../base/holdfast-command.ts';
import { textOfBytes } from '../../base/byte-path.ts';
import { isFull } from '../../base/stored-by.ts';
import { formatBytes, formatDuration } from '../../base/units.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import type {
  Omission,
  RestoreRequest,
  RestoreSummary,
  RestoreTarget,
} from '../../restorer/request/request.ts';
import type { Context } from '../command/context.ts';
import { damageHint } from '../command/exit-codes.ts';
import { ofOtherHost } from './own-snapshots.ts';
import { placeInTarget, PROBLEMS_SHOWN } from './restore-progress.ts';
import { count, ofWhom, seconds, shortId, storedByObject } from '../terminal/wording.ts';
import { mayDoAsRoot } from '../../system/privileges.ts';
import { createStyles, printable, printableBytes, printablePath, wantsColor } from '../terminal/terminal.ts';

/** How many of the files that a snapshot lacks are named one by one. */
const LACKING_SHOWN = 3;
/** How many deleted paths are named one by one. */
const DELETED_SHOWN = 20;

export function restoreText(
  request: RestoreRequest,
  summary: RestoreSummary,
  { out, env }: Pick<Context, 'out' | 'env'>,
): string {
  const { bold, yellow, red } = createStyles(wantsColor(out.stream, env));
  const { target, snapshot, dryRun } = request;
  const home = summary.filesRestored === 1 ? 'where it was' : 'where they were';
  const where = target.kind === 'directory' ? `to ${placeText(request, target.path)}` : home;
  const size = formatBytes(summary.bytesRestored);
  const storer = isFull(snapshot.storedBy) ? '' : `${ofWhom(snapshot)},`;
  const lines = [
    `${dryRun ? 'Would restore' : bold('Restored')} ${count(summary.filesRestored, 'file')} (${size}) of snapshot ${shortId(snapshot.id)}${ofOtherHost(snapshot)}${printable(storer)} ${where} in ${formatDuration(summary.durationMs)}.`,
  ];
  if (summary.filesUnchanged > 0)
    lines.push(
      `  ${count(summary.filesUnchanged, 'file was', 'files were')} already the same as in the snapshot.`,
    );
  if (summary.filesSkipped > 0) {
    const hint =
      request.overwrite === 'never' ? ' To replace files that differ, add --overwrite if-changed' : '';
    lines.push(
      `  ${count(summary.filesSkipped, 'existing file was', 'existing files were')} left unchanged.${hint}`,
    );
  }
  if (summary.filesFailed > 0)
    lines.push(red(`  ${count(summary.filesFailed, 'file')} could not be restored.`));
  lines.push(...deletedLines(request, summary), ...omissionLines(request, summary).map(yellow));
  lines.push(...lackingLines(snapshot).map(yellow));
  lines.push(...problemLines(summary, dryRun).map(red));
  if (summary.errors.some(({ code }) => code === 'CORRUPT_DATA')) lines.push(...damageLines());
  return `${lines.join('\n')}\n`;
}

/** Where the files are now: below a target they keep their full paths. */
function placeText({ target, paths, subfolder, snapshot }: RestoreRequest, directory: string): string {
  const [root, ...others] = paths.length > 0 ? paths : snapshot.record.paths;
  if (root === undefined || root === '/' || subfolder !== undefined) return printable(directory);
  const first = printableBytes(placeInTarget(target, root));
  return others.length === 0 ? first : `${printable(directory)}, with full paths: ${first}, …`;
}

/** If a directory could not be read, its names are unknown: the text must not claim that all the rest is there. */
function problemLines(summary: RestoreSummary, dryRun: boolean): readonly string[] {
  const { errors, errorsMore, directoriesUnread: unread } = summary;
  const problems = errors.length + errorsMore;
  if (problems === 0) return [];
  const is = dryRun ? 'would be' : 'is';
  const listed =
    problems > PROBLEMS_SHOWN ? `; the first ${PROBLEMS_SHOWN} are listed above, --json lists all` : '';
  const told = count(problems, 'problem');
  if (unread === 0) return [`${told}: everything else ${is} restored${listed}.`];
  const directories = count(unread, 'directory', 'directories');
  return [
    `${told}${listed}. ${directories} could not be read in part or at all: the files that were there are unknown, and ${is} not restored.`,
    `Everything else that could be read ${is} restored.`,
  ];
}

function damageLines(): readonly string[] {
  return [damageHint(), `Another snapshot may have a readable version: ${holdfastThere`versions PATH`}`];
}

/** Lines about files that were never saved: whoever restores after a loss must not take the snapshot for all there was. */
export function lackingLines({ id, record }: Pick<Snapshot, 'id' | 'record'>): readonly string[] {
  const { unread, changed } = lacking(record);
  if (unread + changed === 0) return [];
  const read =
    unread === 0 ? '' : `could not read ${count(unread, 'entry', 'entries')}, missing from the snapshot`;
  const torn =
    changed === 0
      ? ''
      : `read ${count(changed, 'file')} while ${changed === 1 ? 'it was' : 'they were'} being written`;
  const names = record.errors.filter(({ code }) => code !== 'CHANGED').slice(0, LACKING_SHOWN);
  const more = unread - names.length;
  const listed = names.map(({ path }) => `    Missing: ${printablePath(path)}`);
  return [
    `  The backup ${[read, torn].filter((text) => text !== '').join(', and ')}. Other snapshots may have more:`,
    `    see "${holdfastThere`snapshots --errors --json`}" (${shortId(id)}) and "${holdfastThere`versions PATH`}".`,
    ...listed,
    ...(names.length > 0 && more > 0 ? [`    and ${more} more`] : []),
  ];
}

/** Errors that are counted but not listed are taken for unread entries. */
function lacking({ errors, errorsMore }: Snapshot['record']): { unread: number; changed: number } {
  const changed = errors.filter(({ code }) => code === 'CHANGED').length;
  return { unread: errors.length - changed + errorsMore, changed };
}

function deletedLines(
  { target, dryRun }: RestoreRequest,
  { deleted, deletedMore }: RestoreSummary,
): readonly string[] {
  const total = deleted.length + deletedMore;
  if (total === 0) return [];
  const shown = deleted.slice(0, DELETED_SHOWN);
  return [
    `  ${dryRun ? 'Would delete' : 'Deleted'} ${count(total, 'extra entry', 'extra entries')}:`,
    ...shown.map((path) => `    ${printableBytes(placeInTarget(target, path))}`),
    ...(total > shown.length ? [`    … and ${total - shown.length} more`] : []),
  ];
}

const OMITTED: Readonly<Record<Omission['kind'], string>> = {
  ownership: 'owner',
  'setuid-bits': 'setuid and setgid bits',
  devices: 'device',
  sockets: 'socket',
  'privileged-xattrs': 'system attributes',
  xattrs: 'extended attributes',
  times: 'times',
  modes: 'mode',
  holes: 'holes (filled with zeros)',
  'hard-links': 'hard links (restored as copies)',
  names: 'name',
  deletion: 'deletion of extra files',
};

/** Groups omissions by their reason. */
function omissionLines(
  { target, restoreOwnership }: RestoreRequest,
  { omissions }: RestoreSummary,
): readonly string[] {
  // Nothing is wrong with these: by default nobody gets files of others. So the option is named, not a reason.
  const isForRoot = ({ kind }: Omission): boolean => !restoreOwnership && UNSET[kind] !== undefined;
  const ofRoot = omissions.filter(isForRoot);
  const others = omissions.filter((one) => !isForRoot(one));
  const reasons = new Set(others.map(({ reason }) => reason));
  const unset = ofRoot.map((one) => `  ${forRootText(one)}`);
  const listed = [...reasons].flatMap((why) => [
    `  Not restored: ${printable(why)}:`,
    ...others.filter(({ reason }) => reason === why).map((one) => `    ${omissionText(one, target)}`),
  ]);
  return [...unset, ...listed];
}

const UNSET: Readonly<Partial<Record<Omission['kind'], string>>> = {
  ownership: 'Owners',
  'setuid-bits': 'Setuid and setgid bits',
  devices: 'Devices',
  'privileged-xattrs': 'System attributes',
};

function forRootText({ kind, count: entries }: Omission): string {
  const what = `${UNSET[kind] ?? OMITTED[kind]} were not restored (${count(entries, 'entry', 'entries')})`;
  return mayDoAsRoot()
    ? `${what}: add the option --restore-ownership for it.`
    : `${what}: only root can, with the option --restore-ownership.`;
}

function omissionText({ kind, count: entries, paths }: Omission, target: RestoreTarget): string {
  const first = paths[0] === undefined ? '' : `, e.g. ${printableBytes(placeInTarget(target, paths[0]))}`;
  return `${OMITTED[kind]} of ${count(entries, 'entry', 'entries')}${first}`;
}

export function restoreObject(request: RestoreRequest, summary: RestoreSummary): object {
  const { target, snapshot, dryRun } = request;
  const { unread, changed } = lacking(snapshot.record);
  return {
    type: 'summary',
    snapshot_id: snapshot.id,
    host: snapshot.record.host,
    started_at: new Date(snapshot.record.startedMs).toISOString(),
    stored_by: storedByObject(snapshot.storedBy),
    target: target.kind === 'directory' ? target.path : null,
    dry_run: dryRun,
    status: summary.status,
    files_restored: summary.filesRestored,
    files_unchanged: summary.filesUnchanged,
    files_skipped: summary.filesSkipped,
    files_failed: summary.filesFailed,
    directories_restored: summary.directories,
    directories_unread: summary.directoriesUnread,
    links_restored: summary.links,
    others_restored: summary.others,
    bytes_restored: summary.bytesRestored,
    bytes_total: summary.bytesTotal,
    omissions: summary.omissions.map(({ kind, count: entries, reason, paths }) => ({
      kind,
      count: entries,
      reason,
      paths: paths.map((path) => textOfBytes(placeInTarget(target, path))),
    })),
    deleted: summary.deleted.map((path) => textOfBytes(placeInTarget(target, path))),
    deleted_more: summary.deletedMore,
    problems: summary.errors.length + summary.errorsMore,
    unread_by_backup: unread,
    changed_during_backup: changed,
    duration_seconds: seconds(summary.durationMs),
  };
}
