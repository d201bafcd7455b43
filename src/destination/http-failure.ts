/** What the answers of web servers and networks mean for a destination, for all stores that are reached by HTTP. */
import { STATUS_CODES } from 'node:http';
import { systemClock } from '../base/clock.ts';
import { retryAfterMs as askedMs } from '../base/web/retry-after.ts';
import { DestinationError, MADE_ELSEWHERE, PROTECTED_FOR_NOW, errnoOf, isAbort } from '../base/errors.ts';
import type { DestinationKind, Retry } from '../base/errors.ts';
import { formatBytes } from '../base/units.ts';
import { hintOfProxy, proxyTrouble, proxyTroubleOf, type ProxyTrouble } from '../base/web/proxy-trouble.ts';
import { tlsTrouble } from '../base/web/trusted-authorities.ts';
import { EndlessAnswer, HollowAnswer, PackedAnswer } from './bounds.ts';

/** What was being done, for the message. */
export interface WebAction {
  /** As a verb: "store", "read". */
  readonly op: string;
  /** Where, without secrets: the plain URL of the destination. */
  readonly url: string;
  /** The object, when there is one. */
  readonly key?: string | undefined;
  /** How large the object is that was sent. */
  readonly bytes?: number | undefined;
}

/** What a server said, as far as it is known. */
export interface WebAnswer {
  readonly status: number | undefined;
  /** The store's own name for the failure: `SlowDown`, `AuthenticationFailed`. */
  readonly code: string | undefined;
  /** Its own sentence about it, as `storesWords` gives it. */
  readonly words?: string | undefined;
  /** Milliseconds after which the server wants to be asked again. */
  readonly retryAfterMs: number | undefined;
}

interface Meaning {
  readonly kind: DestinationKind;
  readonly retry: Retry;
  readonly what: string;
  readonly hint: string;
  /** Further facts for programs. */
  readonly details?: Readonly<Record<string, boolean>>;
}

export function meaning(kind: DestinationKind, retry: Retry, what: string, hint: string): Meaning {
  return { kind, retry, what, hint };
}

/** What the destination lies in is not there. */
export function noSuch(what: string, hint: string): Meaning {
  return { ...meaning('not-found', 'never', `there is no such ${what}`, hint), details: MADE_ELSEWHERE };
}

const LINE = 'Check the network, and the address of the destination.';
const LATER = 'Try again later; if it stays so, ask who runs the store.';
const RIGHTS = 'Check the credentials of the destination and what they allow.';
const REASON = 'Do what it says there, or ask who runs the store.';
const REPORT = 'Check the address and the settings of the destination.';

/** Retrying at once would only add to it. */
export const THROTTLED = meaning('unreachable', 'later', 'the store is asked too often', LATER);
export const DENIED = meaning('denied', 'never', 'the store refuses', RIGHTS);
export const TAKEN = meaning(
  'exists',
  'never',
  'it already exists',
  'Objects are never replaced. Delete the object first if it has to change.',
);
export const FULL = meaning(
  'full',
  'later',
  'no space is left, or the quota is used up',
  'Free some space there, or get more.',
);

const PROTECTED: Meaning = {
  ...meaning(
    'denied',
    'later',
    'the store protects it from being removed for now',
    'It can be removed when its time of protection has ended.',
  ),
  details: PROTECTED_FOR_NOW,
};

export const TOO_LARGE = meaning(
  'unsupported',
  'never',
  'the server, or a proxy before it, takes no object of this size',
  'Objects have 32 MiB mostly, and 128 MiB at most. That limit stands in the settings of the server or the proxy, where whoever runs it can raise it: client_max_body_size of nginx, LimitRequestBody of Apache.',
);

/** Whoever signs in, or goes elsewhere, reaches the store again. */
export const NOT_THE_STORE = meaning(
  'unreachable',
  'later',
  'a web page came in place of an answer of the store',
  'Sign in to the network if it asks for that, and check that no proxy answers in place of the store.',
);

export function meaningOfStatus(status: number): Meaning {
  if (status === 401 || status === 403) return DENIED;
  if (status === 404 || status === 410)
    return meaning(
      'not-found',
      'never',
      'it does not exist',
      'Check that this is the right destination and that nothing was removed from it.',
    );
  if (status === 407) return ofProxy(proxyTrouble(407));
  if (status === 408) return meaning('unreachable', 'now', 'the store waited in vain', LINE);
  if (status === 409 || status === 412) return TAKEN;
  if (status === 413) return TOO_LARGE;
  if (status === 416)
    return meaning(
      'corrupt-reply',
      'never',
      'it has no such part',
      'The object is damaged or cut short. Run a check of the repository.',
    );
  if (status === 429) return THROTTLED;
  if (status === 507) return FULL;
  if (status === 511) return NOT_THE_STORE;
  if (status === 501 || status === 405)
    return meaning('unsupported', 'never', 'the store cannot do this', 'Use another store.');
  if (status >= 500)
    return meaning('unreachable', 'later', `the store has a problem of its own (${status})`, LATER);
  if (status >= 300 && status < 400)
    return meaning(
      'unsupported',
      'never',
      'the store names another address',
      'Check the address and the region of the destination.',
    );
  return meaning('unsupported', 'never', `the store does not understand (${status})`, REPORT);
}

export const SENSELESS = meaning(
  'corrupt-reply',
  'now',
  'the answer makes no sense',
  'Check that no proxy or sign-in page of a network answers in place of the store.',
);

/** What Node.js calls answers that are no HTTP, and those that end too early. */
const NO_HTTP = /^HPE_/;
const TOO_EARLY = /^ERR_STREAM_PREMATURE/;
const NOT_HTTP = meaning('unreachable', 'later', 'what answers there is no HTTP', SENSELESS.hint);
const CUT_SHORT = meaning(
  'unreachable',
  'later',
  'the connection broke off in the middle of an answer',
  LINE,
);

