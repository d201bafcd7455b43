/** Running and waiting jobs, as they go on. */
import type { JSX } from 'preact';
import { useActiveJobs } from '../../agent/active-jobs.ts';
import { Card } from '../../components/card.tsx';
import { t } from '../../language/language.ts';
import { JobProgress } from '../../parts/job-progress.tsx';

export function ActiveCard(): JSX.Element | null {
  const jobs = useActiveJobs();
  if (jobs.length === 0) return null;
  return (
    <Card title={t.overview.activeTitle}>
      <ul class="divided">
        {jobs.map((job) => (
          <li key={job.id}>
            <JobProgress job={job} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
