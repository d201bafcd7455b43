/** Explains why a mail server has not accepted a message, and what to do. */
import { errnoOf } from '../base/errors.ts';
import { hintOfProxy } from '../base/web/proxy-trouble.ts';
import { ProxyUnusable } from '../base/web/proxy.ts';
import { tlsTrouble } from '../base/web/trusted-authorities.ts';
import { DeliveryError, type Secret } from './sender.ts';

/** How far the delivery of a message has come. */
export interface MailStage {
  /** The server has the complete message, but has not said whether it accepts it. */
  isHandedOver: boolean;
}

interface Account {
  readonly host: string;
  readonly port: number;
  readonly user: string | null;
  readonly password: Secret | null;
}

/** The library's facts about a failure. */
interface Refusal {
  /** The three-digit code of the server; null when it said nothing. */
  readonly status: number | null;
  /** The server's message, including its code. */
  readonly words: string | null;
  /** The command that was refused: `MAIL FROM`, `RCPT TO`, `DATA`, `STARTTLS`. */
  readonly command: string;
  readonly code: string;
}

interface Trouble {
  readonly what: string;
  readonly hint: string;
}

class TooSlow extends Error {
  override readonly name = 'TooSlow';
  readonly ms: number;

  constructor(ms: number) {
    super('too slow');
    this.ms = ms;
  }
}

export function tooSlow(ms: number): Error {
  return new TooSlow(ms);
}

/** The system's error code, which the library keeps in addition to a code of its own. */
export function networkCode(error: unknown): string {
  const { originalCode } = (error ?? {}) as { readonly originalCode?: unknown };
  return typeof originalCode === 'string' ? originalCode : (errnoOf(error) ?? 'error');
}

/** @param reachedSome whether other recipients have the message */
export function notForAll(account: Account, errors: readonly unknown[], reachedSome: boolean): DeliveryError {
  const refusals = errors.map((error) => refusalOf(error, account));
  const later = refusals.find(({ status }) => status !== null && status < 500);
  const [first] = refusals;
  const shown = later ?? first;
  const hint = later === undefined ? CHECK_RECIPIENTS : COMES_AGAIN;
  const words = shown?.words === undefined || shown.words === null ? '' : `. It says: "${shown.words}"`;
  return new DeliveryError(`${nameOf(account)} accepted the message, but not for all recipients${words}`, {
    hint,
    // Recipients who have it do not get it again.
    retry: later === undefined ? 'never' : 'later',
    details: { refused: errors.length },
    reachedSome,
  });
}

export function mailFailure(account: Account, error: unknown, stage: MailStage): DeliveryError {
  const where = nameOf(account);
  if (error instanceof TooSlow) {
    const seconds = `within ${error.ms / 1000} s`;
    return stage.isHandedOver
      ? new DeliveryError(`${where} received the message, but did not confirm it ${seconds}`, {
          hint: 'It may have arrived anyway. If this continues, ask whoever runs the server.',
          retry: 'later',
          mayHaveArrived: true,
        })
      : new DeliveryError(`${where} did not accept the message ${seconds}`, {
          hint: 'Check host and port: 465 for TLS, 587 for STARTTLS.',
          retry: 'later',
        });
  }
  if (error instanceof ProxyUnusable)
    return new DeliveryError(`${where} cannot be reached: ${error.message}`, {
      hint: error.hint,
      retry: 'later',
    });
  const refusal = refusalOf(error, account);
  const { code, status, words } = refusal;
  if (code === 'EPROXY')
    return new DeliveryError(`${where} cannot be reached, neither directly nor through the proxy`, {
      hint: `Many proxies block mail: ask whoever runs it, or use a webhook or ntfy instead.${hintOfProxy()}`,
      retry: 'later',
      cause: error,
    });
  const { what, hint } = troubleOf(error, refusal, account);
  const said = words === null ? ` (${networkCode(error)})` : `. It says: "${words}"`;
  const isRefused = status === null ? code === 'EAUTH' || code === 'EENVELOPE' : status >= 500;
  // Such a refusal concerns this network, and may not happen in another one.
  const isOfPlace = code === 'EPROTOCOL' || refusal.command === 'STARTTLS' || code === 'ETLS';
  return new DeliveryError(`${where} ${what}${said}`, {
    hint,
    retry: isRefused && !isOfPlace ? 'never' : 'later',
    details: status === null ? {} : { status },
    mayHaveArrived: stage.isHandedOver && status === null,
  });
}

const NO_ENCRYPTION: Trouble = {
  what: 'offers no encryption on this port, so Holdfast sends nothing',
  hint: 'Check the port: 465 for TLS from the beginning, 587 for STARTTLS.',
};
const COMES_AGAIN =
  'Holdfast keeps trying: many servers reject unknown senders for the first few minutes (greylisting), or are full for a while.';