function gone(): Meaning {
  return meaning('unreachable', 'later', 'the server cannot be reached', `${LINE}${hintOfProxy()}`);
}

/**
 * The error to throw for `error`, which came of `action`. `special` are meanings of the store's own codes. Aborts,
 * DestinationErrors and errors of the program are returned as they are.
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
    if (TOO_MUCH.test(errnoOf(at) ?? '')) return 'the head of the answer does not come to an end';
  }
  return undefined;
}

/** What Node.js calls more than 16 KiB of headers, or of notes between the pieces of a body. */
const TOO_MUCH = /^HPE_\w*OVERFLOW$/;

function notRead(what: string): Meaning {
  const hint = 'Check what answers there: the store of a repository says no more than that at once.';
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

/** A store that gives its reason knows better than any guess: some call a full account one that may do nothing. */
function withReason(found: Meaning, answer: WebAnswer | undefined): Meaning {
  if (found.kind !== 'denied' || !isReason(answer)) return found;
  if (saysFull(answer.words)) return FULL;
  return found === DENIED ? { ...DENIED, hint: REASON } : found;
}

function isReason(answer: WebAnswer | undefined): answer is WebAnswer & { readonly words: string } {
  return answer?.words !== undefined;
}

/** What stores say of a full account, whatever else they call it. */
export function saysFull(words: string): boolean {
  return /no space|insufficient[ _](?:storage|space)|(?:storage|space) (?:limit|cap)|disk full|storage ?quota|over ?quota|quota ?limit ?reached|quota (?:has been )?exceeded(?!.*\bmetric\b)/i.test(
    words,
  );
}

/** Of a delete: in the words of Amazon and its kin, of Cloudflare, Azure and Google. */
export function saysProtected(words: string, code = ''): boolean {
  if (/^(?:BlobImmutableDueToPolicy|ObjectLocked\w*|retentionPolicyNotMet|FileImmutable)$/i.test(code))
    return true;
  return /object[- ]?lock|retention (?:policy|period|date)|\bretain|immutab|\bWORM\b|legal hold/i.test(words);
}

/** Letters that a person sees and that a terminal bears; no page, and no more than a sentence or two. */
export function storesWords(text: unknown, code?: string): string | undefined {
  if (typeof text !== 'string') return undefined;
  const words = text
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .replaceAll(/:\/\/[^/\s@]*@/g, '://')
    .trim();
  if (words === '' || /^[<{[]/.test(words)) return undefined;
  // What only repeats the name, or that of a status, says nothing more.
  const letters = lettersOf(words.replace(/^\d{3} /, ''));
  if ((code !== undefined && letters === lettersOf(code)) || STATUS_NAMES.has(letters)) return undefined;
  if (words.split(' ').length < LEAST_WORDS && !saysFull(words)) return undefined;
  return words.length > MOST_WORDS ? `${words.slice(0, MOST_WORDS - 1)}…` : words;
}

/** "Access Denied", "invalid_grant": a kind of failure. "System in maintenance mode", "Account is suspended" are a reason. */
const LEAST_WORDS = 3;
const MOST_WORDS = 300;

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Those of today, and what 413 and 414 were called before. */
const STATUS_NAMES: ReadonlySet<string> = new Set(
  [...Object.values(STATUS_CODES), 'Request Entity Too Large', 'Request-URI Too Large'].map((name) =>
    lettersOf(name ?? ''),
  ),
);

/** What libraries call an answer that breaks off, and a request that they cannot send: names that say nothing to people. */
const OF_LIBRARIES = /^(?:PARSE_ERROR|REQUEST_SEND_ERROR|HPE_\w+|ERR_STREAM_PREMATURE\w+)$/;

/** Of the error or of what caused it. */
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
  { kind, retry, what, hint, details = {} }: Meaning,
  { op, url, key, bytes }: WebAction,
  cause?: unknown,
  answer?: WebAnswer,
): DestinationError {
  const subject = key === undefined ? url : `${key} in ${url}`;
  const found = answer?.code ?? networkCode(cause);
  const code = found === undefined || OF_LIBRARIES.test(found) ? undefined : found;
  const name = code === undefined ? '' : ` (${code.slice(0, 60)})`;
  const size = bytes === undefined || what !== TOO_LARGE.what ? '' : ` (${formatBytes(bytes)})`;
  const words = answer?.words?.replace(/[.!]$/, '');
  const detail = `${name}${words === undefined ? '' : `. It says: "${words}"`}`;
  const reason = `${what}${size}${detail}`;
  return new DestinationError(kind, `Cannot ${op} ${subject}: ${reason}`, {
    op,
    what: reason,
    hint,
    retry,
    details: {
      ...details,
      ...(key === undefined ? {} : { key }),
      ...(answer?.status === undefined ? {} : { status: answer.status }),
      ...(code === undefined ? {} : { code: code.slice(0, 60) }),
      ...(answer?.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs }),
      ...(answer !== undefined && isThrottling(answer) ? { throttled: true } : {}),
    },
    cause,
  });
}

function isThrottling({ status, code }: WebAnswer): boolean {
  return status === 429 || status === 503 || /slow ?down|throttl|busy|too ?many/i.test(code ?? '');
}

/** Whoever waits decides how long is too long. */
const LONGEST_ASKED_MS = 24 * 3_600_000;

/** What `Retry-After` of a store asks for, in milliseconds. */
export function retryAfterMs(retryAfter: string | undefined, date: string | undefined): number | undefined {
  return (
    askedMs({ retryAfter, date }, { longestMs: LONGEST_ASKED_MS, nowMs: systemClock.now() }) ?? undefined
  );
}
