/** Notices by e-mail. */
import { isIPv4, isIPv6 } from 'node:net';
import type { SendMailOptions } from 'nodemailer';
import { isTimeout, withDeadline } from '../base/deadline.ts';
import { errnoOf } from '../base/errors.ts';
import { hintOfProxy } from '../base/proxy-trouble.ts';
import { ProxyUnusable, proxyFor } from '../base/proxy.ts';
import { tlsTrouble, trustSystem } from '../base/trusted-authorities.ts';
import { endOf } from './cut-text.ts';
import { bodyOf, severityOf, titleOf, type Notice } from './notice.ts';
import { DeliveryError, type Secret, type Sender } from './sender.ts';

export interface MailAccount {
  readonly host: string;
  /** 465 speaks TLS from the start; on others it is begun when the server offers it. */
  readonly port: number;
  readonly user: string | null;
  readonly password: Secret | null;
  readonly from: string;
  readonly to: readonly string[];
}

const LOG_BYTES = 50_000;
/** For one try; mail servers answer slowly on purpose. */
const TIMEOUT_MS = 60_000;

export function emailSender(account: MailAccount, timeoutMs = TIMEOUT_MS): Sender {
  async function send(notice: Notice, signal: AbortSignal): Promise<void> {
    try {
      await withDeadline(
        timeoutMs,
        (deadline) => deliverSomehow(account, messageOf(account, notice), deadline),
        signal,
      );
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DeliveryError) throw error;
      throw failure(account, error, timeoutMs);
    }
  }

  return { name: 'email', everything: false, send, close: () => undefined };
}

/**
 * Straight to the server, which in many networks with a proxy is their own; where it cannot be reached so, through the
 * proxy, if that lets mail through.
 */
async function deliverSomehow(
  account: MailAccount,
  message: SendMailOptions,
  signal: AbortSignal,
): Promise<void> {
  try {
    await deliver(account, message, undefined, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!UNREACHED.has(networkCode(error))) throw error;
    const proxy = proxyFor(
      new URL(`https://${isIPv6(account.host) ? `[${account.host}]` : account.host}:${account.port}`),
    );
    if (proxy === undefined) throw error;
    await deliver(account, message, proxy.url.href, signal);
  }
}

/** No connection comes about. */
const UNREACHED: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EDNS',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
]);

/** The library has names of its own, and keeps that of the system beside them. */
function networkCode(error: unknown): string {
  const { originalCode } = (error ?? {}) as { readonly originalCode?: unknown };
  return typeof originalCode === 'string' ? originalCode : (errnoOf(error) ?? 'error');
}

/** Of `TIMEOUT_MS`, so that what is left is enough for the other way. */
const CONNECT_MS = 20_000;

/** A connection for each message: there are few, and none stays open between them. */
async function deliver(
  account: MailAccount,
  message: SendMailOptions,
  proxy: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { host, port, user, password } = account;
  // Large, and seldom needed.
  const { createTransport } = await import('nodemailer');
  trustSystem();
  const transport = createTransport({
    host,
    connectionTimeout: CONNECT_MS,
    ...(proxy === undefined ? {} : { proxy }),
    port,
    secure: port === 465,
    // A password never goes over a network in the clear, even when the server (or somebody on the way) offers no TLS.
    requireTLS: user !== null && !isLoopback(host),
    ...(user === null ? {} : { auth: { user, pass: password?.reveal() ?? '' } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const cancelable: SendMailOptions & { readonly signal: AbortSignal } = { ...message, signal };
    const { rejected } = await transport.sendMail(cancelable);
    if (rejected.length === 0) return;
    // Never again: those who have it would get it twice.
    throw new DeliveryError(`The mail server ${host}:${port} took the message, but not for everybody`, {
      hint: 'Check the addresses of the recipients.',
      details: { refused: rejected.length },
    });
  } finally {
    transport.close();
  }
}

function messageOf({ from, to }: MailAccount, notice: Notice): SendMailOptions {
  const log = endOf(notice.log.join('\n'), LOG_BYTES);
  return {
    from,
    to: [...to],
    subject: `[Holdfast ${notice.host}] ${titleOf(notice)}`,
    text: log === '' ? bodyOf(notice) : `${bodyOf(notice)}\nEnd of the log:\n${log}\n`,
    date: new Date(notice.at),
    messageId: `<${notice.id}@holdfast.invalid>`,
    headers: {
      // No absence notes in reply.
      'Auto-Submitted': 'auto-generated',
      'X-Holdfast-Kind': notice.kind,
    },
    priority: severityOf(notice.kind) === 'bad' ? 'high' : 'normal',
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

function failure({ host, port }: MailAccount, error: unknown, timeoutMs: number): DeliveryError {
  const where = `The mail server ${host}:${port}`;
  if (isTimeout(error)) {
    return new DeliveryError(`${where} did not take the message within ${timeoutMs / 1000} s`, {
      hint: 'Check host and port: 465 for TLS, 587 for STARTTLS.',
      retry: 'later',
      cause: error,
    });
  }
  const status = statusOf(error);
  if (error instanceof ProxyUnusable)
    return new DeliveryError(`${where} cannot be reached: ${error.message}`, {
      hint: error.hint,
      retry: 'later',
    });
  const code = errnoOf(error) ?? 'error';
  const trouble = tlsTrouble(networkCode(error));
  if (trouble !== undefined)
    return new DeliveryError(`${where} did not take the message: ${trouble.what} (${networkCode(error)})`, {
      hint: trouble.hint,
      retry: 'later',
      cause: error,
    });
  if (code === 'EPROXY')
    return new DeliveryError(`${where} is reached neither straight nor through the proxy`, {
      hint: `Many proxies let no mail through: ask who runs it, or tell yourself by a webhook or ntfy instead.${hintOfProxy()}`,
      retry: 'later',
      cause: error,
    });
  const refused = code === 'EAUTH' || code === 'EENVELOPE' || (status !== null && status >= 500);
  return new DeliveryError(
    `${where} did not take the message (${status === null ? code : `${code}, ${status}`})`,
    {
      hint: code === 'EAUTH' ? 'Check user and password.' : 'Check host, port, sender and recipients.',
      retry: refused && !(status !== null && status < 500) ? 'never' : 'later',
      details: status === null ? {} : { status },
      cause: error,
    },
  );
}

/** The reply code of the server. */
function statusOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('responseCode' in error)) return null;
  return typeof error.responseCode === 'number' ? error.responseCode : null;
}
