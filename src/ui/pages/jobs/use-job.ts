/** One job with its log, as they now are. */
import { useState } from 'preact/hooks';
import type { JobLog } from '../../../api/schemas/job.ts';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import { ask, type AskError } from '../../agent/ask.ts';
import { useEvents } from '../../agent/events.ts';
import { useAsked } from '../../agent/use-asked.ts';

export interface FollowedJob {
  readonly job: AnyJob | undefined;
  readonly log: JobLog | undefined;
  readonly problem: AskError | undefined;
  /** Takes over what an action has told of the job. */
  readonly tell: (job: AnyJob) => void;
}

/** For a component that is made anew for another id. */
export function useJob(id: string): FollowedJob {
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
