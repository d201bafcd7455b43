import { randomBytes } from 'node:crypto';
import { ulid } from 'ulid';

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
