/** Work that is given up after a while. */

/**
 * Runs `work` with a signal that aborts with `signal`, or after `ms` milliseconds with a `TimeoutError`. Listener and
 * timer are gone when it settles, so a signal may live long.
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

/** True for the end of the time given to `withDeadline`, wherever in the causes it stands. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || isTimeout(error.cause));
}
