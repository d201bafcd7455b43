/** Replies of the folder: there is no envelope, and errors are plain text. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Sends what comes as it comes, no faster than it is taken. Nothing is sent before the first part is there, so that a
 * failure until then can still be answered.
 */
export async function send(
  response: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  parts: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const rest = parts[Symbol.asyncIterator]();
  const first = await rest.next();
  response.writeHead(status, headers);
  await pipeline(Readable.from(joined(first, rest), { objectMode: false }), response);
}

async function* joined<Part>(
  first: IteratorResult<Part, unknown>,
  rest: AsyncIterator<Part, unknown>,
): AsyncGenerator<Part, void, undefined> {
  let next = first;
  try {
    while (next.done !== true) {
      yield next.value;
      next = await rest.next();
    }
  } finally {
    await rest.return?.();
  }
}

export function sendText(
  { method }: Pick<IncomingMessage, 'method'>,
  response: ServerResponse,
  status: number,
  text: string,
  headers: OutgoingHttpHeaders = {},
): void {
  const body = Buffer.from(text);
  response.writeHead(status, {
    ...headers,
    'content-type': 'text/plain; charset=utf-8',
    'content-length': body.length,
  });
  response.end(method === 'HEAD' ? undefined : body);
}
