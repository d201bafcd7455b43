/** What every page knows about the agent, and its active jobs. It is fetched once, and again when an event says that it has changed. */
import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { AnyJob } from '../../api/schemas/page/jobs.ts';
import type { Overview } from '../../api/schemas/page/overview.ts';
import { ask } from './ask.ts';
import { type AgentEvent, useEvents } from './events.ts';
import { type Asked, useAsked } from './use-asked.ts';

const OverviewContext = createContext<Asked<Overview> | undefined>(undefined);
export const OverviewProvider = OverviewContext.Provider;

/** For pages below the frame, which shows them only once the overview has loaded. */
export function useOverview(): Overview {
  const data = useContext(OverviewContext)?.data;
  if (data === undefined) throw new Error('a page is shown before the overview is there');
  return data;
}

/** Whether the agent has not answered, so that what is known of it may no longer be so. */
export function useIsUnanswered(): boolean {
  return useContext(OverviewContext)?.problem?.code === 'OFFLINE';
}

/** The destinations of the overview; empty until it has loaded. */
export function useKnownDestinations(): Overview['destinations'] {
  return useContext(OverviewContext)?.data?.destinations ?? [];
}

/** Fetches the overview again, after a change of which no event tells. */
export function useOverviewAgain(): () => void {
  const asked = useContext(OverviewContext);
  return asked?.again ?? (() => undefined);
}

/** Milliseconds between two requests: while events come, and without events, since ages grow. */
const BUSY_MS = 1_000;
const CALM_MS = 30_000;

export function useAskedOverview(): Asked<Overview> {
  const asked = useAsked((signal) => ask<Overview>('GET', '/overview', { signal }), []);
  const waiting = useRef<number | undefined>(undefined);
  const [, setTick] = useState(0);
  const later = (ms: number): void => {
    waiting.current ??= window.setTimeout(() => {
      waiting.current = undefined;
      setTick((before) => before + 1);
      asked.again();
    }, ms);
  };
  useEvents(({ kind }) => {
    // Progress events are followed by the components that show them.
    if (kind !== 'job.updated') later(BUSY_MS);
  });
  useEffect(() => {
    const timer = setInterval(() => later(0), CALM_MS);
    return () => {
      clearInterval(timer);
      clearTimeout(waiting.current);
    };
  }, []);
  return asked;
}

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

/** Running and waiting jobs in their current state: those of the overview, updated by events. */
export function useActiveJobs(): readonly AnyJob[] {
  const { active } = useOverview();
  const [live, setLive] = useState<LiveJobs>(new Map());
  useEvents((event) => setLive((before) => remembered(heard(before, event), active)));
  return activeJobs(active, live);
}
