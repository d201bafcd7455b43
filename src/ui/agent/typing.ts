const PAUSE_MS = 350;

/**
 * Waits until the user pauses in typing, so that one request is made and not one per letter. Rejects with an AbortError
 * when `signal` aborts.
 */
export function typingPause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, PAUSE_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('Something newer is asked for', 'AbortError'));
    });
  });
}
