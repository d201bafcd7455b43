/** One job of the list. */
import type { JSX } from 'preact';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import { Own } from '../../components/own-text.tsx';
import { Place } from '../../parts/place.tsx';
import { Tag } from '../../components/tag.tsx';
import { formatAge, formatDuration } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { waitingWords } from '../../parts/waiting-words.ts';
import { hrefOf } from '../../parts/route.ts';
import { JobProgress } from './job-progress.tsx';
import { JobTitle } from './job-title.tsx';
import { explained, stateWords, volumeWords } from './job-words.ts';

export function JobRow({ job }: { readonly job: AnyJob }): JSX.Element {
  const { word, look } = stateWords(job);
  const facts = [
    formatAge(job.finished_at ?? job.started_at ?? job.created_at),
    t.jobs.triggers[job.trigger],
    ...(job.duration_seconds === 0 ? [] : [t.jobs.took(formatDuration(job.duration_seconds))]),
  ];
  return (
    <li class="job-row">
      <div class="job-head">
        <a href={hrefOf(['jobs', job.id])}>
          <JobTitle job={job} />
        </a>
        <Tag look={look}>{word}</Tag>
      </div>
      <p class="quiet small-text">
        {job.type === 'backup' || job.type === 'restore' ? (
          <>
            {job.type === 'backup' ? t.jobs.to : t.jobs.from} <Place name={job.destination} />
            {' · '}
          </>
        ) : null}
        {facts.join(' · ')}
      </p>
      {job.status === 'running' ? <JobProgress job={job} /> : <Outcome job={job} />}
    </li>
  );
}

/** Why the job waits or failed, or its result. */
function Outcome({ job }: { readonly job: AnyJob }): JSX.Element | null {
  const { status, error, waiting_for: reason } = job;
  if (status === 'queued')
    return reason === null ? null : (
      <p class="small-text">
        <Own>{waitingWords(job)}</Own>
      </p>
    );
  if (status === 'failed' && error !== null)
    return <p class="small-text">{explained(error.code, job.type) ?? <Own>{error.message}</Own>}</p>;
  const volume = volumeWords(job);
  return volume === undefined ? null : <p class="small-text">{volume}</p>;
}
