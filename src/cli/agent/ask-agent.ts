/** Commands that ask the running agent, over its local socket. */
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
