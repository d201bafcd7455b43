/** Answers input that is not a valid HTTP request or does not arrive completely. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errnoOf } from '../../base/errors.ts';
import { ApiError } from '../wire/api-error.ts';
import { errorEnvelope, metaOf } from '../wire/envelope.ts';
import { requestIdOf, SECURITY_HEADERS } from '../wire/headers.ts';

/** Time for a client to read the response before the connection is destroyed. */
const LINGER_MS = 500;

/** Code of the error for a request that does not arrive in time. */
export const REQUEST_LATE = 'ERR_HTTP_REQUEST_TIMEOUT';

/** The response to what the HTTP parser refused. */
export function malformedRequest(error: unknown): ApiError {
  switch (errnoOf(error)) {
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('HEADERS_TOO_LARGE', 'The headers of the request are too large', {
        hint: 'Request line and headers together are limited to 16 KiB.',
      });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ApiError('PAYLOAD_TOO_LARGE', 'The chunk extensions of the body are too large', {
        hint: 'Send the body without them.',
      });
    case REQUEST_LATE:
      return new ApiError('REQUEST_TIMEOUT', 'The request did not arrive in time', {
        hint: 'Send it again.',
      });
    default:
      return new ApiError('INVALID_REQUEST', 'That is not a valid HTTP request', {
        hint: 'Use an HTTP/1.1 client.',
      });
  }
}

/** Writes a whole response to a connection and closes it. `headers` are those of the rate limit. */
export function answerRaw(
  socket: Duplex,
  error: ApiError,
  headers: Readonly<Record<string, string>>,
  nowMs: number,
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const meta = metaOf(requestIdOf(undefined, nowMs), nowMs);
  const body = Buffer.from(JSON.stringify(errorEnvelope(error, meta)));
  const lines = Object.entries({
    ...SECURITY_HEADERS,
    ...headers,
    ...error.headers,
    'x-request-id': meta.request_id,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(body.length),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const start = `HTTP/1.1 ${error.statusCode} ${STATUS_CODES[error.statusCode] ?? ''}\r\n`;
  socket.end(Buffer.concat([Buffer.from(`${start}${lines.join('')}\r\n`, 'latin1'), body]));
  // The connection lingers because closing it with unread bytes makes the system reset it, and the client may lose the
  // response.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
