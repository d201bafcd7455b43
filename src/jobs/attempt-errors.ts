/** The errors that a job shows when its attempt fails before the engine stores anything. */
import { HoldfastError, isAbort } from '../base/errors.ts';
import { stateFailureOf, stateFailureText } from '../db/state-failure.ts';
import { STATE_UNWRITABLE, type JobError } from './job.ts';

/** Why a job could not be started: what happened, then what to do. */
export function notStarted(error: unknown): JobError {
  if (error instanceof HoldfastError) {
    const message = error.hint === '' ? error.message : `${error.message}. ${error.hint}`;
    return { code: error.code, message, details: error.details };
  }
  const text = error instanceof Error && !isAbort(error) ? error.message : String(error);
  return {
    code: 'INTERNAL_ERROR',
    message: `The job could not be started: ${text}. Look at the log of the agent.`,
    details: {},
  };
}

/** The id of the destination's repository could not be recorded, so the backup stored nothing there. */
export function notRemembered(error: unknown): JobError {
  const failure = stateFailureOf(error) ?? 'broken';
  const { what, hint } = stateFailureText(failure, 'the state directory');
  return {
    code: failure === 'full' ? 'INSUFFICIENT_STORAGE' : 'WRITE_ERROR',
    message: `The agent could not write down which repository the destination holds: ${what}. Nothing was backed up. ${hint}`,
    details: failure === 'full' || failure === 'closed' ? { [STATE_UNWRITABLE]: true } : {},
  };
}
