const PAUSE_MS = 350;

/** Waits until somebody pauses in typing: what is asked for after it is asked once, and given up with `signal`. */
export function typingPause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, PAUSE_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('Something newer is asked for', 'AbortError'));
    });
  });
}
