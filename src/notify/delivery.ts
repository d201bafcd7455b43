/** When a notice that a receiver has not accepted is tried again, for how long it is kept, and how it is stored while the agent does not run. */
import { randomInt } from 'node:crypto';
import type { Notice } from './notice.ts';
import { endOf } from './sender.ts';

export interface RetryPolicy {
  /** Tries of a notice, including the first one, after which the receiver counts as failing. */
  readonly attempts: number;
  /** The longest wait before the second try; each further wait is four times as long. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** Wait between two tries when `attempts` is used up. */
  readonly pauseMs: number;
}

/**
 * At most 2 + 8 + 32 + 128 + 300 s, as a router or receiver restarts within eight minutes. Then every quarter of an hour: mail
 * servers that refuse the first tries of unknown senders accept them within an hour or two, and a network may be down for days.
 */
export const defaultRetryPolicy: RetryPolicy = Object.freeze({
  attempts: 6,
  firstDelayMs: 2000,
  maxDelayMs: 300_000,
  pauseMs: 900_000,
});

/** Milliseconds for which a notice waits for its receiver in all, as long as a mail server keeps mail that it cannot pass on. */
export const KEPT_MS = 4 * 24 * 3_600_000;

/** The shortest silence towards a receiver that asks for one, in milliseconds. */
const SHORTEST_SILENCE_MS = 2_000;

export function silenceOf(askedMs: number): number {
  return Math.max(askedMs, SHORTEST_SILENCE_MS);
}

/** Milliseconds to wait after this many tries of a notice. */
export function delayAfter(tries: number, policy: RetryPolicy): number {
  const { attempts, firstDelayMs, maxDelayMs, pauseMs } = policy;
  const longest = tries < attempts ? Math.min(maxDelayMs, firstDelayMs * 4 ** (tries - 1)) : pauseMs;
  // Random between half and all of it, so that machines that failed together do not return together.
  return Math.round((longest * (1000 + randomInt(1001))) / 2000);
}

/** The last failure of a receiver, and the notices that wait for it, the oldest first. */
export interface Waiting {
  readonly failedAt: number | null;
  /** In words; null when the receiver is not failing. */
  readonly error: string | null;
  readonly notices: readonly Notice[];
}

/** Stores notices across restarts that wait for their receiver, or for the end of the quiet hours. */
export interface WaitingBook {
  /** The text that was written last; undefined when there is none. */
  read(sender: string): string | undefined;
  /** Never throws. */
  write(sender: string, text: string | undefined): void;
}

/** Bytes that are stored of the log of a job, which is available as a whole elsewhere. */
const LOG_BYTES = 4_000;

/** Undefined when there is nothing to keep. */
export function waitingText({ failedAt, error, notices }: Waiting): string | undefined {
  if (error === null && notices.length === 0) return undefined;
  return JSON.stringify({ failedAt, error, notices: notices.map(withShortLog) });
}

/** The notice as it is stored. */
export function withShortLog(notice: Notice): Notice {
  return { ...notice, log: endOf(notice.log.join('\n'), LOG_BYTES).split('\n') };
}

export function readWaiting(text: string | undefined): Waiting {
  return text === undefined ? { failedAt: null, error: null, notices: [] } : (JSON.parse(text) as Waiting);
}
