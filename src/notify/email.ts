/** Notices by e-mail. */
import { isIPv4, isIPv6 } from 'node:net';
import { PassThrough } from 'node:stream';
import type { SendMailOptions } from 'nodemailer';
import { proxyFor } from '../base/web/proxy.ts';
import { trustSystem } from '../base/web/trusted-authorities.ts';
import { DeliveryError, endOf, type Secret, type Sender } from './sender.ts';
import { mailFailure, type MailStage, networkCode, notForAll, tooSlow } from './mail-failure.ts';
import { bodyOf, type Notice, severityOf, titleOf } from './notice.ts';

export interface MailAccount {
  readonly host: string;
  /** Port 465 uses TLS from the start; on other ports TLS is started when the server offers it. */
  readonly port: number;
  readonly user: string | null;
  readonly password: Secret | null;
  readonly from: string;
  readonly to: readonly string[];
}

const LOG_BYTES = 50_000;

export interface MailPatience {
  /** Milliseconds until the message has been handed over: some mail servers answer slowly on purpose. */
  readonly handOverMs: number;
  /**
   * Further milliseconds for the server to accept the message: giving up too early would deliver it twice (RFC 5321, 4.5.3.2.6).
   */
  readonly acceptMs: number;
}

const PATIENCE: MailPatience = Object.freeze({ handOverMs: 60_000, acceptMs: 600_000 });

/** Recipients who already have a notice that others have not got yet. */
const reached = new WeakMap<Notice, Set<string>>();

export function emailSender(account: MailAccount, patience: MailPatience = PATIENCE): Sender {
  async function send(notice: Notice, signal: AbortSignal): Promise<void> {
    const have = reached.get(notice) ?? new Set();
    reached.set(notice, have);
    const recipients = account.to.filter((one) => !have.has(one));
    if (recipients.length === 0) return;
    const stage: MailStage = { isHandedOver: false };
    try {
      const { rejected, rejectedErrors = [] } = await inTime(
        patience,
        stage,
        signal,
        async (deadline, handedOver) => {
          const message = { ...messageOf(account, notice), envelope: { from: account.from, to: recipients } };
          return await deliverSomehow(account, message, deadline, handedOver);
        },
      );
      // Rejections name only the address of a recipient, without the display name.
      const isRejected = (one: string): boolean => rejected.some((address) => one.includes(address));
      for (const one of recipients) if (!isRejected(one)) have.add(one);
      if (rejected.length > 0) throw notForAll(account, rejectedErrors, have.size > 0);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DeliveryError) throw error;
      throw mailFailure(account, error, stage);
    }
  }

  return { name: 'email', everything: false, keeps: true, send, close: () => undefined };
}

/** The time limit starts again when the message is handed over. */
async function inTime<T>(
  { handOverMs, acceptMs }: MailPatience,
  stage: MailStage,
  signal: AbortSignal,
  work: (deadline: AbortSignal, handedOver: () => void) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const slow = new AbortController();
  const after = (ms: number) => setTimeout(() => slow.abort(tooSlow(ms)), ms);
  let timer = after(handOverMs);
  try {
    return await work(AbortSignal.any([signal, slow.signal]), () => {
      stage.isHandedOver = true;
      clearTimeout(timer);
      timer = after(acceptMs);
    });
  } catch (error) {
    // The library may wrap the reason in another error.
    throw slow.signal.aborted ? slow.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Connects directly, as in many networks with a proxy the mail server is inside. If the server cannot be reached
 * directly, the proxy is tried, which may let mail through.
 */
async function deliverSomehow(
  account: MailAccount,
  message: SendMailOptions,
  signal: AbortSignal,
  handedOver: () => void,
): Promise<Taken> {
  try {
    return await deliver(account, message, undefined, signal, handedOver);
  } catch (error) {
    signal.throwIfAborted();
    if (!UNREACHED.has(networkCode(error))) throw error;
    const proxy = proxyFor(
      new URL(`https://${isIPv6(account.host) ? `[${account.host}]` : account.host}:${account.port}`),
    );
    if (proxy === undefined) throw error;
    return await deliver(account, message, proxy.url.href, signal, handedOver);
  }
}

interface Taken {
  readonly rejected: readonly string[];
  readonly rejectedErrors?: readonly unknown[];
}

/** Errors for which no connection was made. */
const UNREACHED: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EDNS',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
]);

/** Part of `handOverMs` for connecting, so that enough time is left for the attempt through the proxy. */
const CONNECT_MS = 20_000;

/** One connection for each message: there are few messages, and none stays open between them. */
async function deliver(
  account: MailAccount,
  message: SendMailOptions,
  proxy: string | undefined,
  signal: AbortSignal,
  handedOver: () => void,
): Promise<Taken> {
  const { host, port, user, password } = account;
  // Loaded on use, as it is large and seldom needed.
  const { createTransport } = await import('nodemailer');
  trustSystem();
  const transport = createTransport({
    host,
    connectionTimeout: CONNECT_MS,
    ...(proxy === undefined ? {} : { proxy }),
    port,
    secure: port === 465,
    // A password never crosses a network unencrypted, even when the server, or somebody in between, offers no TLS.
    requireTLS: user !== null && !isLoopback(host),
    ...(user === null ? {} : { auth: { user, pass: password?.reveal() ?? '' } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  transport.use('stream', (mail, done) => {
    // The end of this stream marks the handover: it is read when the server has asked for the message.
    mail.message.processFunc((input) => input.pipe(new PassThrough()).once('end', handedOver));
    done();
  });
  try {
    const cancelable: SendMailOptions & { readonly signal: AbortSignal } = { ...message, signal };
    const info = (await transport.sendMail(cancelable)) as {
      readonly rejected: readonly (string | { readonly address: string })[];
      readonly rejectedErrors?: readonly unknown[];
    };
    const rejected = info.rejected.map((one) => (typeof one === 'string' ? one : one.address));
    return { ...info, rejected };
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
      // Prevents automatic replies, such as absence notes.
      'Auto-Submitted': 'auto-generated',
      'X-Holdfast-Kind': notice.kind,
    },
    priority: severityOf(notice.kind) === 'bad' ? 'high' : 'normal',
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
