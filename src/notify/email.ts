/** Notices by e-mail. */
import { isIPv4 } from 'node:net';
import type { SendMailOptions } from 'nodemailer';
import { isTimeout, withDeadline } from '../base/deadline.ts';
import { errnoOf } from '../base/errors.ts';
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
        (deadline) => deliver(account, messageOf(account, notice), deadline),
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

/** A connection for each message: there are few, and none stays open between them. */
async function deliver(account: MailAccount, message: SendMailOptions, signal: AbortSignal): Promise<void> {
  const { host, port, user, password } = account;
  // Large, and seldom needed.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    host,
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
  const code = errnoOf(error) ?? 'error';
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
