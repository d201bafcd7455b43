/** Makes one attempt to deliver an event to an endpoint, and interprets the response. */
import type { Clock } from '../../base/clock.ts';
import { withDeadline } from '../../base/paced-work.ts';
import { LONGEST_ASKED_MS, retryAfterMs, silenceAskedMs } from '../../base/web/http-reply.ts';
import { webhookHeaders } from '../../base/web/standard-webhooks.ts';
import type { Secret } from '../../config/secret.ts';
import { type Failure, failureOf, refusalOf, TargetRefused } from './failure.ts';
import { httpsPost, type HttpsReply } from './https-post.ts';
import { isPublicAddress, parseTarget, type WebhookTarget } from './target.ts';
import { nameServerResolver, type Resolve, resolveLocalName } from './resolver.ts';
import type { TestTarget } from './test-targets.ts';

export interface WebhookEvent {
  /** `evt_…`; also the id of the message in every attempt. */
  readonly id: string;
  /** Such as `backup.failed`. */
  readonly kind: string;
  /** When the event happened, in milliseconds since 1970. */
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface WebhookEndpoint {
  readonly url: string;
  /** The currently valid secrets, newest first. */
  readonly secrets: readonly Secret[];
}

/** How an attempt ended. `durationMs` is measured from its beginning. */
export type AttemptResult = Delivered | Gone | Failed;

/** The receiver answered with a status of 200 to 299. */
export interface Delivered {
  readonly outcome: 'delivered';
  readonly status: number;
  readonly durationMs: number;
}

/** The receiver wants no further deliveries: the endpoint is to be disabled. */
export interface Gone {
  readonly outcome: 'gone';
  readonly status: 410;
  readonly durationMs: number;
}

export interface Failed extends Failure {
  readonly outcome: 'failed';
  /** Time that the receiver asked to wait, up to an hour; null when it asked for nothing. */
  readonly retryAfterMs: number | null;
  /** Time for which the receiver wants no deliveries at all, up to an hour; null when it did not ask for that. */
  readonly silenceMs: number | null;
  readonly durationMs: number;
}

export interface AttemptContext {
  readonly clock: Clock;
  readonly testTargets: readonly TestTarget[];
  /** Uses the machine's name servers by default. */
  readonly resolve?: Resolve;
  /** Limit for everything together: resolution, connection, request and response. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 20_000;

/** @throws the reason of `signal` when the signal ended the attempt, which then does not count */
export async function attemptDelivery(
  event: WebhookEvent,
  endpoint: WebhookEndpoint,
  context: AttemptContext,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { clock, timeoutMs = TIMEOUT_MS } = context;
  const began = clock.monotonic();
  // Outside the try block: a defect in the body is not a failure of the receiver.
  const body = bodyOf(event);
  const durationMs = (): number => Math.round(clock.monotonic() - began);
  const failed = (failure: Failure, asked: Pick<Failed, 'retryAfterMs' | 'silenceMs'>): Failed => ({
    outcome: 'failed',
    ...failure,
    ...asked,
    durationMs: durationMs(),
  });
  try {
    const target = parseTarget(endpoint.url, context.testTargets);
    const { status, headers } = await withDeadline(
      timeoutMs,
      async (deadline) => await post({ id: event.id, body }, endpoint, target, context, deadline),
      signal,
    );
    if (status >= 200 && status <= 299) return { outcome: 'delivered', status, durationMs: durationMs() };
    if (status === 410) return { outcome: 'gone', status, durationMs: durationMs() };
    const nowMs = clock.now();
    return failed(refusalOf(target.url.host, status), {
      retryAfterMs: retryAfterMs(headers, { longestMs: LONGEST_ASKED_MS, nowMs }),
      silenceMs: silenceAskedMs(status, headers, nowMs),
    });
  } catch (error) {
    signal.throwIfAborted();
    return failed(failureOf(error, URL.parse(endpoint.url)?.host ?? '', timeoutMs), {
      retryAfterMs: null,
      silenceMs: null,
    });
  }
}

async function post(
  { id, body }: { readonly id: string; readonly body: string },
  { secrets }: WebhookEndpoint,
  target: WebhookTarget,
  { clock, resolve = nameServerResolver() }: AttemptContext,
  signal: AbortSignal,
): Promise<HttpsReply> {
  const addresses = await addressesOf(target, resolve, signal);
  const message = { id, sentAt: clock.now(), body };
  const revealed = secrets.map((secret) => secret.reveal());
  return await httpsPost(
    {
      url: target.url,
      headers: { ...webhookHeaders(message, revealed), 'user-agent': 'Holdfast' },
      body,
      addresses,
      authority: target.testAuthority,
    },
    signal,
  );
}

/** The body of the message, identical to the byte in every attempt. */
function bodyOf({ kind, at, data }: WebhookEvent): string {
  return JSON.stringify({ type: kind, timestamp: new Date(at).toISOString(), data });
}

/**
 * The addresses of the target, which must all be public unless it is a test receiver.
 * @throws {TargetRefused}
 */
async function addressesOf(
  { url, testAuthority }: WebhookTarget,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = await unlessAborted(
    (testAuthority === null ? resolve : resolveLocalName)(name, signal),
    signal,
  );
  if (addresses.length === 0) throw new TargetRefused('name_not_found');
  if (testAuthority === null && !addresses.every(isPublicAddress)) throw new TargetRefused('not_public');
  return addresses;
}

/** Rejects on abort, so that a silent name server does not hold up the attempt. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
