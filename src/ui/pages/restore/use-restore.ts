/** Follows a restore, and tries one without writing anything. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RestorePreview } from '../../../api/schemas/page/jobs.ts';
import type { Restore, RestoreRequest } from '../../../api/schemas/job.ts';
import { ask, type AskError } from '../../agent/ask.ts';
import { useEvents } from '../../agent/events.ts';
import { asAskError, useAsked } from '../../agent/use-asked.ts';

export function hasEnded({ status }: Pick<Restore, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}

export interface FollowedRestore {
  readonly job: Restore | undefined;
  readonly problem: AskError | undefined;
}

/** Milliseconds after which a job is fetched, in case its events do not arrive. */
const ASK_MS = 3_000;

/** A restore in its current state. Undefined `id`: there is none yet. */
export function useRestore(id: string | undefined): FollowedRestore {
  const [told, setTold] = useState<Restore | undefined>(undefined);
  const asked = useAsked(
    async (signal) =>
      id === undefined ? undefined : await ask<Restore>('GET', `/restore/${id}`, { signal }),
    [id],
  );
  useEvents(({ job }) => {
    if (job?.type === 'restore' && job.id === id) setTold(job);
  });
  const known = [told, asked.data].filter((one) => one?.id === id && one !== undefined);
  // A restore that has ended stays ended, in whatever order its states arrive.
  const job = known.find((one) => one !== undefined && hasEnded(one)) ?? known[0];
  const isOver = id === undefined || (job !== undefined && hasEnded(job));
  useEffect(() => {
    if (isOver) return undefined;
    const timer = setInterval(asked.again, ASK_MS);
    return () => clearInterval(timer);
  }, [isOver, id]);
  return { job, problem: asked.problem };
}

export interface Rehearsal {
  readonly job: Restore | undefined;
  readonly preview: RestorePreview | undefined;
  readonly problem: AskError | undefined;
}

/**
 * Makes a dry run of a restore when first shown, and returns what it would do. It is canceled if the component is left
 * before its end.
 */
export function useRehearsal(request: RestoreRequest): Rehearsal {
  const [id, setId] = useState<string | undefined>(undefined);
  const [problem, setProblem] = useState<AskError | undefined>(undefined);
  const isOver = useRef(false);
  useEffect(() => {
    let isLeft = false;
    let started: string | undefined;
    isOver.current = false;
    const begin = async (): Promise<void> => {
      try {
        const { id: made } = await ask<Restore>('POST', '/restore', { body: request });
        started = made;
        if (isLeft) await cancelRestore(made);
        else setId(made);
      } catch (error) {
        if (!isLeft) setProblem(asAskError(error));
      }
    };
    void begin();
    return () => {
      isLeft = true;
      if (started !== undefined && !isOver.current) void cancelRestore(started);
    };
  }, []);
  const { job, problem: lost } = useRestore(id);
  isOver.current = job !== undefined && hasEnded(job);
  const isDone = job?.status === 'completed';
  const asked = useAsked(
    async (signal) =>
      isDone && id !== undefined
        ? await ask<RestorePreview>('GET', `/restore-preview/${id}`, { signal })
        : undefined,
    [isDone, id],
  );
  return { job, preview: asked.data, problem: problem ?? lost ?? asked.problem };
}

/** Cancels a restore. It is no problem if it has ended meanwhile. */
async function cancelRestore(id: string): Promise<void> {
  try {
    await ask('POST', `/restore/${id}/cancel`);
  } catch (error) {
    if (asAskError(error).code !== 'JOB_NOT_CANCELABLE') throw error;
  }
}
