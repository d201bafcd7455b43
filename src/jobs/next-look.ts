/** When the runner looks at the queue again if no event makes it look earlier. */
import type { JobRecord } from '../db/jobs.ts';
import { SHARE_AGAIN_MS } from './upload-shares.ts';

/** Milliseconds after which conditions and limits are checked again while a job waits or runs. */
export const LOOK_AGAIN_MS = 30_000;

export interface LookNow {
  readonly queued: readonly JobRecord[];
  /** Whether a job is running. */
  readonly works: boolean;
  /** Null when there is no pause, or one without an end. */
  readonly pausedUntil: number | null;
  readonly nowMs: number;
  /** Whether several jobs share an upload limit. */
  readonly shares: boolean;
}

/** Milliseconds until the next look; undefined when there is nothing to look at. */
export function untilNextLook({ queued, works, pausedUntil, nowMs, shares }: LookNow): number | undefined {
  if (queued.length === 0 && pausedUntil === null && !works) return undefined;
  const times = [...queued.map(({ bookkeeping }) => bookkeeping.retryAt ?? 0), pausedUntil ?? 0];
  // A time in the past does not matter: that job waits for something else.
  const longest = shares ? SHARE_AGAIN_MS : LOOK_AGAIN_MS;
  return Math.min(longest, ...times.filter((at) => at > nowMs).map((at) => at - nowMs));
}
