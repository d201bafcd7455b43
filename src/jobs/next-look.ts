/** When a runner looks again at what waits, where nothing makes it look before that. */
import type { JobRecord } from '../db/jobs.ts';
import { SHARE_AGAIN_MS } from './upload-shares.ts';

/** Milliseconds after which conditions and limits are looked at again while something waits or runs. */
export const LOOK_AGAIN_MS = 30_000;

export interface LookNow {
  readonly queued: readonly JobRecord[];
  /** Whether a job is at work. */
  readonly works: boolean;
  /** Null: there is no pause, or one without an end. */
  readonly pausedUntil: number | null;
  readonly nowMs: number;
  /** Whether several jobs share a limit. */
  readonly shares: boolean;
}

/** Milliseconds; undefined where there is nothing to look at. */
export function untilNextLook({ queued, works, pausedUntil, nowMs, shares }: LookNow): number | undefined {
  if (queued.length === 0 && pausedUntil === null && !works) return undefined;
  const times = [...queued.map(({ bookkeeping }) => bookkeeping.retryAt ?? 0), pausedUntil ?? 0];
  // What is past already waits for something else than the time.
  const longest = shares ? SHARE_AGAIN_MS : LOOK_AGAIN_MS;
  return Math.min(longest, ...times.filter((at) => at > nowMs).map((at) => at - nowMs));
}
