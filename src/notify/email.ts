/** Notices by e-mail. */
import { isIPv4, isIPv6 } from 'node:net';
import { PassThrough } from 'node:stream';
import type { SendMailOptions } from 'nodemailer';
import { proxyFor } from '../base/web/proxy.ts';
import { trustSystem } from '../base/web/trusted-authorities.ts';
import { endOf } from './cut-text.ts';
import { mailFailure, networkCode, notForAll, tooSlow, type MailStage } from './mail-failure.ts';
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

export interface MailPatience {
  /** Milliseconds until the message is handed over: mail servers answer slowly on purpose. */
  readonly handOverMs: number;
  /** And then until the server says whether it takes it: one that is given up too early has it twice (RFC 5321, 4.5.3.2.6). */
  readonly acceptMs: number;
}

const PATIENCE: MailPatience = Object.freeze({ handOverMs: 60_000, acceptMs: 600_000 });

/** Who has a notice already that others are still to get. */
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
      // By their addresses alone, without names.
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

/** The time begins anew when the message is handed over. */
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
    // The library may make something else of it.
    throw slow.signal.aborted ? slow.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Straight to the server, which in many networks with a proxy is their own; where it cannot be reached so, through the
 * proxy, if that lets mail through.
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

/** Of the time to hand over, so that what is left is enough for the other way. */
const CONNECT_MS = 20_000;

/** A connection for each message: there are few, and none stays open between them. */
async function deliver(
  account: MailAccount,
  message: SendMailOptions,
  proxy: string | undefined,
  signal: AbortSignal,
  handedOver: () => void,
): Promise<Taken> {
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
  transport.use('stream', (mail, done) => {
    // The last part of its way: it is read when the server has said that it may come.
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
