/** Shows how far a running job is. */
import type { JSX } from 'preact';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import { Path } from '../../components/own-text.tsx';
import { t } from '../../language/language.ts';
import { Own } from '../../components/own-text.tsx';
import { waitingWords } from '../../parts/waiting-words.ts';
import { progressWords } from './job-words.ts';

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