const CHECK_RECIPIENTS = 'Check the addresses of the recipients ("to").';
const AGAIN = 'Holdfast keeps trying. If this continues, ask whoever runs the server.';

function troubleOf(error: unknown, refusal: Refusal, account: Account): Trouble {
  const { code, command, status } = refusal;
  const isForNow = status !== null && status < 500;
  if (wantsEncryption(refusal)) return NO_ENCRYPTION;
  if (wantsSignIn(refusal)) return signIn(account);
  if (code === 'EAUTH')
    return {
      what: 'rejects the sign-in of the account',
      hint: isForNow
        ? AGAIN
        : 'Check the user name and password. Many providers require a separate app password instead of the one of the account.',
    };
  if (command === 'MAIL FROM')
    return {
      what: 'rejects the sender',
      hint: isForNow
        ? COMES_AGAIN
        : 'Check the sender ("from"): it often has to be an address of the account.',
    };
  if (command === 'RCPT TO' || code === 'EENVELOPE')
    return { what: 'rejects the recipients', hint: isForNow ? COMES_AGAIN : CHECK_RECIPIENTS };
  if (code === 'EMESSAGE' || command === 'DATA')
    return {
      what: 'rejects the message',
      hint: isForNow ? COMES_AGAIN : 'Follow what the server says, or ask whoever runs it.',
    };
  if (command === 'STARTTLS' || code === 'ETLS')
    return tlsTrouble(networkCode(error)) === undefined ? NO_ENCRYPTION : ofTls(error);
  if (tlsTrouble(networkCode(error)) !== undefined) return ofTls(error);
  return ofConnection(error, refusal);
}

function ofTls(error: unknown): Trouble {
  const trouble = tlsTrouble(networkCode(error));
  return { what: `did not accept the message: ${trouble?.what ?? ''}`, hint: trouble?.hint ?? '' };
}

function ofConnection(error: unknown, { code, status }: Refusal): Trouble {
  if (status !== null)
    return {
      what: 'is running, but accepts no mail',
      hint: status < 500 ? AGAIN : 'Follow what the server says, or check host and port.',
    };
  if (code === 'EPROTOCOL')
    return { what: 'does not answer like a mail server', hint: 'Check host and port.' };
  // These codes mean that the server had answered before.
  if (code === 'ECONNECTION' || networkCode(error) === 'ECONNRESET')
    return {
      what: 'ended the connection',
      hint: 'Holdfast keeps trying. If this continues, check host and port.',
    };
  return { what: 'cannot be reached', hint: `Check host, port and the network.${hintOfProxy()}` };
}

function wantsEncryption({ command, status, words }: Refusal): boolean {
  return (
    status !== null &&
    status >= 500 &&
    command !== 'DATA' &&
    /\bSTARTTLS\b|encryption (?:is )?required/i.test(words ?? '')
  );
}

/** Servers say this in various words and under several codes. */
function wantsSignIn({ code, command, status, words }: Refusal): boolean {
  if (code === 'EAUTH') return false;
  if (status === 530) return true;
  const isOfEnvelope = command === 'MAIL FROM' || command === 'RCPT TO';
  return (
    isOfEnvelope &&
    /auth\w* (?:is )?(?:required|needed)|relay\w* (?:access )?(?:denied|not|prohibited)|not (?:permitted|allowed) to relay|unable to relay|must (?:authenticate|log ?in)/i.test(
      words ?? '',
    )
  );
}

function signIn({ user }: Account): Trouble {
  return {
    what: 'requires a sign-in before it accepts mail',
    hint:
      user === null
        ? 'Set the user name and password of an account there.'
        : 'It offered no way to sign in on this connection: check the port (465 for TLS, 587 for STARTTLS), or ask whoever runs the server.',
  };
}

function nameOf({ host, port }: Account): string {
  return `The mail server ${host}:${port}`;
}

const MOST_WORDS = 200;

function refusalOf(error: unknown, account: Account): Refusal {
  const { responseCode, response, command } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const status = typeof responseCode === 'number' && responseCode >= 200 ? responseCode : null;
  return {
    status,
    words: typeof response === 'string' && status !== null ? plainWords(response, account) : null,
    command: typeof command === 'string' ? command : '',
    code: errnoOf(error) ?? 'error',
  };
}

/** Removes the password, as some servers repeat what they were sent. */
function plainWords(response: string, { user, password }: Account): string {
  const secret = password?.reveal() ?? '';
  const spellings =
    secret === ''
      ? []
      : [secret, base64(`\0${user ?? ''}\0${secret}`), base64(secret)].toSorted(
          (a, b) => b.length - a.length,
        );
  const shown = spellings.reduce((text, spelling) => text.replaceAll(spelling, '[secret]'), response);
  const words = shown.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return words.length > MOST_WORDS ? `${words.slice(0, MOST_WORDS - 1)}…` : words;
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
