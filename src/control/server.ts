/**
 * The server side of the agent's local socket: HTTP with one POST for each call, for everyone who may open the socket.
 */
import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { causeText } from '../base/errno-words.ts';
import { BugError, HoldfastError, StateError } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import type { ControlHandlers, ControlReply } from './calls.ts';
import {
  announcePipe,
  isChallenge,
  isSameProof,
  newChallenge,
  newEndpoint,
  proofOf,
  withdrawPipe,
  PROOF_HEADER,
  PROVE,
  type Endpoint,
  type Pipe,
} from './endpoint.ts';

/** In bytes. Calls contain names and options, but never content. */
const LARGEST_CALL = 1_048_576;

export interface ControlServer extends AsyncDisposable {
  close(): Promise<void>;
}

/**
 * Listens on the socket below `runDirectory`, which belongs to this agent alone; the socket of an earlier agent is
 * replaced.
 * @param onFault called with errors that are bugs
 * @throws {StateError} when the socket cannot be made
 */
export async function serveControl(
  runDirectory: string,
  handlers: ControlHandlers,
  onFault: (error: unknown) => void,
  endpoint: Endpoint = newEndpoint(runDirectory),
): Promise<ControlServer> {
  const { path } = endpoint;
  if (endpoint.kind === 'socket') await rm(path, { force: true });
  const proofs = endpoint.kind === 'pipe' ? provenOn(endpoint) : undefined;
  const server = createServer((request, response) => {
    const asked = new AbortController();
    // The response and not the socket, which may carry many calls.
    response.once('close', () => asked.abort());
    const answered =
      proofs?.asks(request) === true
        ? proofs.prove(request)
        : proofs?.has(request) === false
          ? Promise.resolve(UNPROVEN)
          : answer(request, handlers, { signal: asked.signal, onFault });
    void answered.then((reply) => send(response, reply));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        new StateError('WRITE_ERROR', `The local socket ${path} cannot be created: ${causeText(cause)}`, {
          hint: 'Set HOLDFAST_STATE_DIR to a directory with a shorter path, on a file system that supports sockets.',
          cause,
        }),
      );
    });
    server.listen(path, resolve);
  });
  if (endpoint.kind === 'socket') await chmod(path, 0o660);
  else await announcePipe(runDirectory, endpoint);
  const close = async (): Promise<void> => {
    if (endpoint.kind === 'pipe') await withdrawPipe(runDirectory);
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    server.closeAllConnections();
    await closed;
  };
  return { close, [Symbol.asyncDispose]: close };
}

interface Proofs {
  /** Whether a request asks the agent for its proof. */
  asks(request: IncomingMessage): boolean;
  /** Gives it; what it answers expects the command's own proof on the same connection. */
  prove(request: IncomingMessage): Promise<ProofReply>;
  /** Whether a request has the proof that its connection owes. It counts once. */
  has(request: IncomingMessage): boolean;
}

interface ProofReply {
  readonly challenge: string;
  readonly proof: string;
}

function provenOn(pipe: Pipe): Proofs {
  const owed = new WeakMap<Socket, string>();
  return {
    asks: ({ url }) => url === `/${PROVE}`,
    async prove(request) {
      const said = await readJson(request).catch(() => undefined);
      const command: unknown =
        typeof said === 'object' && said !== null ? Reflect.get(said, 'challenge') : '';
      const agent = newChallenge();
      if (!isChallenge(command)) return { challenge: agent, proof: '' };
      const challenges = { command, agent };
      owed.set(request.socket, proofOf('command', pipe, challenges));
      return { challenge: agent, proof: proofOf('agent', pipe, challenges) };
    },
    has({ socket, headers }) {
      const wanted = owed.get(socket);
      owed.delete(socket);
      return wanted !== undefined && isSameProof(headers[PROOF_HEADER], wanted);
    },
  };
}

const UNPROVEN: ControlReply = {
  ok: false,
  code: 'FORBIDDEN',
  message: 'The command could not prove that it can read the state directory of the agent',
  hint: 'Run the command again, as the user of the agent or as administrator.',
  details: {},
};

async function answer(
  request: IncomingMessage,
  handlers: ControlHandlers,
  { signal, onFault }: { readonly signal: AbortSignal; readonly onFault: (error: unknown) => void },
): Promise<ControlReply> {
  try {
    const name = request.url?.slice(1) ?? '';
    if (request.method !== 'POST' || !Object.hasOwn(handlers, name)) return unknownCall(name);
    // The name determines the types of input and output, which the compiler cannot follow through a request.
    const handler = handlers[name as keyof ControlHandlers] as (
      input: unknown,
      signal: AbortSignal,
    ) => Promise<unknown>;
    return { ok: true, value: (await handler(await readJson(request), signal)) ?? null };
  } catch (error) {
    if (!(error instanceof HoldfastError)) onFault(error);
    return failure(error);
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > LARGEST_CALL) throw new BugError('A call over the local socket is too long');
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

function send(response: ServerResponse, reply: ControlReply | ProofReply): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(reply));
}

function unknownCall(name: string): ControlReply {
  return {
    ok: false,
    code: 'NOT_FOUND',
    message: `The running agent does not know "${name}"`,
    hint: 'It is another version than this command. Restart the agent.',
    details: {},
  };
}

function failure(error: unknown): ControlReply {
  if (error instanceof HoldfastError) {
    const { code, message, hint, details } = error;
    return { ok: false, code, message, hint, details };
  }
  return {
    ok: false,
    code: 'INTERNAL_ERROR',
    message: 'The agent could not do this; its log says why',
    hint: `See: ${holdfast`logs`}`,
    details: {},
  };
}
