/** One job as a row of the list, and its parts: the title and how far it is. */
import type { JSX } from 'preact';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import { Own, Path } from '../../components/own-text.tsx';
import { errorWords } from '../../components/problem.tsx';
import { Tag } from '../../components/tag.tsx';
import { formatAge, formatDuration } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { waitingWords } from '../../parts/job-progress.tsx';
import { Place } from '../../parts/place.tsx';
import { hrefOf } from '../../parts/route.ts';
import { progressWords, stateWords, subjectOf, volumeWords } from './job-words.ts';

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
    return <p class="small-text">{errorWords(error, job.type) ?? <Own>{error.message}</Own>}</p>;
  const volume = volumeWords(job);
  return volume === undefined ? null : <p class="small-text">{volume}</p>;
}

/** The title of a job, with what it is about: `Backup /home/ana`. */
export function JobTitle({ job }: { readonly job: AnyJob }): JSX.Element {
  const subject = subjectOf(job);
  return (
    <>
      {t.jobs.types[job.type]}{' '}
      {subject === undefined ? (
        t.jobs.inPlace
      ) : job.type === 'backup' || job.type === 'restore' ? (
        <Path>{subject}</Path>
      ) : (
        <Place name={subject} />
      )}
    </>
  );
}

/** Shows how far a running job is. */
export function JobProgress({ job }: { readonly job: AnyJob }): JSX.Element {
  const { percent, current_path: path } = job.progress;
  return (
    <div class="job-progress">
      <progress
        aria-label={t.jobs.progress}
        max={100}
        // Without a value, the progress is shown as unknown.
        {...(percent === null ? {} : { value: percent })}
      />
      <p class="quiet small-text">{progressWords(job)}</p>
      {job.waiting_for === null ? null : (
        <p class="small-text" role="status">
          <Own>{waitingWords(job)}</Own>
        </p>
      )}
      {path === null ? null : (
        <p class="quiet small-text current-path">
          <Path>{path}</Path>
        </p>
      )}
    </div>
  );
}
