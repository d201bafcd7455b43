/** Explains in words that the agent cannot run because the disk of the state directory is full or read-only. */
import { access, constants } from 'node:fs/promises';
import { errnoOf, StateError } from '../../base/errors.ts';
import { type StateFailure, stateFailureOf, stateFailureText } from '../../db/state-failure.ts';
import { freeBytesOf } from '../places/free-space.ts';

/** Free bytes below which not even the smallest file can be written. */
const NOTHING = 4_096;

/**
 * An error with an explanation, to replace the one that some part of the agent has thrown; undefined for errors of another kind.
 */
export async function cannotRun(error: unknown, directory: string): Promise<StateError | undefined> {
  const failure = diskFailureOf(error) ?? (await failureBehind(error, directory));
  if (failure === undefined) return undefined;
  const { what, hint } = startFailureText(failure, directory);
  return new StateError('WRITE_ERROR', `The agent cannot run: ${what}`, { hint, cause: error });
}

/** Why an agent could not be started at the moment, as sentences; undefined when it could write, or that is unknown. */
export async function whyItCannotRun(directory: string): Promise<string | undefined> {
  const failure = await failureOf(directory);
  if (failure === undefined) return undefined;
  const { what, hint } = startFailureText(failure, directory);
  return `It cannot run now: ${what}. ${hint}`;
}

/** Before an agent runs, another state directory can still be chosen, which the hint says. */
function startFailureText(failure: StateFailure, directory: string): ReturnType<typeof stateFailureText> {
  if (failure !== 'closed') return stateFailureText(failure, directory);
  return {
    what: `the disk of ${directory} is read-only`,
    hint: 'Make it writable, or set HOLDFAST_STATE_DIR to another directory.',
  };
}

function diskFailureOf(error: unknown): StateFailure | undefined {
  const cause = error instanceof StateError ? error.cause : error;
  const failure = stateFailureOf(cause);
  return failure === 'full' || (failure === 'closed' && errnoOf(cause) === 'EROFS') ? failure : undefined;
}

/** An error from another thread has lost its cause, so the disk is examined. */
async function failureBehind(error: unknown, directory: string): Promise<StateFailure | undefined> {
  const isWriting = error instanceof StateError && error.code === 'WRITE_ERROR' && error.cause === undefined;
  return isWriting ? await failureOf(directory) : undefined;
}

async function failureOf(directory: string): Promise<StateFailure | undefined> {
  const free = await freeBytesOf(directory);
  // The disk does not answer, so it is not asked further.
  if (free === null) return undefined;
  const isReadOnly = await access(directory, constants.W_OK).then(
    () => false,
    (error: unknown) => errnoOf(error) === 'EROFS',
  );
  if (isReadOnly) return 'closed';
  return free < NOTHING ? 'full' : undefined;
}

export interface StateRoomParts {
  readonly stateDirectory: string;
  /** Overrides what the system says. */
  readonly freeBytes?: ((directory: string) => Promise<number | null>) | undefined;
  readonly trouble: (error: unknown) => void;
}

/** Milliseconds for which a measurement stands when somebody asks. */
const FRESH_MS = 2_000;
/** Bytes: less than this may be used up in one busy day. */
const SCARCE = 200_000_000;

/** Free space for the agent's own state. Without any it can store nothing, and backups stop. */
export class StateRoom {
  readonly #parts: StateRoomParts;
  #bytes: number | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: StateRoomParts) {
    this.#parts = parts;
  }

  /** To be called periodically. Never throws or rejects. */
  async look(): Promise<void> {
    const { stateDirectory, freeBytes = freeBytesOf, trouble } = this.#parts;
    this.#lookedAt = performance.now();
    try {
      this.#bytes = await freeBytes(stateDirectory);
    } catch (error) {
      trouble(error);
    }
  }

  /** Looks anew for somebody who asks, unless that has just been done. Never rejects. */
  readonly measure = async (): Promise<void> => {
    if (performance.now() - this.#lookedAt >= FRESH_MS) await this.look();
  };

  /** Whether not even the smallest file can be written; false when that is unknown. */
  readonly isFull = (): boolean => this.#bytes !== null && this.#bytes < NOTHING;

  /** Free bytes if they are few; null while there are enough, or when that is unknown. */
  readonly scarceBytes = (): number | null =>
    this.#bytes !== null && this.#bytes < SCARCE ? this.#bytes : null;
}
