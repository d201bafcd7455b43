/** Headers of requests and responses: those against pages of other sites, one that may stand only once, a range of bytes, the id of a request. */
import { randomBytes } from 'node:crypto';
import { ulid } from 'ulid';

const POLICY =
  "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'; form-action 'none'";

/**
 * The policy of the product's own page. Text cannot become markup, not even through a mistake in the page's script.
 * `blob:` is for pictures from snapshots, which are shown from memory.
 */
export const PAGE_POLICY = `${POLICY}; img-src 'self' blob:; require-trusted-types-for 'script'; trusted-types 'none'`;

/** Security headers of every response. None of them lets another site's page read a response. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** The value of a header that occurs exactly once; undefined otherwise. Node itself would use the first of several. */
export function soleHeader(rawHeaders: readonly string[], name: string): string | undefined {
  let found: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== name) continue;
    if (found !== undefined) return undefined;
    found = rawHeaders[index + 1];
  }
  return found;
}

export interface ContentRange {
  readonly start: number;
  /** Position of the first byte after the range. */
  readonly end: number;
}

/**
 * Reads the Range header of RFC 9110, limited to a single range of bytes. The requested range of `size` bytes;
 * undefined when the whole content is to be sent, which also answers other units, several ranges and malformed headers.
 */
export function readRange(
  header: string | undefined,
  size: number,
): ContentRange | 'unsatisfiable' | undefined {
  const match = /^bytes\s*=\s*(?:(\d+)\s*)?-\s*(?:(\d+)\s*)?$/i.exec(header ?? '');
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return undefined;
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}

/** The ids that a caller may choose. Others are replaced, so that ids can be written to logs as they are. */
const ACCEPTABLE = /^[A-Za-z0-9._-]{1,64}$/;

/** The id of a request: the caller's `X-Request-Id` if it is acceptable, otherwise a new one. */
export function requestIdOf(inbound: string | readonly string[] | undefined, nowMs: number): string {
  return typeof inbound === 'string' && ACCEPTABLE.test(inbound) ? inbound : `req_${ulid(nowMs, chance)}`;
}

/** Random bytes for many ids at once: asking the system for each letter took longer than the rest of a small request. */
const pool = { bytes: Buffer.alloc(0), next: 0 };

/** A random number from 0 to just below 1, in 256 steps, which divide evenly among the 32 letters of an id. */
function chance(): number {
  if (pool.next >= pool.bytes.length) {
    pool.bytes = randomBytes(4096);
    pool.next = 0;
  }
  const byte = pool.bytes[pool.next] ?? 0;
  pool.next += 1;
  return byte / 256;
}
