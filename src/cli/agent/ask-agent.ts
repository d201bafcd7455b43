/** Commands that ask the running agent, over its local socket. */
import { StateError } from '../../base/errors.ts';
import type { ControlCall, ControlCalls } from '../../control/calls.ts';
import { callAgent } from '../../control/client.ts';
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
