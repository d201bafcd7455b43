/** What a command gets from the process it runs in. */
import type { ReadStream } from 'node:tty';
import { RequestError } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import { type Environment, programFor } from '../../base/program-call.ts';
import { workingDirectory } from '../../base/typed-path.ts';
import type { Output } from '../terminal/output.ts';

/** The part of the context that work in another thread gets, too. */
export type Surroundings = Pick<Context, 'env' | 'clock' | 'signal'>;

export interface Context {
  readonly stdin: ReadStream;
  /** Data for the person or program that asked. */
  readonly out: Output;
  /** Progress, notes, questions and errors. */
  readonly stderr: NodeJS.WriteStream;
  /** Secrets are removed from it once they are read. */
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP, and when nobody reads the output any more. */
  readonly signal: AbortSignal;
  /** 0 unless a command says otherwise. */
  exitCode: number;
  /** What a command that is interrupted, or that its destination fails, has achieved, and how to go on. Empty when nothing is to be said. */
  outcome: string;
}

/** Environment variable that marks a process which acts for the service. */
export const ACTING = 'HOLDFAST_ACTING';

export function actsForService(env: Environment): boolean {
  return env[ACTING] !== undefined;
}

export function mayActForService(env: Environment): boolean {
  return process.platform === 'linux' && (actsForService(env) || process.geteuid?.() === 0);
}

/**
 * How to call the program in texts for the person who typed the current command. At a terminal the call may depend on
 * the working directory, where the reader still is. Other output is read later and elsewhere.
 */
export function programAtTerminal({ env, out, stderr }: Pick<Context, 'env' | 'out' | 'stderr'>): string {
  const isWatched = out.stream.isTTY || stderr.isTTY;
  const directory = isWatched ? existingDirectory() : undefined;
  return programFor(directory === undefined ? { at: 'anywhere' } : { at: 'terminal', directory }, env);
}

/** The working directory; undefined where it was deleted. */
function existingDirectory(): string | undefined {
  try {
    return workingDirectory();
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return undefined;
  }
}
