/** The result of a restore in words: as a sentence, as plain text for a mail, and what failed as a table. */
import type { JobLog, Restore } from '../../../api/schemas/job.ts';
import type { Snapshot } from '../../../api/schemas/snapshot.ts';
import { visible } from '../../components/own-text.tsx';
import { errorWords } from '../../components/problem.tsx';
import { formatBytes, formatCount, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { explained } from '../jobs/job-words.ts';
import { type PathRef, refOfB64, textRef } from './path-ref.ts';

type FileProblems = JobLog['problems'];

export function titleOf(job: Restore | undefined): string {
  if (job === undefined) return t.restore.title;
  const { isDry, titles } = { isDry: job.options.dry_run, titles: t.restore.jobTitles };
  return isDry && job.status === 'completed' ? titles.dry : titles[job.status];
}

type Counts = Pick<Restore, 'files_restored' | 'files_failed' | 'warnings_count'>;

/** The result of a completed restore. How many files a directory had that could not be read is unknown. */
export function outcomeOf({
  files_restored: restored,
  files_failed: failed,
  warnings_count: warnings,
}: Counts): string {
  if (failed > 0) return t.restore.someFailed(failed, formatCount(failed));
  return warnings > 0 ? t.restore.notAll : t.restore.allGood(restored, formatCount(restored));
}

export function pathsOfJob({ paths }: Pick<Restore, 'paths'>): readonly PathRef[] {
  return paths.map((path) =>
    typeof path === 'string' ? textRef(path) : (refOfB64(path.path_b64) ?? textRef('')),
  );
}

/** The most lines of a list: a mail has to be read. */
const LISTED = 50;

/** @param snapshot undefined when it has been removed since */
export function reportText(job: Restore, snapshot: Snapshot | undefined, problems: FileProblems): string {
  const { target, error, files_skipped: skipped, files_failed: failed, finished_at: finished } = job;
  const paths = pathsOfJob(job);
  const line = (name: string, value: string): string => `${name}${t.common.colon} ${value}`;
  const facts = [
    ...(error === null ? [] : [errorWords(error, 'restore') ?? error.message]),
    ...(job.status === 'canceled' ? [t.restore.wasCanceled] : []),
    line(
      t.restore.restored,
      `${t.restore.filesAnd(job.files_restored, formatCount(job.files_restored))}, ${formatBytes(job.size_bytes)}`,
    ),
    ...(skipped === 0
      ? []
      : [`${line(t.restore.skippedFiles, formatCount(skipped))} – ${t.restore.skippedWhy}`]),
    ...(failed === 0 ? [] : [line(t.restore.failedFiles, formatCount(failed))]),
    ...(snapshot === undefined
      ? [line(t.restore.snapshot, job.snapshot_id)]
      : [
          t.restore.fromBackupOf(formatTime(snapshot.created_at)),
          line(t.restore.source, visible(snapshot.source)),
        ]),
    line(t.restore.where, target === null ? t.restore.original : visible(target)),
    ...(finished === null ? [] : [line(t.restore.finished, formatTime(finished))]),
  ];
  return [
    titleOf(job),
    '',
    ...facts,
    '',
    ...(paths.length === 0
      ? [line(t.restore.what, t.restore.whatAll)]
      : listed(
          t.restore.what,
          paths.map(({ path }) => visible(path)),
          paths.length,
        )),
    ...(problems.length === 0
      ? []
      : [
          '',
          ...listed(
            t.restore.notRestored,
            problems.map(({ path, ...problem }) => line(visible(path), reasonOf(problem))),
            Math.max(problems.length, job.warnings_count),
          ),
        ]),
    '',
  ].join('\n');
}

function listed(name: string, items: readonly string[], count: number): readonly string[] {
  const shown = items.slice(0, LISTED);
  const more = count - shown.length;
  return [
    `${name}${t.common.colon}`,
    ...shown.map((item) => `- ${item}`),
    ...(more > 0 ? [t.restore.andMore(formatCount(more))] : []),
  ];
}

function reasonOf({ code, message }: Omit<FileProblems[number], 'path'>): string {
  return explained(code, 'restore') ?? (message === '' ? code : visible(message));
}

/** What failed, one file in each line, as spreadsheets read it. */
export function problemsCsv(problems: FileProblems): string {
  const rows = problems.map(({ path, ...problem }) => [visible(path), reasonOf(problem), problem.code]);
  // Without the mark, spreadsheets take UTF-8 for another encoding.
  return `\u{FEFF}${[[t.restore.path, t.restore.reason, t.restore.code], ...rows].map(csvRow).join('')}`;
}

function csvRow(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** A name must not become a formula. */
function csvCell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${plain.replaceAll('"', '""')}"`;
}
