/** What the answers and network failures of web servers mean for a destination, shared by all stores that use HTTP. */
import { STATUS_CODES } from 'node:http';
import { systemClock } from '../base/clock.ts';
import { retryAfterMs as askedMs } from '../base/web/http-reply.ts';
import {
  DestinationError,
  type DestinationKind,
  errnoOf,
  isAbort,
  MADE_ELSEWHERE,
  PROTECTED_FOR_NOW,
  type Retry,
} from '../base/errors.ts';
import { EndlessNotices } from '../base/web/endless-notices.ts';
import { cannot } from './failed-action.ts';
import { formatBytes } from '../base/units.ts';
import { hintOfProxy, proxyTrouble, type ProxyTrouble, proxyTroubleOf } from '../base/web/proxy-trouble.ts';
import { tlsTrouble } from '../base/web/trusted-authorities.ts';
import { EndlessAnswer, HollowAnswer, PackedAnswer } from './bounds.ts';

/** The call that failed, for the message. */
export interface WebAction {
  /** As a verb: "store", "read". */
  readonly op: string;
  /** The plain URL of the destination, without secrets. */
  readonly url: string;
  readonly key?: string | undefined;
  /** Size of the object that was sent, in bytes. */
  readonly bytes?: number | undefined;
}

export interface WebAnswer {
  readonly status: number | undefined;
  /** The store's own name for the failure: `SlowDown`, `AuthenticationFailed`. */
  readonly code: string | undefined;
  /** The store's own sentence about the failure, cleaned by `storesWords`. */
  readonly words?: string | undefined;
  /** Milliseconds that the server asks to wait before the next try. */
  readonly retryAfterMs: number | undefined;
}

interface Meaning {
  readonly kind: DestinationKind;
  readonly retry: Retry;
  readonly what: string;
  readonly hint: string;
  /** Further facts for programs. */
  readonly details?: Readonly<Record<string, boolean>>;
  /** The hint only guesses the cause, so that a reason which the store gives takes its place. */
  readonly isGuess?: true;
  /** It happened because of how large the object is, so that the message says how large. */
  readonly isOfSize?: true;
}

export function meaning(kind: DestinationKind, retry: Retry, what: string, hint: string): Meaning {
  return { kind, retry, what, hint };
}

/** The bucket, container or the like that the destination lies in does not exist. */
export function noSuch(what: string, hint: string): Meaning {
  return { ...meaning('not-found', 'never', `there is no such ${what}`, hint), details: MADE_ELSEWHERE };
}

const LINE = 'Check the network, and the address of the destination.';
const LATER = 'Try again later. If this continues, ask whoever runs the store.';
const RIGHTS = 'Check the credentials of the destination and what they allow.';
const REASON = 'Follow what the store says, or ask whoever runs it.';
const REPORT = 'Check the address and the settings of the destination.';

/** Retried only later: retrying at once would add to the load. */
export const THROTTLED = meaning('unreachable', 'later', 'the store receives too many requests', LATER);
export const DENIED: Meaning = { ...meaning('denied', 'never', 'the store refuses', RIGHTS), isGuess: true };
export const TAKEN = meaning(
  'exists',
  'never',
  'it already exists',
  'Objects are never replaced. Delete the object first if it has to change.',
);
export const FULL = meaning(
  'full',
  'later',
  'there is no space left, or the quota is used up',
  'Free up some space there, or get more.',
);

const LOCKED = meaning(
  'unreachable',
  'now',
  'somebody else has locked it',
  'Try again. If this continues, remove the lock on the server.',
);

const PROTECTED: Meaning = {
  ...meaning(
    'denied',
    'later',
    'the store protects it from being removed for now',
    'It can be removed when its protection period ends.',
  ),
  details: PROTECTED_FOR_NOW,
};

export const TOO_LARGE: Meaning = {
  ...meaning(
    'unsupported',
    'never',
    'the server, or a proxy in front of it, does not accept objects this large',
    'Most objects are 32 MiB, at most 128 MiB. Whoever runs the server or proxy can raise the limit in its settings: client_max_body_size in nginx, LimitRequestBody in Apache.',
  ),
  isOfSize: true,
};

/** Passes once the user signs in to the network or changes to another one. */
export const NOT_THE_STORE = meaning(
  'unreachable',
  'later',
  'something else answers, such as the sign-in page of a network',
  'Sign in to the network if it requires that, and check that no proxy answers instead of the store.',
);

