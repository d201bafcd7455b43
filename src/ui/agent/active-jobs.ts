/** Running and waiting jobs in their current state: those of the overview, updated by events. */
import { useState } from 'preact/hooks';
import type { AnyJob } from '../../api/schemas/page/jobs.ts';
import { type AgentEvent, useEvents } from './events.ts';
import { useOverview } from './overview.ts';

export type LiveJobs = ReadonlyMap<string, AnyJob>;

export function isOver({ status }: Pick<AnyJob, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'canceled';
}

/** Adds the job of an event. Jobs that ended are kept until the overview no longer lists them as active. */
export function heard(live: LiveJobs, { job }: AgentEvent): LiveJobs {
  return job === null ? live : new Map(live).set(job.id, job);
}

/** The active jobs. `told` are those of the overview; an event's state of a job is newer than that. */
export function activeJobs(told: readonly AnyJob[], live: LiveJobs): readonly AnyJob[] {
  const known = new Set(told.map(({ id }) => id));
  const newer = told.map((job) => live.get(job.id) ?? job);
  const others = [...live.values()].filter(({ id }) => !known.has(id));
  return [...newer, ...others].filter((job) => !isOver(job)).toSorted(byTurn);
}

/** Running jobs come first, then waiting ones, each the oldest first. */
function byTurn(a: AnyJob, b: AnyJob): number {
  const turn = ({ status }: AnyJob): number => (status === 'running' ? 0 : 1);
  return turn(a) - turn(b) || (a.created_at < b.created_at ? -1 : 1);
}

/** A new overview includes all earlier events, so jobs that are over and not in it can be forgotten. */
export function remembered(live: LiveJobs, told: readonly AnyJob[]): LiveJobs {
  const active = new Set(told.map(({ id }) => id));
  const kept = [...live].filter(([id, job]) => active.has(id) || !isOver(job));
  return kept.length === live.size ? live : new Map(kept);
}

export function useActiveJobs(): readonly AnyJob[] {
  const { active } = useOverview();
  const [live, setLive] = useState<LiveJobs>(new Map());
  useEvents((event) => setLive((before) => remembered(heard(before, event), active)));
  return activeJobs(active, live);
}
