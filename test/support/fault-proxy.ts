/**
 * A web server in front of an S3 store that passes on what it is asked, and does wrong as it is told: as often as a
 * seed says. It counts what it has done, so that a test can prove that there was something to survive.
 */
import { once } from 'node:events';
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { seededRandom } from './seeded-random.ts';

export interface Asked {
  readonly method: string;
  /** With bucket and query, as it came. */
  readonly path: string;
  /** Without the bucket, decoded; empty for a list. */
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** How a request ends: with an answer, whole or not, or without one. */
export type Ending =
  | Answer
  /** All of the head, half of the body, and then: the connection closes, nothing more comes, or next to nothing. */
  | { readonly answer: Answer; readonly midway: 'close' | 'silence' | 'trickle' }
  /** Without a byte. */
  | 'close'
  | 'silence';

/** What is done in place of passing on. It has done nothing when it gives what `pass` gave for the very request. */
export type Deed = (asked: Asked, pass: (asked: Asked) => Promise<Answer>) => Ending | Promise<Ending>;

export interface Fault {
  /** Those that may be hit; `body` is not there yet. */
  readonly fits: (asked: Omit<Asked, 'body'>) => boolean;
  /** How many of them are, 0 to 1; 1 by default. */
  readonly rate?: number;
  /** Only after so many that fit. */
  readonly after?: number;
  /** So many at most. */
  readonly most?: number;
  readonly deed: Deed;
}

/** How a server shows who it is. */
export type SecureOptions = SecureContextOptions & { readonly key: string; readonly cert: string };

export interface FaultProxy extends AsyncDisposable {
  readonly endpoint: string;
  readonly port: number;
  /** In place of those before. */
  inject(faults: readonly Fault[], seed?: number): void;
  /** Ends all faults, and with them the connections on which somebody waits in vain. */
  calm(): void;
  /** What faults have done since the last `inject`. */
  readonly fired: number;
  /** Requests that came since the last `inject`, and those of them that were answered. */
  readonly came: number;
  readonly answered: number;
  /** From now on it shows this, to everybody anew. */
  secure(options: SecureOptions): void;
  /** Nobody listens any more, and nobody is connected. */
  unplug(): Promise<void>;
  plugIn(): Promise<void>;
}

/** Between two bytes of an answer that trickles. */
const TRICKLE_MS = 20;

/** @param target `http://host:port` */
export async function startFaultProxy(target: string, tls?: SecureOptions): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const sockets = new Set<Socket>();
  const waiting = new Set<ServerResponse>();
  let faults: { readonly fault: Fault; seen: number; hits: number }[] = [];
  let random = seededRandom(0);
  const counts = { fired: 0, came: 0, answered: 0 };

  function faultFor(asked: Omit<Asked, 'body'>): (typeof faults)[number] | undefined {
    return faults.find((planned) => {
      const { after = 0, fits, most = Number.POSITIVE_INFINITY, rate = 1 } = planned.fault;
      if (!fits(asked)) return false;
      planned.seen += 1;
      return planned.seen > after && planned.hits < most && random.next() < rate;
    });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const head = headOf(request);
    counts.came += 1;
    const planned = faultFor(head);
    if (planned !== undefined) planned.hits += 1;
    const asked: Asked = { ...head, body: await bytesOf(request) };
    let truth: Answer | undefined;
    const pass = async (changed: Asked): Promise<Answer> => {
      const answer = await forward(target, agent, changed);
      if (changed === asked) truth = answer;
      return answer;
    };
    const ending = await (planned?.fault.deed(asked, pass) ?? pass(asked));
    if (planned !== undefined) {
      if (ending === truth) planned.hits -= 1;
      else counts.fired += 1;
    }
    await end(response, ending, waiting);
    counts.answered += typeof ending === 'object' ? 1 : 0;
  }

  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    handle(request, response).catch(() => response.destroy());
  };
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const calm = (): void => {
    faults = [];
    for (const response of waiting) response.destroy();
    waiting.clear();
  };
  const disconnect = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const unplug = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    disconnect();
    await closed;
  };
  return {
    endpoint: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    inject(next, seed = 0) {
      faults = next.map((fault) => ({ fault, seen: 0, hits: 0 }));
      random = seededRandom(seed);
      Object.assign(counts, { fired: 0, came: 0, answered: 0 });
    },
    calm,
    get fired() {
      return counts.fired;
    },
    get came() {
      return counts.came;
    },
    get answered() {
      return counts.answered;
    },
    secure(options) {
      if (server instanceof TlsServer) server.setSecureContext(options);
      disconnect();
    },
    unplug,
    async plugIn() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    async [Symbol.asyncDispose]() {
      calm();
      await unplug();
      agent.destroy();
    },
  };
}

function headOf({ headers, method = '', url = '/' }: IncomingMessage): Omit<Asked, 'body'> {
  const { pathname, searchParams: query } = new URL(url, 'http://store');
  return { method, path: url, key: decodeURIComponent(pathname.replace(/^\/[^/]*\/?/, '')), query, headers };
}

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function forward(
  target: string,
  agent: Agent,
  { body, headers, method, path }: Asked,
): Promise<Answer> {
  const outgoing = httpRequest(new URL(path, target), {
    agent,
    method,
    path,
    headers: {
      ...withoutFraming(headers),
      ...(method === 'PUT' ? { 'content-length': body.byteLength } : {}),
    },
  });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const { 'content-length': length, ...said } = incoming.headers;
  // Of what has no body it speaks of the object.
  const told = method === 'HEAD' && length !== undefined ? { 'content-length': length } : {};
  return {
    status: incoming.statusCode ?? 0,
    headers: { ...withoutFraming(said), ...told },
    body: await bytesOf(incoming),
  };
}

const FRAMING = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding']);

/** What says how the message travels: that is for each connection to say. */
function withoutFraming(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !FRAMING.has(name)));
}

async function end(response: ServerResponse, ending: Ending, waiting: Set<ServerResponse>): Promise<void> {
  if (ending === 'close') {
    response.destroy();
    return;
  }
  if (ending === 'silence') {
    await untilLeft(response, waiting);
    return;
  }
  const { answer, midway } = 'answer' in ending ? ending : { answer: ending, midway: undefined };
  const { body, headers, status } = answer;
  const isHead = response.req.method === 'HEAD';
  response.writeHead(status, {
    ...headers,
    ...(isHead || headers['content-length'] !== undefined ? {} : { 'content-length': body.byteLength }),
  });
  if (midway === undefined) {
    response.end(isHead ? undefined : body);
    return;
  }
  const half = Math.floor(body.byteLength / 2);
  await new Promise((resolve) => void response.write(body.subarray(0, half), resolve));
  if (midway === 'close') response.destroy();
  else await untilLeft(response, waiting, midway === 'trickle' ? body.subarray(half) : undefined);
}

/** Keeps the connection until the other side has had enough of it, with a byte now and then. */
async function untilLeft(
  response: ServerResponse,
  waiting: Set<ServerResponse>,
  rest?: Buffer,
): Promise<void> {
  waiting.add(response);
  let at = 0;
  const timer = setInterval(() => {
    if (rest !== undefined && at < rest.byteLength - 1) response.write(rest.subarray(at, (at += 1)));
  }, TRICKLE_MS);
  if (!response.destroyed) await once(response, 'close');
  clearInterval(timer);
  waiting.delete(response);
}