export function meaningOfStatus(status: number): Meaning {
  if (status === 401 || status === 403) return DENIED;
  if (status === 404 || status === 410)
    return meaning(
      'not-found',
      'never',
      'it does not exist',
      'Check that this is the right destination, and that nothing was removed from it.',
    );
  if (status === 407) return ofProxy(proxyTrouble(407));
  if (status === 408) return meaning('unreachable', 'now', 'the store timed out waiting', LINE);
  if (status === 409 || status === 412) return TAKEN;
  if (status === 413) return TOO_LARGE;
  if (status === 416)
    return meaning(
      'corrupt-reply',
      'never',
      'it has no such part',
      'The object is damaged or incomplete. Run a check of the repository.',
    );
  if (status === 423) return LOCKED;
  if (status === 429) return THROTTLED;
  if (status === 507) return FULL;
  if (status === 511) return NOT_THE_STORE;
  if (status === 501 || status === 405)
    return meaning('unsupported', 'never', 'the store cannot do this', 'Use another store.');
  if (status >= 500)
    return meaning('unreachable', 'later', `the store has an internal problem (${status})`, LATER);
  if (status >= 300 && status < 400)
    return meaning(
      'unsupported',
      'never',
      'the store redirects to another address',
      'Check the address and the region of the destination.',
    );
  return meaning('unsupported', 'never', `the store does not understand the request (${status})`, REPORT);
}

/** Whether that type of content is a page for people: no store answers with one. */
export function isWebPage(type: string | undefined): boolean {
  return /^(?:text\/html|application\/xhtml)/i.test(type ?? '');
}

export const SENSELESS = meaning(
  'corrupt-reply',
  'now',
  'the answer is not valid',
  'Check that no proxy or network sign-in page answers instead of the store.',
);

/** What Node.js calls answers that are no HTTP, and those that end too early. */
const NO_HTTP = /^HPE_/;
const TOO_EARLY = /^ERR_STREAM_PREMATURE/;
const NOT_HTTP = meaning('unreachable', 'later', 'what answers there is not an HTTP server', SENSELESS.hint);
const CUT_SHORT = meaning('unreachable', 'later', 'the connection was lost in the middle of an answer', LINE);

function gone(): Meaning {
  return meaning('unreachable', 'later', 'the server cannot be reached', `${LINE}${hintOfProxy()}`);
}

/**
 * The error to throw for `error`, which `action` failed with. `special` maps the store's own codes to their meaning.
 * Aborts, DestinationErrors and programming errors are returned as they are.
 */
export function webFailure(
  error: unknown,
  action: WebAction,
  answerOf: (error: unknown) => WebAnswer | undefined,
  special: Readonly<Record<string, Meaning>> = {},
): unknown {
  if (error instanceof DestinationError || isAbort(error)) return error;
  const unread = unreadIn(error);
  if (unread !== undefined) return failure(notRead(unread), action, error);
  const answer = answerOf(error);
  const found =
    answer !== undefined && action.op === 'delete' && saysProtected(answer.words ?? '', answer.code)
      ? PROTECTED
      : ((answer?.code === undefined ? undefined : special[answer.code]) ?? meaningOf(error, answer));
  if (found === undefined) return error;
  return failure(withReason(found, answer), action, error, answer);
}

/** An answer that was not read to its end, or what a library made of that. */
function unreadIn(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at instanceof EndlessAnswer || at instanceof HollowAnswer || at instanceof PackedAnswer)
      return `the answer is ${at.what}`;
    if (at instanceof EndlessNotices) return `the answer is ${at.what}`;
    if (TOO_MUCH.test(errnoOf(at) ?? '')) return 'the header of the answer is endless';
  }
  return undefined;
}

/** What Node.js calls more than 16 KiB of headers, or of notes between the pieces of a body. */
const TOO_MUCH = /^HPE_\w*OVERFLOW$/;

function notRead(what: string): Meaning {
  const hint = 'Check what answers there: a store never sends answers this large.';
  return meaning('corrupt-reply', 'never', what, hint);
}

function meaningOf(error: unknown, answer: WebAnswer | undefined): Meaning | undefined {
  if (answer?.status !== undefined) return answer.status >= 300 ? meaningOfStatus(answer.status) : SENSELESS;
  const code = networkCode(error);
  if (code === undefined) return undefined;
  const proxy = proxyTroubleOf(error);
  if (proxy !== undefined) return ofProxy(proxy);
  if (NO_HTTP.test(code)) return NOT_HTTP;
  if (TOO_EARLY.test(code)) return CUT_SHORT;
  const trouble = tlsTrouble(code);
  return trouble === undefined ? gone() : meaning('denied', 'never', trouble.what, trouble.hint);
}

function ofProxy({ what, hint, passes }: ProxyTrouble): Meaning {
  return passes ? meaning('unreachable', 'later', what, hint) : meaning('denied', 'never', what, hint);
}

/** Prefers the store's own words to the guess by status: some stores answer "access denied" when an account is full. */
function withReason(found: Meaning, answer: WebAnswer | undefined): Meaning {
  if (found.kind !== 'denied' || !isReason(answer)) return found;
  if (saysFull(answer.words)) return FULL;
  return found.isGuess === true ? { ...found, hint: REASON } : found;
}

function isReason(answer: WebAnswer | undefined): answer is WebAnswer & { readonly words: string } {
  return answer?.words !== undefined;
}

