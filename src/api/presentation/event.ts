/** Builds the `data` of a server-sent event. */
import type { AgentEvent } from '../../jobs/agent.ts';
import type { Job } from '../../jobs/job.ts';
import { type AnyJob, presentJob } from './any-job.ts';
import { timestamp } from './time.ts';

export interface EventData {
  readonly type: AgentEvent['kind'];
  readonly at: string;
  /** The job in its current state, which may be later than the event. */
  readonly job: AnyJob | null;
  /** Empty for events about jobs, since `job` has everything there is to say. */
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
