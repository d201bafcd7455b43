/** Shows how far a running job is: its phase, bytes, rate, time left, and the current file. */
import type { ComponentChildren, JSX } from 'preact';
import type { JobFields } from '../../api/schemas/job.ts';
import type { AnyJob } from '../../api/schemas/page/jobs.ts';
import { ask } from '../agent/ask.ts';
import { useAction } from '../agent/use-asked.ts';
import { Button } from '../components/button.tsx';
import { Filled, Own, Path, visible } from '../components/own-text.tsx';
import { Problem } from '../components/problem.tsx';
import { formatBytes, formatDuration, formatPercent, formatTime } from '../language/format.ts';
import { t } from '../language/language.ts';
import { Place, useShownName } from './place.tsx';
import { hrefOf } from './route.ts';

function nameOf(job: AnyJob): string {
  const { names } = t.parts.job;
  if (job.type === 'backup' && job.options.dry_run) return names.dryRun;
  if (job.type === 'restore' && job.options.dry_run) return names.restoreDryRun;
  return names[job.type];
}

/** `Backup of /home/me to nas`; other jobs are about a destination alone. */
function JobName({ job }: { readonly job: AnyJob }): JSX.Element {
  const place = <Place name={job.destination} />;
  const text = nameOf(job);
  if (job.type !== 'backup') return <Filled text={text} parts={[place]} />;
  return <Filled text={text} parts={[<Path key="source">{job.source}</Path>, place]} />;
}

/** The same as plain text, for the name of a button. `place`: the destination as shown. */
function jobName(job: AnyJob, place: string): string {
  const text = nameOf(job);
  if (job.type !== 'backup') return text.replace('{}', () => place);
  return text.replace('{}', () => visible(job.source)).replace(/\{\}(?!.*\{\})/s, () => place);
}

function phaseOf({ status, phase }: Pick<AnyJob, 'status' | 'phase'>): string {
  if (status === 'queued') return t.parts.job.waiting;
  return phase === null ? t.parts.job.starting : t.parts.job.phases[phase];
}

/** Bytes, rate and time left, as far as they are known. */
function progressFacts({ status, progress }: Pick<AnyJob, 'status' | 'progress'>): readonly string[] {
  if (status !== 'running') return [];
  const { bytes_done: done, bytes_total: total, rate_bytes_per_second: rate, eta_seconds: eta } = progress;
  const facts: string[] = [];
  if (progress.percent === null) {
    if (done > 0) facts.push(formatBytes(done));
    facts.push(t.parts.job.estimating);
  } else {
    facts.push(t.parts.job.bytes(formatBytes(done), formatBytes(Math.max(done, total))));
  }
  if (rate > 0) facts.push(t.parts.job.rate(formatBytes(rate)));
  if (progress.percent !== null && eta !== null) facts.push(t.parts.job.left(formatDuration(eta)));
  return facts;
}

/** The percentage of a running job: never 100, as it is not over. */
function percentOf({ progress: { percent } }: Pick<AnyJob, 'progress'>): number | null {
  return percent === null ? null : Math.min(99, Math.floor(percent));
}

export function JobProgress({
  job,
  children,
}: {
  readonly job: AnyJob;
  /** Shown beside the cancel button. */
  readonly children?: ComponentChildren;
}): JSX.Element {
  const cancel = useAction(async () => {
    await ask('POST', `/jobs/${encodeURIComponent(job.id)}/cancel`);
  });
  const { current_path: current } = job.progress;
  const percent = percentOf(job);
  const shownName = useShownName();
  const name = jobName(job, shownName(job.destination));
  return (
    <div class="progress-box">
      <div class="progress-head">
        <a href={hrefOf(['jobs', job.id])}>
          <JobName job={job} />
        </a>
        <div class="head-actions">
          {children}
          <Button
            type="button"
            look="plain"
            disabled={cancel.isBusy}
            aria-label={t.parts.job.cancel(name)}
            onClick={() => void cancel.run()}
          >
            {t.common.cancel}
          </Button>
        </div>
      </div>
      {job.status === 'running' ? (
        <progress
          aria-label={name}
          aria-valuetext={percent === null ? t.parts.job.estimating : formatPercent(percent / 100)}
          max={100}
          {...(percent === null ? {} : { value: percent })}
        />
      ) : null}
      <p class="progress-facts">
        <span>
          <span role="status">{phaseOf(job)}</span>
          {percent !== null && job.status === 'running' ? ` ${formatPercent(percent / 100)}` : null}
        </span>
        {progressFacts(job).map((fact, index) => (
          <span key={index}>{fact}</span>
        ))}
        {job.waiting_for === null ? null : (
          <span>
            <Own>{waitingWords(job)}</Own>
          </span>
        )}
      </p>
      {job.status === 'running' && current !== null ? (
        <p class="progress-file quiet small-text">
          <Path>{current}</Path>
        </p>
      ) : null}
      <Problem error={cancel.problem} />
    </div>
  );
}

/** Why a job waits: in the reader's language if the code is known, else in the agent's words. */
export function waitingWords({ waits, waiting_for: said }: Pick<JobFields, 'waits' | 'waiting_for'>): string {
  return (waits === null ? undefined : wordsOf(waits)) ?? said ?? '';
}

function wordsOf({ code, params }: NonNullable<JobFields['waits']>): string | undefined {
  const { plainWaits, waits } = t.parts.job;
  if (Object.hasOwn(plainWaits, code)) return plainWaits[code as keyof typeof plainWaits];
  const whom = whomOf(params['whom']);
  if (code === 'quiet_hours' && typeof params['until'] === 'string') return waits.quiet(params['until']);
  if (code === 'paused')
    return waits.paused(typeof params['until'] === 'string' ? formatTime(params['until']) : null);
  const { again_in_seconds: again, silent_seconds: silent, because } = params;
  if (code === 'asked_again' && params['whom'] === 'other_session' && typeof again === 'number')
    return waits.session(inWords(again));
  if (code === 'asked_again' && whom !== undefined && typeof again === 'number')
    return waits.again(whom, typeof because === 'string' ? because : '', inWords(again));
  if (code === 'no_answer' && whom !== undefined && typeof silent === 'number')
    return waits.silent(whom, inWords(silent));
  return undefined;
}

function whomOf(code: unknown): string | undefined {
  const { whom } = t.parts.job;
  return typeof code === 'string' && Object.hasOwn(whom, code) ? whom[code as keyof typeof whom] : undefined;
}

function inWords(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
