/** Replies of web servers: reads limited parts of them, as they may be long, slow or hostile, and when a server that refuses a request wants to be asked again. */
import type { Readable } from 'node:stream';

/** The first `bytes` bytes of a body. The rest is not fetched: leaving the loop early ends the stream. */
export async function readStart(body: AsyncIterable<Uint8Array> | null, bytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    parts.push(part);
    length += part.byteLength;
    if (length >= bytes) break;
  }
  return Buffer.concat(parts).subarray(0, bytes);
}

/**
 * The first `bytes` bytes of a body, as far as they arrive within `ms`. For replies whose status is all that matters,
 * and that may never end.
 */
export async function readStartWithin(body: Readable, bytes: number, ms: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  // Destroying the stream ends the loop as the end of the body would.
  const timer = setTimeout(() => body.destroy(), ms);
  try {
    for await (const part of body as AsyncIterable<Uint8Array>) {
      parts.push(part);
      length += part.byteLength;
      if (length >= bytes) break;
    }
  } catch {
    // The reply broke off; what has arrived is used.
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
  return Buffer.concat(parts).subarray(0, bytes);
}

/**
 * Milliseconds, an hour. A server that asks for more is tried after that: its reason may have passed, or it may have
 * been mistaken.
 */
export const LONGEST_ASKED_MS = 3_600_000;
/** The wait in milliseconds after a "too many requests" that names no time. */
const USUAL_MS = 60_000;

export interface RefusalHeaders {
  /** `Retry-After`. */
  readonly retryAfter: string | null | undefined;
  /** `Date`: the server's own clock. */
  readonly date: string | null | undefined;
}

/**
 * Milliseconds that `Retry-After` asks for, at most `longestMs`; null when it asks for nothing. A date is compared with
 * the server's own clock, or with `nowMs` where the server does not send its time.
 */
export function retryAfterMs(
  { retryAfter, date }: RefusalHeaders,
  { longestMs, nowMs }: { readonly longestMs: number; readonly nowMs: number },
): number | null {
  const text = (retryAfter ?? '').trim();
  // With very many digits the number becomes infinite, which is capped too.
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), longestMs);
  const until = httpDate(text);
  if (until === undefined) return null;
  return Math.min(Math.max(0, until - (httpDate((date ?? '').trim()) ?? nowMs)), longestMs);
}

/**
 * Milliseconds for which a receiver wants no requests at all, according to its answer; null when the answer only
 * concerns this one request.
 */
export function silenceAskedMs(status: number, headers: RefusalHeaders, nowMs: number): number | null {
  if (status !== 429 && status !== 503) return null;
  const askedMs = retryAfterMs(headers, { longestMs: LONGEST_ASKED_MS, nowMs });
  return askedMs ?? (status === 429 ? USUAL_MS : null);
}

const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*';
/** The three forms of RFC 9110. The last one, from C's asctime, names no zone and means GMT like the others. */
const HTTP_DATE = new RegExp(`^${DAY}, \\d\\d[ -][A-Z][a-z]{2}[ -]\\d{2,4} [\\d:]{8} GMT$`);
const ASCTIME = new RegExp(`^${DAY} [A-Z][a-z]{2} [ \\d]\\d [\\d:]{8} \\d{4}$`);

function httpDate(text: string): number | undefined {
  const whole = ASCTIME.test(text) ? `${text} GMT` : text;
  if (!HTTP_DATE.test(text) && whole === text) return undefined;
  const ms = Date.parse(whole);
  return Number.isNaN(ms) ? undefined : ms;
}
