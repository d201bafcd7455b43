/** Sends the replies of the WebDAV folder: they have no envelope, and errors are plain text. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Sends parts as they arrive, no faster than the client reads them. Headers are sent only with the first part, so that
 * an earlier failure can still be answered with an error.
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
