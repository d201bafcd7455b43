/** How jobs are shown to people. */
import { formatBytes, formatDuration, localTime } from '../../base/units.ts';
import type { Job } from '../../jobs/job.ts';
import { renderTable, type Cell } from '../terminal/table.ts';
import { printable, type Styles } from '../terminal/terminal.ts';
import { count } from '../terminal/wording.ts';

/** Gives the name of a destination as shown to people. */
export type ShownName = (destination: string) => string;

export function jobsTable(
  jobs: readonly Job[],
  look: { readonly styles: Styles; readonly width: number | undefined; readonly shown: ShownName },
): string {
  const { styles, width, shown } = look;
  const rows = jobs.map((job): readonly Cell[] => [
    { text: job.id, style: styles.dim },
    job.type,
    { text: stateWords(job), style: stateStyle(job, styles) },
    localTime(job.created_at),
    job.started_at === null ? '' : formatDuration(job.duration_ms),
    subjectOf(job, shown),
    job.spec.type === 'backup' ? shown(job.spec.destination) : '',
  ]);
  const columns = [
    { title: 'Id', cut: 'never' as const },
    { title: 'Type' },
    { title: 'State' },
    { title: 'Requested' },
    { title: 'Took', align: 'right' as const },
    { title: 'Of', cut: 'middle' as const },
    { title: 'To' },
  ];
  return renderTable(columns, rows, { width, titleStyle: styles.bold });
}

/** `running, 42 %`, `completed with 3 warnings`, `failed`. Printable. */
export function stateWords(job: Job): string {
  const { status, progress } = job;
  if (status === 'queued')
    return job.waiting_for === null ? 'queued' : `waiting: ${printable(job.waiting_for.replace(/\.$/, ''))}`;
  if (status === 'running' && job.waiting_for !== null)
    return `running; ${printable(lowerFirst(job.waiting_for.replace(/\.$/, '')))}`;
  if (status === 'running') {
    return progress.percent === null
      ? `running (${job.phase ?? 'starting'})`
      : `running, ${Math.floor(progress.percent)} %`;
  }
  if (status === 'completed' && job.result === 'warning') {
    return `completed with ${count(job.warnings_count, 'warning')}`;
  }
  return status;
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

function stateStyle(job: Job, styles: Styles): (text: string) => string {
  if (job.status === 'failed') return styles.red;
  if (job.result === 'warning' || job.status === 'canceled') return styles.yellow;
  return job.status === 'completed' ? styles.green : styles.cyan;
}

function subjectOf({ spec }: Job, shown: ShownName): string {
  if (spec.type === 'backup') return spec.source;
  if (spec.type === 'restore') return spec.target ?? 'in place';
  return shown(spec.destination);
}

/** One job with all that is known about it. */
export function jobText(job: Job, styles: Styles, shown: ShownName): string {
  const lines = [
    `${styles.bold(job.id)}  ${job.type}, ${stateStyle(job, styles)(stateWords(job))}`,
    `  Of           ${printable(subjectOf(job, shown))}`,
    `  Destination  ${printable(shown(job.spec.destination))}`,
    `  Requested    ${localTime(job.created_at)} (${job.trigger})`,
  ];
  if (job.started_at !== null)
    lines.push(`  Took         ${formatDuration(job.duration_ms)}, attempt ${job.attempt}`);
  if (job.snapshot_id !== null) lines.push(`  Snapshot     ${job.snapshot_id}`);
  lines.push(`  Files        ${count(job.files_done, 'file')}, ${formatBytes(job.size_bytes)}`);
  if (job.progress.bytes_uploaded > 0)
    lines.push(`  Uploaded     ${formatBytes(job.progress.bytes_uploaded)}`);
  if (job.error !== null)
    lines.push(`  ${styles.red('Error')}        ${job.error.code}: ${printable(job.error.message)}`);
  for (const { path, code, message } of job.problems)
    lines.push(`  ${styles.yellow(printable(code))}  ${printable(path)}: ${printable(message)}`);
  return `${lines.join('\n')}\n`;
}

/** Where none is listed: none match, or there are none at all. @param status that was asked for; null for any */
export function noJobsText(status: Job['status'] | null): string {
  return status === null ? 'No jobs yet.' : 'No jobs match.';
}
