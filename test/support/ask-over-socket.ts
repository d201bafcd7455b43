/** Sends arbitrary requests over real connections, with what replies gave out before in the places kept for it. */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { errnoOf } from '../../src/base/errors.ts';
import { type Asked, KNOWN } from './arbitrary-requests.ts';
import type { JudgedReply } from './openapi-judge.ts';

export interface AskerParts {
  readonly port: number;
  readonly token: () => string;
  /** Ids of jobs by type, and the paths `source` and `restored`. */
  readonly known: (kind: string) => readonly string[];
}

export interface SocketAsker extends Disposable {
  /** The target as it was sent, and the reply. */
  ask(asked: Asked): Promise<{ readonly target: string; readonly reply: JudgedReply }>;
}

/** Paths are put right before they reach a server without a connection: so there is one, kept from request to request. */
export function socketAsker({ port, token, known }: AskerParts): SocketAsker {
  const connections = new Agent({ keepAlive: true, maxSockets: 1 });
  const cursors: string[] = [];
  const revisions = ['none'];

  const filled = (text: string): string =>
    text.replaceAll(KNOWN, (_all, kind: string, index: string) => {
      if (kind === 'key') return `key-${Number(index) % 5}`;
      const values = kind === 'cursor' ? cursors : kind === 'revision' ? revisions : known(kind);
      // The newest first: what was given out long ago is mostly over.
      return values.at(-1 - (Number(index) % values.length)) ?? 'x';
    });
  const learn = ({ headers, text }: JudgedReply): void => {
    const cursor = /"next_cursor":"([^"]+)"/.exec(text)?.[1];
    if (cursor !== undefined) cursors.push(cursor);
    if (headers['etag'] !== undefined) revisions.push(String(headers['etag']));
  };
  const send = async (asked: Asked): Promise<JudgedReply> => {
    const { method, target, body, headers, caller } = asked;
    const sent = typeof body === 'string' ? filled(body) : body;
    const shown = caller === 'token' ? token() : 'rubbish';
    const request = httpRequest({
      agent: connections,
      host: '127.0.0.1',
      port,
      path: filled(target),
      method,
      headers: {
        ...(sent === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
        ...(caller === 'nobody' ? {} : { authorization: `Bearer ${shown}` }),
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)])),
      },
    });
    request.end(sent);
    try {
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      return { status: response.statusCode ?? 0, headers: response.headers, text };
    } catch (error) {
      // The server may close a kept connection at the moment at which it is used again.
      if (!request.reusedSocket || errnoOf(error) === undefined) throw error;
      return await send(asked);
    }
  };

  return {
    async ask(asked) {
      const target = filled(asked.target);
      const reply = await send(asked);
      learn(reply);
      return { target, reply };
    },
    [Symbol.dispose]() {
      connections.destroy();
    },
  };
}
