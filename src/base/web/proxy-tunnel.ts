/**
 * TLS connections through a proxy. Node's own agents support this, but they store everything that a proxy sends before
 * it accepts the connection, and double their listeners with every piece: a few dozen pieces end the process.
 */
import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as httpRequest } from 'node:http';
import { Agent, request as httpsRequest, type AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { proxyFor } from './proxy.ts';

/** Milliseconds within which a proxy must have connected to the server. */
const LONGEST_MS = 60_000;

/** An error of the same form as those of Node's own agents when a proxy refuses the connection. */
class TunnelError extends Error {
  override readonly name = 'TunnelError';
  readonly code = 'ERR_PROXY_TUNNEL';
  readonly statusCode: number | undefined;

  constructor(message: string, statusCode?: number, cause?: unknown) {
    super(message, { cause });
    this.statusCode = statusCode;
  }
}

type Connected = (error: Error | null, stream: Duplex) => void;

export class TunnelAgent extends Agent {
  readonly #longestMs: number;

  constructor(options: AgentOptions, longestMs = LONGEST_MS) {
    super(options);
    this.#longestMs = longestMs;
  }

  override createConnection(options: RequestOptions, connected: Connected): Duplex | null | undefined {
    const { host, port } = options;
    const target = `${host?.includes(':') === true ? `[${host}]` : (host ?? '')}:${port ?? 443}`;
    const proxy = proxyFor(new URL(`https://${target}`));
    if (proxy === undefined) return super.createConnection(options, connected);
    void this.#connect(proxy.url, target, options, connected);
    return undefined;
  }

  async #connect(proxy: URL, target: string, options: RequestOptions, connected: Connected): Promise<void> {
    try {
      const over: RequestOptions & { readonly socket: Duplex } = {
        ...options,
        socket: await this.#through(proxy, target, options),
      };
      const secured = super.createConnection(over, connected);
      if (secured !== null && secured !== undefined) secure(secured, over.socket, connected);
    } catch (error) {
      // Node's types demand a stream, but none is passed along with an error.
      (connected as (error: unknown) => void)(error);
    }
  }

  async #through(proxy: URL, target: string, { signal }: RequestOptions): Promise<Duplex> {
    const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
    const { username, password } = proxy;
    const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    const deadline = AbortSignal.timeout(this.#longestMs);
    const asked = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
      host: proxy.hostname.replaceAll(/^\[|\]$/g, ''),
      port: proxy.port === '' ? (proxy.protocol === 'https:' ? 443 : 80) : Number(proxy.port),
      method: 'CONNECT',
      path: target,
      agent: false,
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      headers: {
        host: target,
        ...(login === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
      },
    });
    const refuse = ({ statusCode = 0 }: IncomingMessage, socket: { destroy(): unknown }): void => {
      socket.destroy();
      reject(new TunnelError(`The proxy answered with status ${statusCode}`, statusCode));
    };
    asked.once('connect', (answer, socket, head) => {
      if (answer.statusCode !== 200) {
        refuse(answer, socket);
        return;
      }
      // A TLS server sends nothing before the client, so `head` is normally empty.
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asked.once('response', (answer) => refuse(answer, answer));
    asked.once('error', (error) => {
      const { syscall } = error as { readonly syscall?: unknown };
      if (signal?.aborted === true || syscall === 'connect' || syscall === 'getaddrinfo') reject(error);
      else reject(new TunnelError('The proxy refused the connection', undefined, error));
    });
    asked.end();
    return await promise;
  }
}

/** Hands over the connection only after the TLS handshake has verified the server. */
function secure(secured: Duplex, socket: Duplex, connected: Connected): void {
  const failed = (error: Error): void => {
    socket.destroy();
    connected(error, secured);
  };
  secured.once('error', failed);
  secured.once('secureConnect', () => {
    secured.off('error', failed);
    connected(null, secured);
  });
}
