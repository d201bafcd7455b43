/** Shows one job: how it goes or went, why, and what to do about it. */
import type { ComponentChildren, JSX } from 'preact';
import { holdfast, shellWord } from '../../agent/program.ts';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import { Card, PageHead } from '../../components/card.tsx';
import { Command, CopyButton } from '../../components/command.tsx';
import { LogLines } from '../../components/log-lines.tsx';
import { Own } from '../../components/own-text.tsx';
import { Place } from '../../parts/place.tsx';
import { storedByText } from '../../parts/stored-by.tsx';
import { errorWords, Problem } from '../../components/problem.tsx';
import { Facts } from '../../components/table.tsx';
import { Notice, Tag } from '../../components/tag.tsx';
import { formatCount, formatDuration, formatMoment } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { waitingWords } from '../../parts/job-progress.tsx';
import { hrefOf } from '../../parts/route.ts';
import { JobActions } from './job-actions.tsx';
import { JobProblems } from './job-problems.tsx';
import { JobProgress, JobTitle } from './job-row.tsx';
import { changeWords, isOver, stateWords, volumeWords } from './job-words.ts';
import { useState } from 'preact/hooks';
import type { JobLog } from '../../../api/schemas/job.ts';
import { ask, type AskError } from '../../agent/ask.ts';
import { useEvents } from '../../agent/events.ts';
import { useAsked } from '../../agent/use-asked.ts';

export function JobDetail({ id }: { readonly id: string }): JSX.Element {
  const { job, log, problem, tell } = useJob(id);
  const back = (
    <a class="back" href={hrefOf(['jobs'])}>
      {t.jobs.back}
    </a>
  );
  if (job === undefined)
    return (
      <>
        {back}
        <PageHead title={t.jobs.one} />
        {problem === undefined ? <p class="quiet">{t.common.loading}</p> : <Problem error={problem} />}
      </>
    );
  return (
    <>
      {back}
      <PageHead title={<JobTitle job={job} />} />
      <Problem error={problem} />
      <State job={job} onTold={tell} />
      <JobProblems job={job} problems={log?.problems ?? []} />
      <Card title={t.common.details}>
        <Facts rows={factsOf(job)} />
      </Card>
      {log === undefined ? null : (
        <Card title={t.jobs.log}>
          {log.lines.length === 0 ? <p class="quiet">{t.jobs.logEmpty}</p> : null}
          {log.lines.length === 0 ? null : <LogLines lines={log.lines} label={t.jobs.log} />}
        </Card>
      )}
      <Command lines={commandsOf(job)} />
    </>
  );
}

function State({
  job,
  onTold,
}: {
  readonly job: AnyJob;
  readonly onTold: (job: AnyJob) => void;
}): JSX.Element {
  const { word, look } = stateWords(job);
  const { waiting_for: reason, phase, error } = job;
  const volume = volumeWords(job);
  const changes = changeWords(job);
  return (
    <Card label={t.jobs.state}>
      <p class="job-state" role="status">
        <Tag look={look}>{word}</Tag>
        {job.status === 'running' && phase !== null ? <span>{t.jobs.phases[phase]}</span> : null}
        {job.attempt > 1 ? <span class="quiet">{t.jobs.attempt(formatCount(job.attempt))}</span> : null}
      </p>
      {job.status === 'queued' && reason !== null ? (
        <p>
          <Own>{waitingWords(job)}</Own>
        </p>
      ) : null}
      {job.status === 'running' ? <JobProgress job={job} /> : null}
      {error === null ? null : <Failure job={job} error={error} />}
      {volume === undefined ? null : <p>{volume}</p>}
      {changes === undefined ? null : <p class="quiet">{changes}</p>}
      <JobActions job={job} onTold={onTold} />
    </Card>
  );
}

