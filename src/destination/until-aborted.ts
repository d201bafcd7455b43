/** Lets callers stop waiting for calls that cannot be interrupted. */

/**
 * Settles as `work` does, or rejects with the signal's reason as soon as that is aborted. The work then goes on by
 * itself.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
