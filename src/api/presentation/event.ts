/** The `data` of a server-sent event. */
import type { AgentEvent } from '../../jobs/agent.ts';
import type { Job } from '../../jobs/job.ts';
import { type AnyJob, presentJob } from './any-job.ts';
import { timestamp } from './time.ts';

export interface EventData {
  readonly type: AgentEvent['kind'];
  readonly at: string;
  /** As it is now, which may be later than the event. */
  readonly job: AnyJob | null;
  /** Empty for jobs: all that there is to say is in `job`. */
  readonly data: Readonly<Record<string, unknown>>;
}

export function presentEvent(
  kind: AgentEvent['kind'],
  at: number,
  job: Job | undefined,
  data: Readonly<Record<string, unknown>>,
  now: number,
): EventData {
  return {
    type: kind,
    at: timestamp(at),
    job: job === undefined ? null : presentJob(job, now),
    data: kind.startsWith('job.') ? {} : data,
  };
}
