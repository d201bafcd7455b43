/** Commands that ask the running agent over its local socket, and its answers as the objects that `--json` promises. */
import { StateError } from '../../base/errors.ts';
import type { ControlCall, ControlCalls } from '../../control/calls.ts';
import { callAgent } from '../../control/client.ts';
import type { Job } from '../../jobs/job.ts';
import type { Context } from '../command/context.ts';
import { statePaths } from '../command/state-directory.ts';

/** @throws {StateError} NO_AGENT when none is running */
export async function askAgent<K extends ControlCall>(
  context: Context,
  call: K,
  input: ControlCalls[K]['in'],
): Promise<ControlCalls[K]['out']> {
  return await callAgent(statePaths(context.env).run, call, input, context.signal);
}

/** What the running agent knows of the destinations; undefined when none is running. */
export async function knownDestinations(
  context: Context,
): Promise<ControlCalls['destinations']['out'] | undefined> {
  try {
    return await askAgent(context, 'destinations', {});
  } catch (error) {
    if (error instanceof StateError && error.code === 'NO_AGENT') return undefined;
    throw error;
  }
}

/** The last moment that RFC 3339 can write. */
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Turns answers of the agent and settings into the objects that `--json` promises. Inside Holdfast times are
 * milliseconds since 1970, and settings have names in camelCase. Converts names to snake_case, and each number below a
 * name that ends with `at` or `until` to an RFC 3339 time.
 */
export function agentObject(value: object): object {
  return Object.fromEntries(
    Object.entries(value).map(([key, below]: [string, unknown]) => {
      const name = snakeCase(key);
      return [name, isTime(name) ? timesOf(below) : valueOf(below)];
    }),
  );
}

/** `type` names the kind of line, so the type of the job is called `job_type`. */
export function jobObject(job: Job): object {
  return agentObject({ ...job, type: 'job', job_type: job.type });
}

function valueOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(valueOf);
  return typeof value === 'object' && value !== null ? agentObject(value) : value;
}

/** One time, or several by names that a user gave, which stay as they are. */
function timesOf(value: unknown): unknown {
  if (typeof value === 'number') return new Date(Math.min(value, LATEST_MS)).toISOString();
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]: [string, unknown]) => [name, timesOf(one)]),
  );
}

function isTime(name: string): boolean {
  return /(?:^|_)(?:at|until)$/.test(name);
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
