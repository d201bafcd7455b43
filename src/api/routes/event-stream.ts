/** Events of the agent as lines of a server-sent event stream. */
import type { Clock } from '../../base/clock.ts';
import { isAbort } from '../../base/errors.ts';
import type { Agent, AgentEvent } from '../../jobs/agent.ts';
import type { Job } from '../../jobs/job.ts';
import { createEventPace } from './event-pace.ts';
import { presentEvent } from '../presentation/event.ts';

/** Milliseconds between two comments that keep the connection open. */
export const PING_MS = 15_000;
/** Milliseconds after which a client that lost the connection comes back. */
const RETRY_MS = 3_000;
/** Milliseconds without an event after which all that is kept about an ended job has been sent. */
const REPLAYED_MS = 500;

export interface StreamOptions {
  readonly agent: Pick<Agent, 'events' | 'job'>;
  readonly clock: Clock;
  /** Id of the last event that the client has. */
  readonly after: number | undefined;
  /** Only about this job, until it has ended. */
  readonly jobId: string | undefined;
  /** Whether whoever follows may still do so: asked before each event. */
  readonly admits: () => boolean;
}

/**
 * The lines of the stream, until the signal aborts. Progress is thinned out. An event that is sent after a later one, or
 * only says how a job is now, has no id: a client that resumes misses nothing. Ends with the right to follow, too.
 */
export async function* eventStream(options: StreamOptions, signal: AbortSignal): AsyncGenerator<string> {
  if (signal.aborted) return;
  const over = new AbortController();
  const end = (): void => over.abort();
  signal.addEventListener('abort', end, { once: true });
  try {
    for await (const line of follow(options, over.signal)) {
      if (!options.admits()) return;
      yield line;
    }
  } catch (error) {
    if (!over.signal.aborted || !isAbort(error)) throw error;
  } finally {
    signal.removeEventListener('abort', end);
    over.abort();
  }
}

async function* follow(options: StreamOptions, signal: AbortSignal): AsyncGenerator<string> {
  const { agent, clock, after, jobId } = options;
  const subject = (): Job | undefined => (jobId === undefined ? undefined : agent.job(jobId));
  const events = agent.events(after, jobId, signal)[Symbol.asyncIterator]();
  // Asked for before the job is looked at: whatever changes after that look is an event.
  let next = ask(events);
  yield `retry: ${RETRY_MS}\n\n`;
  const job = subject();
  // One that ended is told of by the events that the client has missed, if it names the last that it has.
  if (job !== undefined && (after === undefined || !hasEnded(job))) {
    yield stateNow(job, clock);
    if (hasEnded(job)) return;
  }

  const opened = clock.now();
  const pace = createEventPace(clock);
  let lastId = after ?? 0;
  let isFirst = true;
  let pingAt = clock.monotonic() + PING_MS;
  for (;;) {
    const ended = endedJob(subject());
    const quietMs = ended === undefined ? Number.POSITIVE_INFINITY : REPLAYED_MS;
    const turn = await withinMs(
      next,
      Math.min(pingAt - clock.monotonic(), pace.waitMs(), quietMs),
      clock,
      signal,
    );
    if (turn !== 'time') {
      if (turn.done === true) return;
      const event = turn.value;
      next = ask(events);
      // Ids were counted anew since the client got its own.
      if (isFirst && event.id <= lastId) lastId = 0;
      isFirst = false;
      const about = event.jobId === null ? undefined : agent.job(event.jobId);
      // What happened before the stream was opened is not progress any more, and comes at once.
      const progress = event.kind === 'job.updated' && about?.status === 'running' && event.at >= opened;
      if (progress && !pace.admits(event)) continue;
      if (about !== undefined) pace.forget(event.jobId);
      yield eventLines(event, event.id > lastId, about, clock);
      lastId = Math.max(lastId, event.id);
      if (event.kind === 'job.finished' && jobId !== undefined) return;
      continue;
    }
    const held = pace.release();
    if (held !== undefined) {
      yield eventLines(held, held.id > lastId, agent.job(held.jobId ?? ''), clock);
      lastId = Math.max(lastId, held.id);
    } else if (ended !== undefined) {
      yield stateNow(ended, clock);
      return;
    } else if (clock.monotonic() >= pingAt) {
      yield ': ping\n\n';
      pingAt = clock.monotonic() + PING_MS;
    }
  }
}

type NextEvent = Promise<IteratorResult<AgentEvent, unknown>>;

function ask(events: AsyncIterator<AgentEvent, unknown>): NextEvent {
  const next = events.next();
  // It is awaited below, unless the stream has ended by then: nobody is left to be told that it failed.
  next.catch(() => undefined);
  return next;
}

/** What `next` gives within `ms`, or `time`. */
async function withinMs(
  next: NextEvent,
  ms: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<IteratorResult<AgentEvent, unknown> | 'time'> {
  const timer = new AbortController();
  const stop = (): void => timer.abort();
  signal.addEventListener('abort', stop, { once: true });
  const time = async (): Promise<'time'> => {
    try {
      await clock.sleep(Math.max(0, ms), timer.signal);
    } catch (error) {
      if (!timer.signal.aborted) throw error;
    }
    return 'time';
  };
  try {
    signal.throwIfAborted();
    const turn = await Promise.race([next, time()]);
    signal.throwIfAborted();
    return turn;
  } finally {
    signal.removeEventListener('abort', stop);
    timer.abort();
  }
}

function hasEnded(job: Job): boolean {
  return job.status !== 'queued' && job.status !== 'running';
}

function endedJob(job: Job | undefined): Job | undefined {
  return job !== undefined && hasEnded(job) ? job : undefined;
}

function stateNow(job: Job, clock: Clock): string {
  const now = clock.now();
  const kind = hasEnded(job) ? 'job.finished' : 'job.updated';
  return lines(undefined, kind, presentEvent(kind, now, job, {}, now));
}

function eventLines(event: AgentEvent, withId: boolean, job: Job | undefined, clock: Clock): string {
  const data = presentEvent(event.kind, event.at, job, event.data, clock.now());
  return lines(withId ? event.id : undefined, event.kind, data);
}

function lines(id: number | undefined, kind: string, data: unknown): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
}
