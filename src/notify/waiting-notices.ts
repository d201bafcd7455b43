/** The notices that a receiver has not accepted yet, as they are stored while the agent does not run. */
import { endOf } from './cut-text.ts';
import type { Notice } from './notice.ts';

/** The last failure of a receiver, and the notices that wait for it, the oldest first. */
export interface Waiting {
  readonly failedAt: number | null;
  /** In words; null when the receiver is not failing. */
  readonly error: string | null;
  readonly notices: readonly Notice[];
}

/** Stores waiting notices across restarts. */
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
  const kept = notices.map((notice) => ({
    ...notice,
    log: endOf(notice.log.join('\n'), LOG_BYTES).split('\n'),
  }));
  return JSON.stringify({ failedAt, error, notices: kept });
}

export function readWaiting(text: string | undefined): Waiting {
  return text === undefined ? { failedAt: null, error: null, notices: [] } : (JSON.parse(text) as Waiting);
}
