/** A disk of the state directory that is full or may only be read: what keeps the agent from running, in words that help. */
import { access, constants } from 'node:fs/promises';
import { StateError, errnoOf } from '../../base/errors.ts';
import { stateFailureOf, stateFailureText, type StateFailure } from '../../db/state-failure.ts';
import { freeBytesOf } from '../places/free-space.ts';

/** Bytes with which not even the smallest file can be written. */
const NOTHING = 4_096;

/** In place of an error by which a part says it in its own words; undefined for any other error. */
export async function cannotRun(error: unknown, directory: string): Promise<StateError | undefined> {
  const failure = diskFailureOf(error) ?? (await failureBehind(error, directory));
  if (failure === undefined) return undefined;
  const { what, hint } = startFailureText(failure, directory);
  return new StateError('WRITE_ERROR', `The agent cannot run: ${what}`, { hint, cause: error });
}

/** What an agent that is to be started would meet, as sentences; undefined when it can write, or nobody knows. */
export async function whyItCannotRun(directory: string): Promise<string | undefined> {
  const failure = await failureOf(directory);
  if (failure === undefined) return undefined;
  const { what, hint } = startFailureText(failure, directory);
  return `It cannot run now: ${what}. ${hint}`;
}

/** Before an agent runs its state directory is still to be chosen. */
function startFailureText(failure: StateFailure, directory: string): ReturnType<typeof stateFailureText> {
  if (failure !== 'closed') return stateFailureText(failure, directory);
  return {
    what: `the disk of ${directory} is read-only`,
    hint: 'Make it writable, or name another one in HOLDFAST_STATE_DIR.',
  };
}

function diskFailureOf(error: unknown): StateFailure | undefined {
  const cause = error instanceof StateError ? error.cause : error;
  const failure = stateFailureOf(cause);
  return failure === 'full' || (failure === 'closed' && errnoOf(cause) === 'EROFS') ? failure : undefined;
}

/** What another thread says has lost its cause on the way. */
async function failureBehind(error: unknown, directory: string): Promise<StateFailure | undefined> {
  const isWriting = error instanceof StateError && error.code === 'WRITE_ERROR' && error.cause === undefined;
  return isWriting ? await failureOf(directory) : undefined;
}

async function failureOf(directory: string): Promise<StateFailure | undefined> {
  const free = await freeBytesOf(directory);
  // A disk that does not answer is not asked any further.
  if (free === null) return undefined;
  const isReadOnly = await access(directory, constants.W_OK).then(
    () => false,
    (error: unknown) => errnoOf(error) === 'EROFS',
  );
  if (isReadOnly) return 'closed';
  return free < NOTHING ? 'full' : undefined;
}
