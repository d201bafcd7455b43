/** Describes jobs in words. */
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import type { Look } from '../../components/tag.tsx';
import { formatBytes, formatCount, formatDuration, formatPercent } from '../../language/format.ts';
import { t } from '../../language/language.ts';

export interface StateWords {
  readonly word: string;
  readonly look: Look;
}

export function stateWords(job: Pick<AnyJob, 'status' | 'result' | 'warnings_count'>): StateWords {
  const { status, result, warnings_count: warnings } = job;
  if (status === 'completed' && result === 'warning')
    return { word: t.jobs.completedWithWarnings(warnings, formatCount(warnings)), look: 'warning' };
  return { word: t.jobs.states[status], look: LOOKS[status] };
}

const LOOKS: Readonly<Record<AnyJob['status'], Look>> = {
  queued: 'plain',
  running: 'plain',
  completed: 'good',
  failed: 'bad',
  canceled: 'warning',
};

export function isOver({ status }: Pick<AnyJob, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}

/** The path or place that the job is about; undefined for a restore to where the files were. */
export function subjectOf(job: AnyJob): string | undefined {
  if (job.type === 'backup') return job.source;
  return job.type === 'restore' ? (job.target ?? undefined) : job.destination;
}

/** The result of the job in one plain line; undefined while there is nothing to say. */
export function volumeWords(job: AnyJob): string | undefined {
  const { volume } = t.jobs;
  const size = formatBytes(job.size_bytes);
  const stored = formatBytes(job.progress.bytes_uploaded);
  if (job.status === 'failed' || job.status === 'canceled')
    return job.type === 'backup' && job.progress.bytes_uploaded > 0 ? volume.brokenOff(stored) : undefined;
  if (job.status !== 'completed') return undefined;
  switch (job.type) {
    case 'backup': {
      const files = filesWords(job.files_backed_up);
      const fresh = Math.max(0, job.size_bytes - job.progress.bytes_deduplicated);
      if (job.options.dry_run) return volume.trial(files, size);
      if (job.files_backed_up === 0) return volume.noFiles;
      if (fresh === 0) return volume.nothingNew(files, size);
      return volume.backup({ files, size, fresh: formatBytes(fresh), stored });
    }
    case 'restore':
      return volume.restore({
        restored: filesWords(job.files_restored),
        size,
        skipped: job.files_skipped === 0 ? '' : filesWords(job.files_skipped),
        isTrial: job.options.dry_run,
      });
    case 'check':
      return job.size_bytes === 0 ? volume.structure : volume.check(size);
    case 'prune':
      return job.size_bytes === 0 ? volume.nothingFreed : volume.prune(size);
    case 'drill':
      return volume.drill(filesWords(job.files));
  }
}

/** `12 new, 3 changed, 325 as before`; undefined for jobs that have no such counts. */
export function changeWords({ progress }: Pick<AnyJob, 'progress'>): string | undefined {
  const { changes } = t.jobs;
  const parts = [
    [progress.files_new, changes.added],
    [progress.files_changed, changes.changed],
    [progress.files_unchanged, changes.same],
    [progress.files_failed, changes.failed],
  ] as const;
  const said = parts.filter(([count]) => count > 0).map(([count, words]) => words(formatCount(count)));
  return said.length === 0 ? undefined : said.join(', ');
}

/** `42 % · 234 MiB of 1.2 GiB · 45 MiB/s · about 3 min left`: the progress of a running job. */
export function progressWords({ progress }: Pick<AnyJob, 'progress'>): string {
  const { percent, bytes_done: done, bytes_total: total } = progress;
  const { rate_bytes_per_second: rate, eta_seconds: eta } = progress;
  const counted = formatBytes(done);
  const parts =
    percent === null
      ? [t.jobs.counting, ...(done > 0 ? [counted] : [])]
      : [formatPercent(percent / 100), ...(total > 0 ? [t.jobs.doneOf(counted, formatBytes(total))] : [])];
  if (rate > 0) parts.push(t.jobs.rate(formatBytes(rate)));
  if (eta !== null) parts.push(t.jobs.left(formatDuration(eta)));
  return parts.join(' · ');
}

function filesWords(count: number): string {
  return t.common.files(count, formatCount(count));
}

/** What the code of an error or of a file's problem means, and what to do; undefined for codes without a text. */
export function explained(code: string, type: AnyJob['type']): string | undefined {
  return t.problems[`${type}.${code}`] ?? t.problems[code];
}