/** Whether a store's words say that the account is full, whatever code they come with. */
export function saysFull(words: string): boolean {
  return /no space|insufficient[ _](?:storage|space)|(?:storage|space) (?:limit|cap)|disk full|storage ?quota|over ?quota|quota ?limit ?reached|quota (?:has been )?exceeded(?!.*\bmetric\b)/i.test(
    words,
  );
}

/**
 * Whether the words or code of a refused delete say that the object is protected for a time: those of Amazon and
 * compatible stores, Cloudflare, Azure and Google.
 */
export function saysProtected(words: string, code = ''): boolean {
  if (/^(?:BlobImmutableDueToPolicy|ObjectLocked\w*|retentionPolicyNotMet|FileImmutable)$/i.test(code))
    return true;
  return /object[- ]?lock|retention (?:policy|period|date)|\bretain|immutab|\bWORM\b|legal hold/i.test(words);
}

/**
 * The store's sentence, safe to show on a terminal: no control characters, no markup, and no more than a sentence or
 * two. Undefined where it says nothing beyond the code.
 */
export function storesWords(text: unknown, code?: string): string | undefined {
  if (typeof text !== 'string') return undefined;
  const words = text
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .replaceAll(/:\/\/[^/\s@]*@/g, '://')
    .trim();
  if (words === '' || /^[<{[]/.test(words)) return undefined;
  // A text that only repeats the code or the name of a status adds nothing.
  const letters = lettersOf(words.replace(/^\d{3} /, ''));
  if ((code !== undefined && letters === lettersOf(code)) || STATUS_NAMES.has(letters)) return undefined;
  if (words.split(' ').length < LEAST_WORDS && !saysFull(words)) return undefined;
  return words.length > MOST_WORDS ? `${words.slice(0, MOST_WORDS - 1)}…` : words;
}

/**
 * Shorter texts such as "Access Denied" or "invalid_grant" only name a kind of failure. "Account is suspended" or
 * "System in maintenance mode" is a reason.
 */
const LEAST_WORDS = 3;
const MOST_WORDS = 300;

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** The current names, and the former ones of 413 and 414. */
const STATUS_NAMES: ReadonlySet<string> = new Set(
  [...Object.values(STATUS_CODES), 'Request Entity Too Large', 'Request-URI Too Large'].map((name) =>
    lettersOf(name ?? ''),
  ),
);

/** What libraries call an answer that breaks off, and a request that they cannot send: names that say nothing to people. */
const OF_LIBRARIES = /^(?:PARSE_ERROR|REQUEST_SEND_ERROR|HPE_\w+|ERR_STREAM_PREMATURE\w+)$/;

/** The code of the network failure, of the error itself or of one that caused it. */
function networkCode(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const code = errnoOf(at);
    if (code !== undefined && /^[A-Z][A-Z0-9_]+$/.test(code) && !code.startsWith('ERR_INVALID')) return code;
    if (at.name === 'TimeoutError' || /socket hang up|network socket disconnected/i.test(at.message))
      return 'ETIMEDOUT';
    if (at instanceof AggregateError && at.errors.length > 0) {
      const inner = networkCode(at.errors[0]);
      if (inner !== undefined) return inner;
    }
  }
  return undefined;
}

export function failure(
  { kind, retry, what, hint, details = {}, isOfSize }: Meaning,
  { op, url, key, bytes }: WebAction,
  cause?: unknown,
  answer?: WebAnswer,
): DestinationError {
  const found = answer?.code ?? networkCode(cause);
  const code = found === undefined || OF_LIBRARIES.test(found) ? undefined : found;
  const name = code === undefined ? '' : ` (${code.slice(0, 60)})`;
  const size = bytes === undefined || isOfSize !== true ? '' : ` (${formatBytes(bytes)})`;
  const words = answer?.words?.replace(/[.!]$/, '');
  const detail = `${name}${words === undefined ? '' : `. It says: "${words}"`}`;
  const reason = `${what}${size}${detail}`;
  return new DestinationError(kind, `${cannot(op, url, key)}: ${reason}`, {
    op,
    what: reason,
    hint,
    retry,
    details: {
      ...details,
      ...(key === undefined ? {} : { key }),
      ...(answer?.status === undefined ? {} : { status: answer.status }),
      ...(code === undefined ? {} : { code: code.slice(0, 60) }),
      ...(words === undefined ? {} : { says: words }),
      ...(answer?.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs }),
      ...(answer !== undefined && isThrottling(answer) ? { throttled: true } : {}),
    },
    cause,
  });
}

function isThrottling({ status, code }: WebAnswer): boolean {
  return status === 429 || status === 503 || /slow ?down|throttl|busy|too ?many/i.test(code ?? '');
}

/** Long enough to accept nearly any request: the caller decides how long it waits. */
const LONGEST_ASKED_MS = 24 * 3_600_000;

/** The wait in milliseconds that a store asks for by `Retry-After`. */
export function retryAfterMs(retryAfter: string | undefined, date: string | undefined): number | undefined {
  return (
    askedMs({ retryAfter, date }, { longestMs: LONGEST_ASKED_MS, nowMs: systemClock.now() }) ?? undefined
  );
}
