import type { IncomingMessage } from 'node:http';
import { ApiError } from '../wire/api-error.ts';

const LARGEST_BODY = 65_536;

/** @throws {ApiError} PAYLOAD_TOO_LARGE, INVALID_REQUEST when it ends too early */
export async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > LARGEST_BODY) break;
      parts.push(part);
    }
  } catch (cause) {
    throw new ApiError('INVALID_REQUEST', 'The request could not be read to its end', {
      hint: 'Send it again.',
      cause,
    });
  }
  if (length > LARGEST_BODY) {
    throw new ApiError('PAYLOAD_TOO_LARGE', 'The body is too large', {
      hint: `Ask for fewer properties; the limit is ${LARGEST_BODY / 1024} KiB.`,
      headers: { connection: 'close' },
    });
  }
  return Buffer.concat(parts).toString('utf8');
}
