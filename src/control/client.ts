/** The client side of the agent's local socket. */
import { Agent, request, type RequestOptions } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { RequestError, StateError } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import type { ControlCall, ControlCalls, ControlReply } from './calls.ts';
import {
  endpointOf,
  isChallenge,
  isSameProof,
  newChallenge,
  proofOf,
  PROOF_HEADER,
  PROVE,
  unreachable,
  type Endpoint,
  type Pipe,
} from './endpoint.ts';

/**
 * Calls the agent that runs on a state directory.
 * @throws {StateError} NO_AGENT when none is running, FORBIDDEN when this user may not access its socket, NOT_THE_AGENT
 * when somebody else answers
 * @throws {RequestError} with the agent's own code when it refuses the call
 */
export async function callAgent<K extends ControlCall>(
  runDirectory: string,
  call: K,
  input: ControlCalls[K]['in'],
  signal: AbortSignal,
): Promise<ControlCalls[K]['out']> {
  return await callThrough(await endpointOf(runDirectory), call, input, signal);
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

/** @throws as `callAgent` */
export async function callThrough<K extends ControlCall>(
  endpoint: Endpoint,
  call: K,
  input: ControlCalls[K]['in'],
  signal: AbortSignal,
): Promise<ControlCalls[K]['out']> {
  const body = JSON.stringify(input);
  const text =
    endpoint.kind === 'socket'
      ? await post({ socketPath: endpoint.path, path: `/${call}` }, body, signal)
      : await postThroughPipe(endpoint, call, body, signal);
  const reply = JSON.parse(text) as ControlReply;
  if (reply.ok) return reply.value as ControlCalls[K]['out'];
  throw new RequestError(reply.code, reply.message, { hint: reply.hint, details: reply.details });
}

/** Asks who serves the pipe before it tells them anything, and then says everything on the same connection. */
async function postThroughPipe(pipe: Pipe, call: string, body: string, signal: AbortSignal): Promise<string> {
  const connection = connect(pipe.path);
  // Both requests report what goes wrong, and between them nothing is lost.
  connection.on('error', () => undefined);
  const agent = new OneConnection(connection);
  try {
    const command = newChallenge();
    const said = await post({ agent, path: `/${PROVE}` }, JSON.stringify({ challenge: command }), signal);
    const own = ownProof(pipe, command, said);
    return await post({ agent, path: `/${call}`, headers: { [PROOF_HEADER]: own } }, body, signal);
  } finally {
    agent.destroy();
    connection.destroy();
  }
}

/** Keeps requests to one connection: who would answer on another one is not known. */
class OneConnection extends Agent {
  #connection: Duplex | undefined;

  constructor(connection: Duplex) {
    super({ keepAlive: true, maxSockets: 1 });
    this.#connection = connection;
  }

  override createConnection(
    _options: unknown,
    done?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection !== undefined) return connection;
    const closed = new Error('The connection was closed too early');
    // A stream that fails, as the callback wants one.
    done?.(closed, connect({ path: '' }).destroy());
    return null;
  }
}

/** The proof to be given in return. @throws {StateError} NOT_THE_AGENT */
function ownProof(pipe: Pipe, command: string, said: string): string {
  const { challenge, proof } = answerIn(said);
  if (isChallenge(challenge)) {
    const challenges = { command, agent: challenge };
    if (isSameProof(proof, proofOf('agent', pipe, challenges))) return proofOf('command', pipe, challenges);
  }
  throw new StateError('NOT_THE_AGENT', 'Another program answers in place of the agent', {
    hint: `Holdfast sent it nothing. The agent may have stopped, and another user of this computer may be using the name of its pipe. Start the agent again with: ${holdfast`start`}`,
  });
}

function answerIn(text: string): { readonly challenge?: unknown; readonly proof?: unknown } {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' && answer !== null ? answer : {};
  } catch {
    return {};
  }
}

/** In characters; far more than any reply has. */
const LARGEST_REPLY = 64 * 1024 * 1024;

async function post(
  where: Pick<RequestOptions, 'socketPath' | 'agent' | 'path' | 'headers'>,
  body: string,
  signal: AbortSignal,
): Promise<string> {
  return await new Promise<string>((resolve, reject) => {
    const asked = request({ ...where, method: 'POST', signal }, (response) => {
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
