/** Running and waiting jobs as they now are: those of the overview, and what events have told since. */
import { useState } from 'preact/hooks';
import type { AnyJob } from '../../api/schemas/page/jobs.ts';
import { type AgentEvent, useEvents } from './events.ts';
import { useOverview } from './overview.ts';

export type LiveJobs = ReadonlyMap<string, AnyJob>;

export function isOver({ status }: Pick<AnyJob, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'canceled';
}

/** What is known of jobs that events told of; those that ended stay until the overview no longer has them as active. */
export function heard(live: LiveJobs, { job }: AgentEvent): LiveJobs {
  return job === null ? live : new Map(live).set(job.id, job);
}

/** `told`: what the overview has. An event of a job is newer than that, unless both say the same. */
export function activeJobs(told: readonly AnyJob[], live: LiveJobs): readonly AnyJob[] {
  const known = new Set(told.map(({ id }) => id));
  const newer = told.map((job) => live.get(job.id) ?? job);
  const others = [...live.values()].filter(({ id }) => !known.has(id));
  return [...newer, ...others].filter((job) => !isOver(job)).toSorted(byTurn);
}

/** Those that run first, then those that wait, each the oldest first. */
function byTurn(a: AnyJob, b: AnyJob): number {
  const turn = ({ status }: AnyJob): number => (status === 'running' ? 0 : 1);
  return turn(a) - turn(b) || (a.created_at < b.created_at ? -1 : 1);
}

/** A new overview knows of all that was told before it; what is over and not in it may be forgotten. */
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
