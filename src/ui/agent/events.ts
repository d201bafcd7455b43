/** Events that the agent sends. There is one connection for the whole page while any component listens. */
import { useEffect, useRef } from 'preact/hooks';
import type { AnyJob } from '../../api/schemas/page/jobs.ts';
import { addressOf } from './ask.ts';

const EVENT_KINDS = ['job.created', 'job.updated', 'job.finished', 'alarm', 'config', 'status'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

export interface AgentEvent {
  readonly kind: EventKind;
  /** The job that the event is about, in its new state; null for other events. */
  readonly job: AnyJob | null;
}

type Listener = (event: AgentEvent) => void;

const listeners = new Set<Listener>();
let source: EventSource | undefined;

function tell(event: AgentEvent): void {
  for (const heard of listeners) heard(event);
}

function connect(): void {
  source = new EventSource(addressOf('/events'));
  // The agent is away, or back again: what it said may be true no longer. The browser connects again by itself.
  let isLost = false;
  source.addEventListener('error', () => {
    isLost = true;
    tell({ kind: 'status', job: null });
  });
  source.addEventListener('open', () => {
    if (isLost) tell({ kind: 'status', job: null });
    isLost = false;
  });
  for (const kind of EVENT_KINDS) {
    source.addEventListener(kind, ({ data }: MessageEvent<string>) => {
      const told = JSON.parse(data) as { readonly job?: AnyJob | null };
      tell({ kind, job: told.job ?? null });
    });
  }
}

/** Calls `heard` for each event while the component is shown. */
export function useEvents(heard: Listener): void {
  const latest = useRef(heard);
  latest.current = heard;
  useEffect(() => {
    const listener: Listener = (event) => latest.current(event);
    listeners.add(listener);
    if (source === undefined) connect();
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      source?.close();
      source = undefined;
    };
  }, []);
}
