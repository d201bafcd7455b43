/** The notice about a job that has begun or ended. */
import { holdfast } from '../base/holdfast-command.ts';
import { formatBytes, formatDuration } from '../base/units.ts';
import type { Job, JobSpec } from '../jobs/job.ts';
import type { NoticeFacts, NoticeKind } from './notice.ts';

/** The same as on the command line. */
const EXIT_STATUS = { done: 0, failed: 1, warning: 3 } as const;

/** Null when there is nothing to report: waiting or canceled jobs, dry runs, and maintenance that went well. */
export function noticeOfJob(job: Job, host: string, log: readonly string[]): NoticeFacts | null {
  const kind = kindOf(job);
  if (kind === null || isDryRun(job)) return null;
  return {
    kind,
    host,
    source: sourceOf(job.spec),
    destination: job.spec.destination,
    job: {
      id: job.id,
      durationMs: job.finished_at === null ? null : job.duration_ms,
      exitStatus: exitStatusOf(job),
      errorCode: job.error?.code ?? null,
    },
    text: textOf(job, kind),
    log,
  };
}

/** A dry run stores or restores nothing, whatever its result. */
export function isDryRun({ spec }: Pick<Job, 'spec'>): boolean {
  return (spec.type === 'backup' || spec.type === 'restore') && spec.options.dry_run;
}

function kindOf({ type, status, result }: Job): NoticeKind | null {
  if (status === 'failed') return `${type}.failed`;
  if (status === 'running') return type === 'backup' ? 'backup.started' : null;
  if (status !== 'completed') return null;
  if (type === 'backup') return result === 'warning' ? 'backup.warning' : 'backup.completed';
  return type === 'restore' ? 'restore.completed' : null;
}

function exitStatusOf({ status, result }: Job): number | null {
  if (status === 'failed') return EXIT_STATUS.failed;
  if (status !== 'completed') return null;
  return result === 'warning' ? EXIT_STATUS.warning : EXIT_STATUS.done;
}

function sourceOf(spec: JobSpec): string | null {
  return spec.type === 'backup' ? spec.source : null;
}

/** Their errors say what is damaged, and not what that means for the backups. */
const WITH_ADVICE: ReadonlySet<NoticeKind> = new Set(['check.failed', 'drill.failed']);

const advice = (): string =>
  `To see what that means for your backups, and what to do, run: ${holdfast`status`}`;

function textOf(job: Job, kind: NoticeKind): string {
  if (job.error !== null)
    return WITH_ADVICE.has(kind) ? `${job.error.message} ${advice()}` : job.error.message;
  if (kind === 'backup.started') return 'The backup has started.';
  const files = job.files_done === 1 ? '1 file' : `${job.files_done} files`;
  const done = `${files}, ${formatBytes(job.size_bytes)}, in ${formatDuration(job.duration_ms)}.`;
  if (job.warnings_count === 0) return done;
  const first = job.problems.slice(0, 10).map(({ path, message }) => `${path}: ${message}`);
  const many = job.warnings_count === 1 ? '1 warning:' : `${job.warnings_count} warnings. The first ones:`;
  return `${done} ${many}\n${first.join('\n')}`;
}
