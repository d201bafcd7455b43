/** Sends the replies of the WebDAV folder: they have no envelope, and errors are plain text. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ContentRange, readRange } from '../wire/headers.ts';
import { httpDate } from './multistatus.ts';

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

/** What distinguishes one content from another. */
export interface Validators {
  readonly etag: string | undefined;
  /** Undefined where another content may have the same time. */
  readonly modifiedMs: number | undefined;
}

/** The status to answer instead of the file; undefined to send the file. */
export function conditionOutcome(
  headers: IncomingHttpHeaders,
  validators: Validators,
): 304 | 412 | undefined {
  const ifMatch = headers['if-match'];
  const ifNoneMatch = headers['if-none-match'];
  if (ifMatch !== undefined && !names(ifMatch, validators.etag)) return 412;
  if (ifNoneMatch !== undefined) return names(ifNoneMatch, validators.etag) ? 304 : undefined;
  // Requires exactly the time that was sent before: a file whose time went back has changed as well.
  return isTime(headers['if-modified-since'], validators) ? 304 : undefined;
}

/** As `readRange`, but undefined when the client's part belongs to another content. */
export function conditionalRange(
  headers: IncomingHttpHeaders,
  size: number,
  validators: Validators,
): ContentRange | 'unsatisfiable' | undefined {
  const ifRange = headers['if-range'];
  if (ifRange !== undefined && ifRange !== validators.etag && !isTime(String(ifRange), validators))
    return undefined;
  return readRange(headers.range, size);
}

function names(list: string, etag: string | undefined): boolean {
  if (list.trim() === '*') return true;
  return list.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}

function isTime(date: string | undefined, { modifiedMs }: Validators): boolean {
  return date !== undefined && date === httpDate(modifiedMs);
}
