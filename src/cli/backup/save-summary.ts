/** Shows what a backup did, or would do, to people and to programs. */
import { holdfastThere } from '../../base/holdfast-command.ts';
import type { ArchiveSummary } from '../../archiver/archive.ts';
import type { Estimate } from '../../archiver/estimate.ts';
import { pathText } from '../../base/tree-path.ts';
import { formatBytes, formatDuration } from '../../base/units.ts';
import { omissionText } from '../../format/omission.ts';
import { packsDamagedText } from '../../archiver/before/damaged-parts.ts';
import { isNews } from '../../archiver/source/xattrs.ts';
import { foreignText } from '../../repository/foreign-record.ts';
import type { ForeignRecord } from '../../repository/writer-state.ts';
import { PROBLEMS_SHOWN } from './archive-progress.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit-codes.ts';
import type { OutputOptions } from '../command/options.ts';
import { createStyles, printable, wantsColor } from '../terminal/terminal.ts';
import { count, seconds, shortId } from '../terminal/wording.ts';

/** How many kinds of metadata that could not be captured are named one by one. */
const OMITTED_SHOWN = 10;

/** Ends a backup: the summary, and exit code 3 when something is missing. */
export async function showSummary(
  summary: ArchiveSummary,
  options: OutputOptions,
  context: Context,
  textOf: (summary: ArchiveSummary, context: Context) => string | Promise<string> = summaryText,
): Promise<void> {
  if (summary.snapshot.record.status === 'partial') context.exitCode = EXIT.partial;
  if (options.json === true) await context.out.json(summaryObject(summary));
  else if (options.quiet !== true) await context.out.write(await textOf(summary, context));
  // Shown with --quiet, too, since something is wrong.
  if (summary.foreign !== undefined)
    context.stderr.write(`Warning: ${printable(foreignText(summary.foreign))}\n`);
  if (summary.packsDamaged > 0) context.stderr.write(`Warning: ${packsDamagedText(summary.packsDamaged)}\n`);
  const { omitted, parent } = summary.snapshot.record;
  // What every backup here lacks is said once.
  const lacking = omitted.filter(
    (one) => isNews(one) || (one.code === 'windows_metadata' && parent === undefined),
  );
  for (const what of lacking.slice(0, OMITTED_SHOWN))
    context.stderr.write(`Warning: Not backed up: ${printable(omissionText(what))}\n`);
  if (lacking.length > OMITTED_SHOWN)
    context.stderr.write(
      `Warning: Not backed up: ${lacking.length - OMITTED_SHOWN} more kinds; --json lists all of them\n`,
    );
  for (const { path, filesBefore } of summary.emptied)
    context.stderr.write(
      `Warning: ${printable(pathText(path))} had ${count(filesBefore, 'file')} at the last backup and is empty now. If a disk or share should be mounted there, mount it, and remove this empty snapshot with: ${holdfastThere`forget ${shortId(summary.snapshot.id)}`}\n`,
    );
}

/** The object that ends `backup --json`. */
function summaryObject({
  snapshot,
  foreign,
  filesBefore,
  emptied,
  leftOut,
  ...summary
}: ArchiveSummary): object {
  const { counts } = snapshot.record;
  return {
    type: 'summary',
    snapshot_id: snapshot.id,
    files_total: counts.files,
    files_new: counts.new,
    files_changed: counts.changed,
    files_unchanged: counts.unchanged,
    files_failed: counts.failed,
    files_before: filesBefore ?? null,
    sources_emptied: emptied.map(({ path }) => pathText(path)),
    not_captured: snapshot.record.omitted.map(omissionText),
    sources_left_out: leftOut.map(pathText),
    directories_total: counts.directories,
    bytes_total: counts.bytes,
    bytes_read: summary.bytesRead,
    bytes_new: summary.bytesNew,
    bytes_stored: summary.bytesUploaded,
    bytes_uploaded: summary.bytesUploaded,
    duration_seconds: seconds(summary.durationMs),
    copied_identity: foreign === undefined ? null : foreignObject(foreign),
    packs_damaged: summary.packsDamaged,
  };
}

function foreignObject({ writer, seq, record, host, atMs }: ForeignRecord): object {
  return { writer, seq, record, host, at: atMs === null ? null : new Date(atMs).toISOString() };
}

/** The summary as text for people. */
function summaryText({ snapshot, ...summary }: ArchiveSummary, context: Context): string {
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
    count(added, 'new file'),
    count(changed, 'changed', 'changed'),
    count(unchanged, 'unchanged', 'unchanged'),
  ];
  if (failed > 0) parts.push(count(failed, 'could not be read', 'could not be read'));
  return parts.join(', ');
}

function problemSummary(problems: number): string {
  const listed =
    problems > PROBLEMS_SHOWN ? ` The first ${PROBLEMS_SHOWN} are listed above; --json lists all.` : '';
  return `${count(problems, 'problem')}: everything else is backed up.${listed}`;
}

/** Shows the result of a dry run, which reads no file and stores nothing. `durationMs` is how long it took. */
export async function showEstimated(
  { counters, bytesTotal, bytesToRead, problems }: Estimate,
  durationMs: number,
  options: OutputOptions,
  { out }: Context,
): Promise<void> {
  const { filesNew, filesChanged, filesUnchanged } = counters;
  const files = filesNew + filesChanged + filesUnchanged;
  if (options.json === true) {
    await out.json({
      type: 'summary',
      snapshot_id: null,
      dry_run: true,
      files_total: files,
      files_new: filesNew,
      files_changed: filesChanged,
      files_unchanged: filesUnchanged,
      files_failed: counters.filesFailed,
      bytes_total: bytesTotal,
      bytes_read: 0,
      bytes_to_read: bytesToRead,
      bytes_stored: 0,
      bytes_uploaded: 0,
      duration_seconds: seconds(durationMs),
    });
  } else if (options.quiet !== true) {
    const failed =
      counters.filesFailed > 0 || problems.length > 0 ? ` ${problemSummary(problems.length)}` : '';
    await out.write(
      `Would back up ${count(files, 'file')}, ${formatBytes(bytesTotal)}: ${count(filesNew, 'new file')}, ${filesChanged} changed, ${filesUnchanged} unchanged.\nWould read ${formatBytes(bytesToRead)} and store at most that much.${failed}\n`,
    );
  }
}