/** Why the job failed; for a job that waits to try again, what went wrong the last time. */
function Failure({
  job,
  error,
}: {
  readonly job: AnyJob;
  readonly error: NonNullable<AnyJob['error']>;
}): JSX.Element {
  const { code, message } = error;
  const said = errorWords(error, job.type);
  return (
    <Notice look={job.status === 'failed' ? 'bad' : 'warning'}>
      <div>
        {said === undefined ? null : <p>{said}</p>}
        <p class={said === undefined ? undefined : 'small-text'}>
          {said === undefined ? null : <>{t.jobs.agentSays} </>}
          <Own>{message}</Own> <span class="quiet">({code})</span>
        </p>
      </div>
    </Notice>
  );
}

function factsOf(job: AnyJob): readonly (readonly [ComponentChildren, ComponentChildren])[] {
  const time = (at: string): ComponentChildren => <time dateTime={at}>{formatMoment(at)}</time>;
  return [
    [t.jobs.destination, <Place key="destination" name={job.destination} />],
    [t.jobs.trigger, t.jobs.triggers[job.trigger]],
    [t.jobs.asked, time(job.created_at)],
    ...(job.started_at === null ? [] : [[t.jobs.started, time(job.started_at)] as const]),
    ...(job.finished_at === null ? [] : [[t.jobs.finished, time(job.finished_at)] as const]),
    ...(job.started_at === null ? [] : [[t.jobs.duration, formatDuration(job.duration_seconds)] as const]),
    ...(job.type === 'backup' && job.options.tags.length > 0
      ? [[t.jobs.tags, <Own key="tags">{job.options.tags.join(', ')}</Own>] as const]
      : []),
    ...('snapshot_id' in job && job.snapshot_id !== null
      ? [[t.jobs.snapshot, <Id key="s" id={job.snapshot_id} label={t.jobs.copySnapshot} />] as const]
      : []),
    ...(job.type === 'restore' && job.stored_by !== null && job.stored_by.write_only_key !== null
      ? [[t.jobs.storedBy, storedByText(job.stored_by)] as const]
      : []),
    [t.jobs.id, <Id key="id" id={job.id} label={t.jobs.copyId} />],
  ];
}

function Id({ id, label }: { readonly id: string; readonly label: string }): JSX.Element {
  return (
    <span class="copied-id">
      <code>{id}</code> <CopyButton text={id} label={label} />
    </span>
  );
}

function commandsOf(job: AnyJob): readonly string[] {
  const id = shellWord(job.id);
  const show = holdfast`jobs ${id}`;
  if (!isOver(job)) return [show, holdfast`cancel ${id}`];
  if (job.type !== 'backup') return [show];
  const body = JSON.stringify({ source: job.source, destination: job.destination });
  return [
    show,
    `curl -X POST ${location.origin}/v1/backup -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d ${shellWord(body)}`,
  ];
}

/** One job with its log, both kept up to date. */
interface FollowedJob {
  readonly job: AnyJob | undefined;
  readonly log: JobLog | undefined;
  readonly problem: AskError | undefined;
  /** Takes over the state of the job that an action returned. */
  readonly tell: (job: AnyJob) => void;
}

/** For a component that is created anew for each id. */
function useJob(id: string): FollowedJob {
  const path = `/jobs/${encodeURIComponent(id)}`;
  const [told, setTold] = useState<AnyJob | undefined>(undefined);
  const asked = useAsked((signal) => ask<AnyJob>('GET', path, { signal }), [id]);
  const job = told ?? asked.data;
  useEvents((event) => {
    if (event.job?.id === id) setTold(event.job);
  });
  // The log grows when one of these changes.
  const log = useAsked(
    async (signal) => (job === undefined ? undefined : await ask<JobLog>('GET', `${path}/log`, { signal })),
    [id, job?.status, job?.phase, job?.attempt, job?.waiting_for, job?.warnings_count],
  );
  return { job, log: log.data, problem: asked.problem ?? log.problem, tell: setTold };
}
