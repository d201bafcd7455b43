/** A backup run as the commands `backup` and `start` do it: progress, problems, and the summary. */
import { hostname, userInfo } from 'node:os';
import { archive, type ArchiveRequest, type ArchiveSummary } from '../archiver/archive.ts';
import { textOfBytes } from '../base/byte-path.ts';
import { formatBytes, formatDuration } from '../base/units.ts';
import { PROBLEMS_SHOWN, watchArchive } from './archive-progress.ts';
import { toolName, type Context } from './context.ts';
import { EXIT } from './exit-codes.ts';
import type { OutputOptions } from './options.ts';
import { openProgress, progressMode } from './open-progress.ts';
import { startSizeScan, type SizeScan } from './size-scan.ts';
import { createStyles, jsonLine, wantsColor } from './terminal.ts';
import { count, seconds, shortId } from './wording.ts';

export type SaveRequest = Omit<ArchiveRequest, 'host' | 'user' | 'tool'> & {
  readonly host?: string | undefined;
};

export interface SaveOptions extends OutputOptions {
  readonly notes: readonly string[];
}

/** Runs the backup and shows how it goes; the summary is the caller's to print. Sets exit code 3 for a partial one. */
export async function save(
  request: SaveRequest,
  options: SaveOptions,
  context: Context,
): Promise<ArchiveSummary> {
  const progress = openProgress('Backing up', options, context);
  const { out } = context;
  const scan = progressMode(options, context) === 'terminal' ? startScan(request) : undefined;
  context.afterInterrupt =
    'No snapshot was made. To continue, run the same command again: what is stored already is kept and used.';
  try {
    for (const note of options.notes) progress.note(`Note: ${note}`);
    const observer = watchArchive({
      progress,
      totals: () => scan?.totals,
      onProblem:
        options.json === true
          ? ({ path, code, message }) =>
              out.push(jsonLine({ type: 'problem', path: textOfBytes(path), code, message }))
          : undefined,
      phaseName: options.json === true ? (phase) => phase : (phase) => PHASES[phase],
    });
    const summary = await archive(
      { ...request, host: request.host ?? hostname(), user: userName(), tool: toolName() },
      observer,
      context.signal,
    );
    if (summary.snapshot.record.status === 'partial') context.exitCode = EXIT.partial;
    return summary;
  } finally {
    progress.finish();
    await scan?.stop();
  }
}

function startScan({ sources, exclude }: SaveRequest): SizeScan {
  return startSizeScan({ sources, exclude });
}

/** The engine reads and stores while it scans. */
const PHASES = { scanning: '', uploading: 'finishing', committing: 'finishing' };

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without an entry in the system's list, as in containers.
    return String(process.geteuid?.() ?? '');
  }
}

/** The object that ends `backup --json`. */
export function summaryObject({ snapshot, ...summary }: ArchiveSummary): object {
  const { counts } = snapshot.record;
  return {
    type: 'summary',
    snapshot_id: snapshot.id,
    files_total: counts.files,
    files_new: counts.new,
    files_changed: counts.changed,
    files_unchanged: counts.unchanged,
    files_failed: counts.failed,
    directories_total: counts.directories,
    bytes_total: counts.bytes,
    bytes_read: summary.bytesRead,
    bytes_new: summary.bytesNew,
    bytes_stored: summary.bytesUploaded,
    bytes_uploaded: summary.bytesUploaded,
    duration_seconds: seconds(summary.durationMs),
  };
}

/** The same for people. */
export function summaryText({ snapshot, ...summary }: ArchiveSummary, context: Context): string {
  const { counts, errors, errorsMore } = snapshot.record;
  const { bold, yellow } = createStyles(wantsColor(context.out.stream, context.env));
  const problems = errors.length + errorsMore;
  const lines = [
    `Snapshot ${bold(shortId(snapshot.id))} saved: ${count(counts.files, 'file')}, ${formatBytes(counts.bytes)}, in ${formatDuration(summary.durationMs)}.`,
    `  ${fileChanges(counts)}`,
    `  read ${formatBytes(summary.bytesRead)}, new ${formatBytes(summary.bytesNew)}, stored as ${formatBytes(summary.bytesUploaded)}`,
  ];
  if (problems > 0) lines.push(yellow(problemSummary(problems)));
  return `${lines.join('\n')}\n`;
}

function fileChanges({
  new: added,
  changed,
  unchanged,
  failed,
}: ArchiveSummary['snapshot']['record']['counts']): string {
  const parts = [
    `${count(added, 'new file')}`,
    `${count(changed, 'changed', 'changed')}`,
    `${count(unchanged, 'unchanged', 'unchanged')}`,
  ];
  if (failed > 0) parts.push(`${count(failed, 'could not be read', 'could not be read')}`);
  return parts.join(', ');
}

function problemSummary(problems: number): string {
  const listed =
    problems > PROBLEMS_SHOWN ? ` The first ${PROBLEMS_SHOWN} are listed above, all with --json.` : '';
  return `${count(problems, 'problem')}: everything else is saved.${listed}`;
}
