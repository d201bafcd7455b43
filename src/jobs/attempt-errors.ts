/** The errors of attempts that end without a word from the engine: before it stores anything, or because its process dies. */
import { placedCauseText } from '../base/errno-words.ts';
import { HoldfastError, isAbort } from '../base/errors.ts';
import { formatDuration } from '../base/units.ts';
import { stateFailureOf, stateFailureText } from '../db/state-failure.ts';
import type { EngineEnd } from './engine-launcher.ts';
import { type JobError, STATE_UNWRITABLE } from './job.ts';

/** Why a job could not be started: what happened, then what to do. */
export function notStarted(error: unknown): JobError {
  if (error instanceof HoldfastError) {
    const message = error.hint === '' ? error.message : `${error.message}. ${error.hint}`;
    return { code: error.code, message, details: error.details };
  }
  const text = isAbort(error) ? String(error) : placedCauseText(error);
  return {
    code: 'INTERNAL_ERROR',
    message: `The job could not be started: ${text}. See the log of the agent.`,
    details: {},
  };
}

/** The id of the destination's repository could not be recorded, so the backup stored nothing there. */
export function notRemembered(error: unknown): JobError {
  const failure = stateFailureOf(error) ?? 'broken';
  const { what, hint } = stateFailureText(failure, 'the state directory');
  return {
    code: failure === 'full' ? 'INSUFFICIENT_STORAGE' : 'WRITE_ERROR',
    message: `The agent could not record which repository the destination has: ${what}. Nothing was backed up. ${hint}`,
    details: failure === 'full' || failure === 'closed' ? { [STATE_UNWRITABLE]: true } : {},
  };
}

/** How the process ended; or, where that is unknown, that the agent ended first or could not write the end. */
export type Death = EngineEnd | 'agent-ended' | 'end-not-written';

/** As a part of a sentence. */
export function deathText(how: Death): string {
  if (how === 'agent-ended') return 'the agent itself ended';
  if (how === 'end-not-written') return 'its end could not be written';
  const { code, signal, notReadyAfterMs } = how;
  if (notReadyAfterMs !== undefined)
    return `it was not ready to work after ${formatDuration(notReadyAfterMs)}, and was ended for that`;
  if (signal === 'SIGKILL') return 'it was killed, which the system does when memory runs out';
  return signal === null ? `it ended with code ${code ?? 'unknown'}` : `it was ended by ${signal}`;
}

/** What to do about it, as a sentence. */
export function deathHint(how: Death): string {
  if (typeof how === 'object' && how.notReadyAfterMs !== undefined)
    return 'Find out what keeps the computer so busy, then start the job again.';
  if (typeof how === 'object' && how.signal === 'SIGKILL')
    return 'Free up memory, or give the service more (MemoryMax= of its unit), then start the job again.';
  return 'Start it again. If it happens again, report it.';
}

export function deathDetails(how: Death): Readonly<Record<string, unknown>> {
  if (typeof how === 'string') return { ended: how };
  const { code, signal, notReadyAfterMs } = how;
  return { code, signal, not_ready_after_ms: notReadyAfterMs ?? null };
}
