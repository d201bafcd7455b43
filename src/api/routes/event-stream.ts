/** Renders the events of the agent as the lines of a server-sent event stream. */
import type { Clock } from '../../base/clock.ts';
import { isAbort } from '../../base/errors.ts';
import type { Agent, AgentEvent } from '../../jobs/agent.ts';
import type { Job } from '../../jobs/job.ts';
import { presentEvent } from '../presentation/event.ts';

/** Milliseconds between two comments that keep the connection open. */
export const PING_MS = 15_000;
/** Milliseconds after which a disconnected client reconnects. */
const RETRY_MS = 3_000;
/** Milliseconds without an event after which all stored events of an ended job have been sent. */
const REPLAYED_MS = 500;

export interface StreamOptions {
  readonly agent: Pick<Agent, 'events' | 'job'>;
  readonly clock: Clock;
  /** Id of the last event that the client received; undefined when it names none. */
  readonly after: number | undefined;
  /** Limits the stream to this job, until it has ended; undefined for all events. */
  readonly jobId: string | undefined;
  /** Whether the caller may still follow the stream; checked before each line. */
  readonly admits: () => boolean;
}

/**
 * The lines of the stream, until the signal aborts or `admits` returns false. Progress is thinned out. An event has no
 * id when it is sent after a later one, or only reports the current state of a job, so that a client that resumes
 * misses nothing.
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
  // Requested before the job is read, so that every change after that reading arrives as an event.
  let next = ask(events);
  yield `retry: ${RETRY_MS}\n\n`;
  const job = subject();
  // If the client names its last event, the events that it missed report the end of an ended job.
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
      // Event ids have restarted since the client received its last one.
      if (isFirst && event.id <= lastId) lastId = 0;
      isFirst = false;
      const about = event.jobId === null ? undefined : agent.job(event.jobId);
      // Events from before the stream was opened are not live progress, and are sent at once.
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
  // Awaited by the caller, unless the stream has ended by then. Nobody handles a failure in that case.
  next.catch(() => undefined);
  return next;
}

/** The result of `next` if it arrives within `ms`, otherwise `time`. */
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

/**
 * Milliseconds between two progress events. A little over half a second, so that two updates merge into one, but never
 * three.
 */
export const PROGRESS_MS = 550;

export interface EventPace {
  /** Whether the event may be sent at once. If not, it is held and replaces an earlier one of the same job. */
  admits(event: AgentEvent): boolean;
  /** Milliseconds until a held event may be sent; infinite when none is held. */
  waitMs(): number;
  /** Returns a held event that may be sent, and stops holding it. */
  release(): AgentEvent | undefined;
  /** Drops the held event of a job because a later event of that job is sent. */
  forget(jobId: string | null): void;
}

/** Thins out progress events: while they come too fast, only the latest of each job is held, until it may be sent. */
export function createEventPace(clock: Clock): EventPace {
  const held = new Map<string | null, AgentEvent>();
  let freeAt = 0;
  return {
    admits: (event) => {
      const now = clock.monotonic();
      if (now < freeAt || held.size > 0) {
        held.set(event.jobId, event);
        return false;
      }
      freeAt = now + PROGRESS_MS;
      return true;
    },
    waitMs: () => (held.size === 0 ? Number.POSITIVE_INFINITY : Math.max(0, freeAt - clock.monotonic())),
    release: () => {
      const [first] = held;
      const now = clock.monotonic();
      if (first === undefined || now < freeAt) return undefined;
      held.delete(first[0]);
      freeAt = now + PROGRESS_MS;
      return first[1];
    },
    forget: (jobId) => {
      held.delete(jobId);
    },
  };
}
