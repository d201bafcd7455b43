/** The events of the agent as the API shows them: with times in its form, and without what only the agent needs. */
import type { AgentEvent } from '../../jobs/agent.ts';
import type { Job } from '../../jobs/job.ts';
import { type AnyJob, presentJob } from './job.ts';
import { maybeTimestamp, shownDestination, timestamp } from './values.ts';

type Kind = AgentEvent['kind'];
type Data = Readonly<Record<string, unknown>>;

export interface EventData {
  readonly type: Kind;
  readonly at: string;
  /** The job in its current state, which may be later than the event. */
  readonly job: AnyJob | null;
  /** Empty for events about jobs, since `job` has everything there is to say. */
  readonly data: Data;
}

/** Builds the `data` of a server-sent event. */
export function presentEvent(
  kind: Kind,
  at: number,
  job: Job | undefined,
  data: Data,
  now: number,
): EventData {
  return {
    type: kind,
    at: timestamp(at),
    job: job === undefined ? null : presentJob(job, now),
    data: PRESENT[kind](data),
  };
}

const nothing = (): Data => ({});

const PRESENT: Readonly<Record<Kind, (data: Data) => Data>> = {
  'job.created': nothing,
  'job.updated': nothing,
  'job.finished': nothing,
  alarm: presentAlarm,
  config: ({ status, error }) => ({ status, error: error ?? null }),
  status: ({ paused, until }) => ({
    paused,
    paused_until: typeof until === 'number' ? timestamp(until) : null,
  }),
};

/** An alarm as the log of events keeps it; older versions did not note `before`. */
interface StoredAlarm {
  readonly id: string;
  readonly kind: string;
  readonly source: string;
  readonly at: number;
  readonly text: string;
  readonly facts: Data;
  readonly before?: { readonly snapshot: string; readonly destination: string } | null;
  readonly mended_at?: number;
}

function presentAlarm(data: Data): Data {
  const { id, kind, source, at, text, facts, before, mended_at } = data as unknown as StoredAlarm;
  return {
    id,
    kind,
    source,
    at: timestamp(at),
    text,
    facts,
    before:
      before == null
        ? null
        : { snapshot_id: before.snapshot, destination: shownDestination(before.destination) },
    mended_at: maybeTimestamp(mended_at ?? null),
  };
}
