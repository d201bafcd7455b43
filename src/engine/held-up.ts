/** Tells the daemon while a job waits for what others hold up, and when it goes on. */
import { tellWaits, toldWait } from '../base/waits.ts';
import type { FromEngine } from './protocol.ts';

/** Milliseconds. */
const LOOK_MS = 1_000;
/** Between two messages of which only the time that is left differs. */
const REFRESH_MS = 5_000;

/** Until what is returned is called. */
export function tellWhenHeldUp(send: (message: FromEngine) => void, now: () => number): () => void {
  const teller = tellWaits();
  let told: string | null = null;
  let reason: string | null | undefined;
  let toldAt = Number.NEGATIVE_INFINITY;
  const look = (): void => {
    const wait = toldWait();
    const text = wait === undefined ? null : `${wait.text.charAt(0).toUpperCase()}${wait.text.slice(1)}.`;
    if (text === told) return;
    const isRefreshed = text !== null && told !== null && wait?.because === reason;
    if (isRefreshed && now() - toldAt < REFRESH_MS) return;
    [told, reason, toldAt] = [text, wait?.because, now()];
    send({ kind: 'held up', waitsFor: text });
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    teller.end();
  };
}
