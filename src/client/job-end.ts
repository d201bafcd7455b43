/** Waits for the end of a job by following its events: one request an hour, and not one each second. */
import type { Backup, Check, Drill, Event, Prune, Restore } from '../../dist/client/desktop-api.d.ts';
import { follow } from './event-stream.ts';
import { HoldfastError } from './holdfast-error.ts';
import type { Connection } from './connection.ts';

/** A job as routes that start one answer it. */
export type Job = Backup | Restore | Check | Prune;

export interface WaitOptions<J extends Job> {
  /** Called with the job at each change, at most twice a second. */
  readonly onProgress?: ((job: J) => void) | undefined;
  /** Ends the waiting and not the job, which `POST …/cancel` does. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The completed job, of one or of a promise of one.
 * @throws {HoldfastError} with the code of the job when it failed, or `JOB_CANCELED`
 */
export async function endOf<J extends Job>(
  connection: Connection,
  started: J | Promise<J>,
  { onProgress, signal }: WaitOptions<J> = {},
): Promise<J> {
  const job = await started;
  requireJob(job);
  if (hasEnded(job)) return completed(job);
  for await (const { data } of follow(connection, `/${job.type}/{id}/events`, {
    path: { id: job.id },
    signal,
  })) {
    const { job: now } = JSON.parse(data) as Event;
    if (now === null || !isSame(now, job)) continue;
    if (hasEnded(now)) return completed(now);
    onProgress?.(now);
  }
  throw new Error('A stream is followed until the job has ended');
}

/** Whoever writes JavaScript can give anything: of what is no job no end would ever be heard. */
function requireJob(given: unknown): void {
  const { id, type, status } = (given ?? {}) as Partial<Job>;
  if (typeof id === 'string' && typeof type === 'string' && typeof status === 'string') return;
  throw new TypeError(
    'waitForJob was given something else than a job. Give it what post("/backup", …), or another request that starts a job, resolves with.',
  );
}

function isSame<J extends Job>(one: Job | Drill, other: J): one is J {
  return one.id === other.id;
}

function hasEnded({ status }: Job): boolean {
  return status !== 'queued' && status !== 'running';
}

function completed<J extends Job>(job: J): J {
  if (job.status === 'completed') return job;
  throw new HoldfastError(
    job.error ?? {
      code: 'JOB_CANCELED',
      message: `The ${job.type} was canceled. Start it again if you still want it.`,
    },
  );
}
