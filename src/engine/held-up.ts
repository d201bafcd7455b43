/** Tells the daemon while a job waits for what others hold up, and when it goes on. */
import { isDeepStrictEqual } from 'node:util';
import { tellWaits, toldWait, type OthersWait } from '../base/waits.ts';
import type { FromEngine } from './protocol.ts';

/** Milliseconds. */
const LOOK_MS = 1_000;
/** Between two messages of which only the time that is left differs. */
const REFRESH_MS = 5_000;

/** Until what is returned is called. */
export function tellWhenHeldUp(send: (message: FromEngine) => void, now: () => number): () => void {
  const teller = tellWaits();
  let told: OthersWait | undefined;
  let toldAt = Number.NEGATIVE_INFINITY;
  const look = (): void => {
    const wait = toldWait();
    if (isDeepStrictEqual(wait, told)) return;
    if (isSame(wait, told) && now() - toldAt < REFRESH_MS) return;
    [told, toldAt] = [wait, now()];
    send({ kind: 'held_up', waitsFor: wait ?? null });
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    teller.end();
  };
}

/** Whether only times differ. */
function isSame(wait: OthersWait | undefined, told: OthersWait | undefined): boolean {
  if (wait?.code === 'asked_again' && told?.code === 'asked_again')
    return wait.params.whom === told.params.whom && wait.params.because === told.params.because;
  return wait !== undefined && wait.code === told?.code && wait.params.whom === told.params.whom;
}
