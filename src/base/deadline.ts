/** Gives up work after a time limit. */

/**
 * Runs `work` with a signal that aborts when `signal` does, or with a `TimeoutError` after `ms` milliseconds. Listener
 * and timer are removed when it settles, so `signal` may be long-lived.
 */
export async function withDeadline<T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  const timer = setTimeout(() => controller.abort(new DOMException('too slow', 'TimeoutError')), ms);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** True for an error of the time limit in `withDeadline`, or one that was caused by it. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || isTimeout(error.cause));
}
