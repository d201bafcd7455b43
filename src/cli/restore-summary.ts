/** What a restore did, for people and for programs. */
import { textOfBytes } from '../base/byte-path.ts';
import { formatBytes, formatDuration } from '../base/units.ts';
import type { Omission, RestoreRequest, RestoreSummary } from '../restorer/request.ts';
import type { Context } from './context.ts';
import { PROBLEMS_SHOWN } from './restore-progress.ts';
import { createStyles, printable, printableBytes, wantsColor } from './terminal.ts';
import { count, seconds, shortId } from './wording.ts';

/** Deleted paths named one by one. */
const DELETED_SHOWN = 20;

export function restoreText(request: RestoreRequest, summary: RestoreSummary, { out, env }: Context): string {
  const { bold, yellow, red } = createStyles(wantsColor(out.stream, env));
  const { target, snapshot, dryRun } = request;
  const where = target.kind === 'directory' ? `to ${printable(target.path)}` : 'where they were';
  const size = formatBytes(summary.bytesRestored);
  const lines = [
    `${dryRun ? 'Would restore' : bold('Restored')} ${count(summary.filesRestored, 'file')} (${size}) of snapshot ${shortId(snapshot.id)} ${where} in ${formatDuration(summary.durationMs)}.`,
  ];
  if (summary.filesUnchanged > 0)
    lines.push(`  ${count(summary.filesUnchanged, 'file was', 'files were')} already as in the snapshot.`);
  if (summary.filesSkipped > 0) {
    const hint = request.overwrite === 'never' ? ' To replace what differs: --overwrite if-changed' : '';
    lines.push(
      `  ${count(summary.filesSkipped, 'file that exists was', 'files that exist were')} left alone.${hint}`,
    );
  }
  lines.push(
    ...deletedLines(summary, dryRun),
    ...summary.omissions.map((one) => yellow(`  ${omissionText(one)}`)),
  );
  const problems = summary.errors.length + summary.errorsMore;
  if (problems > 0) {
    const listed =
      problems > PROBLEMS_SHOWN ? `; the first ${PROBLEMS_SHOWN} are listed above, all with --json` : '';
    lines.push(red(`${count(problems, 'problem')}: all the rest is restored${listed}.`));
  }
  return `${lines.join('\n')}\n`;
}

function deletedLines({ deleted, deletedMore }: RestoreSummary, dryRun: boolean): readonly string[] {
  const total = deleted.length + deletedMore;
  if (total === 0) return [];
  const shown = deleted.slice(0, DELETED_SHOWN);
  return [
    `  ${dryRun ? 'Would delete' : 'Deleted'} ${count(total, 'extra entry', 'extra entries')}:`,
    ...shown.map((path) => `    ${printableBytes(path)}`),
    ...(total > shown.length ? [`    … and ${total - shown.length} more`] : []),
  ];
}

const OMITTED: Readonly<Record<Omission['kind'], string>> = {
  ownership: 'Owner not set',
  'setuid-bits': 'Setuid and setgid bits not set',
  devices: 'Devices not made',
  sockets: 'Sockets not made',
  'privileged-xattrs': 'System attributes not set',
  xattrs: 'Extended attributes not set',
  times: 'Times not set',
  modes: 'Modes not set',
  holes: 'Holes filled with zeros',
  'hard-links': 'Hard links made as copies',
  names: 'Names changed',
  deletion: 'Extra entries not deleted',
};

function omissionText({ kind, count: entries, reason, paths }: Omission): string {
  const first = paths[0] === undefined ? '' : `, e.g. ${printableBytes(paths[0])}`;
  return `${OMITTED[kind]}: ${count(entries, 'entry', 'entries')} (${printable(reason)}${first})`;
}

export function restoreObject(request: RestoreRequest, summary: RestoreSummary): object {
  const { target, snapshot, dryRun } = request;
  return {
    type: 'summary',
    snapshot_id: snapshot.id,
    target: target.kind === 'directory' ? target.path : null,
    dry_run: dryRun,
    status: summary.status,
    files_restored: summary.filesRestored,
    files_unchanged: summary.filesUnchanged,
    files_skipped: summary.filesSkipped,
    files_failed: summary.filesFailed,
    directories_restored: summary.directories,
    links_restored: summary.links,
    others_restored: summary.others,
    bytes_restored: summary.bytesRestored,
    bytes_total: summary.bytesTotal,
    omissions: summary.omissions.map(({ kind, count: entries, reason, paths }) => ({
      kind,
      count: entries,
      reason,
      paths: paths.map(textOfBytes),
    })),
    deleted: summary.deleted.map(textOfBytes),
    deleted_more: summary.deletedMore,
    problems: summary.errors.length + summary.errorsMore,
    duration_seconds: seconds(summary.durationMs),
  };
}
