/** The title of a job, with what it is about: `Backup /home/ana`. */
import type { JSX } from 'preact';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import { Path } from '../../components/own-text.tsx';
import { t } from '../../language/language.ts';
import { Place } from '../../parts/place.tsx';
import { subjectOf } from './job-words.ts';

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
