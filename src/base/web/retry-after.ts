/** When a server that refuses a request wants the next one. */

/** An hour. Whoever asks for more is asked again by then: what it meant may be over, or it may have been mistaken. */
export const LONGEST_ASKED_MS = 3_600_000;
/** What a server that only says "too many requests" is taken to ask for. */
const USUAL_MS = 60_000;

export interface RefusalHeaders {
  /** `Retry-After`. */
  readonly retryAfter: string | null | undefined;
  /** `Date`: the server's own clock. */
  readonly date: string | null | undefined;
}

/**
 * Milliseconds that `Retry-After` asks for, at most `longestMs`; null when it asks for nothing. A date is compared with the
 * server's own clock, or with `nowMs` when that does not tell the time.
 */
export function retryAfterMs(
  { retryAfter, date }: RefusalHeaders,
  { longestMs, nowMs }: { readonly longestMs: number; readonly nowMs: number },
): number | null {
  const text = (retryAfter ?? '').trim();
  // However many digits: what is no longer a number is the longest.
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), longestMs);
  const until = httpDate(text);
  if (until === undefined) return null;
  return Math.min(Math.max(0, until - (httpDate((date ?? '').trim()) ?? nowMs)), longestMs);
}

/**
 * Milliseconds for which a receiver that answered so wants to hear nothing at all, whatever there is to tell it; null when
 * its answer is a failure of this one request.
 */
export function silenceAskedMs(status: number, headers: RefusalHeaders, nowMs: number): number | null {
  if (status !== 429 && status !== 503) return null;
  const askedMs = retryAfterMs(headers, { longestMs: LONGEST_ASKED_MS, nowMs });
  return askedMs ?? (status === 429 ? USUAL_MS : null);
}

const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*';
/** The three forms of RFC 9110; the last one, of C's asctime, names no zone and means the same as the others. */
const HTTP_DATE = new RegExp(`^${DAY}, \\d\\d[ -][A-Z][a-z]{2}[ -]\\d{2,4} [\\d:]{8} GMT$`);
const ASCTIME = new RegExp(`^${DAY} [A-Z][a-z]{2} [ \\d]\\d [\\d:]{8} \\d{4}$`);

function httpDate(text: string): number | undefined {
  const whole = ASCTIME.test(text) ? `${text} GMT` : text;
  if (!HTTP_DATE.test(text) && whole === text) return undefined;
  const ms = Date.parse(whole);
  return Number.isNaN(ms) ? undefined : ms;
}
