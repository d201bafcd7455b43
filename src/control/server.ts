/**
 * The server side of the agent's local socket: HTTP with one POST for each call, for everyone who may open the socket.
 */
import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { BugError, HoldfastError, StateError, errnoOf } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import { controlSocketPath, type ControlHandlers, type ControlReply } from './calls.ts';

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
): Promise<ControlServer> {
  const path = controlSocketPath(runDirectory);
  if (process.platform !== 'win32') await rm(path, { force: true });
  const server = createServer((request, response) => {
    const asked = new AbortController();
    // The response and not the socket, which may carry many calls.
    response.once('close', () => asked.abort());
    void answer(request, handlers, { signal: asked.signal, onFault }).then((reply) => send(response, reply));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        new StateError(
          'WRITE_ERROR',
          `The local socket ${path} cannot be made (${errnoOf(cause) ?? 'unknown error'})`,
          {
            hint: 'Name a state directory with a shorter path in HOLDFAST_STATE_DIR, on a file system that has sockets.',
            cause,
          },
        ),
      );
    });
    server.listen(path, resolve);
  });
  if (process.platform !== 'win32') await chmod(path, 0o660);
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    server.closeAllConnections();
    await closed;
  };
  return { close, [Symbol.asyncDispose]: close };
}

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

function send(response: ServerResponse, reply: ControlReply): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(reply));
}

function unknownCall(name: string): ControlReply {
  return {
    ok: false,
    code: 'NOT_FOUND',
    message: `The running agent does not know "${name}"`,
    hint: 'It is of another version than this command. Restart it.',
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
    message: 'The agent failed at this; its log says why',
    hint: `See: ${holdfast`logs`}`,
    details: {},
  };
}
