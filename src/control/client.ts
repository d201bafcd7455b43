/** The client side of the agent's local socket. */
import { request } from 'node:http';
import { RequestError, StateError, errnoOf } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import { controlSocketPath, type ControlCall, type ControlCalls, type ControlReply } from './calls.ts';

/**
 * Calls the agent that runs on a state directory.
 * @throws {StateError} NO_AGENT when none is running, FORBIDDEN when this user may not access its socket
 * @throws {RequestError} with the agent's own code when it refuses the call
 */
export async function callAgent<K extends ControlCall>(
  runDirectory: string,
  call: K,
  input: ControlCalls[K]['in'],
  signal: AbortSignal,
): Promise<ControlCalls[K]['out']> {
  const reply = JSON.parse(
    await post(controlSocketPath(runDirectory), call, JSON.stringify(input), signal),
  ) as ControlReply;
  if (reply.ok) return reply.value as ControlCalls[K]['out'];
  throw new RequestError(reply.code, reply.message, { hint: reply.hint, details: reply.details });
}

/** Whether an agent answers there. */
export async function agentRuns(runDirectory: string, signal: AbortSignal): Promise<boolean> {
  try {
    await callAgent(runDirectory, 'agent', {}, signal);
    return true;
  } catch (error) {
    if (error instanceof StateError && error.code === 'NO_AGENT') return false;
    throw error;
  }
}

/** In characters; far more than any reply has. */
const LARGEST_REPLY = 64 * 1024 * 1024;

async function post(socketPath: string, call: string, body: string, signal: AbortSignal): Promise<string> {
  return await new Promise<string>((resolve, reject) => {
    const asked = request({ socketPath, method: 'POST', path: `/${call}`, signal }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (text.length > LARGEST_REPLY) response.destroy(new Error('The reply of the agent has no end'));
      });
      response.on('end', () => resolve(text));
      response.on('error', reject);
    });
    asked.on('error', (cause) => reject(signal.aborted ? cause : unreachable(cause)));
    asked.end(body);
  });
}

function unreachable(cause: Error): StateError {
  if (errnoOf(cause) === 'EACCES' || errnoOf(cause) === 'EPERM') {
    return new StateError('FORBIDDEN', 'Whether an agent runs cannot be seen by this user', {
      hint: 'Run the command as the user of the agent, or join the group that its socket belongs to.',
      cause,
    });
  }
  return new StateError('NO_AGENT', 'No agent is running', {
    hint: `Start it with: ${holdfast`start`}`,
    cause,
  });
}
