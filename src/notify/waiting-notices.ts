/** What a receiver has not taken yet, as it is kept while the agent does not run. */
import { endOf } from './cut-text.ts';
import type { Notice } from './notice.ts';

/** How a receiver failed last, and what waits for it; the oldest first. */
export interface Waiting {
  readonly failedAt: number | null;
  /** In words; null when it is not failing. */
  readonly error: string | null;
  readonly notices: readonly Notice[];
}

/** Keeps it across restarts. */
export interface WaitingBook {
  /** As it was written last; undefined when there is nothing. */
  read(sender: string): string | undefined;
  /** Never throws. */
  write(sender: string, text: string | undefined): void;
}

/** Of the log of a job, which is kept elsewhere as a whole. */
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
