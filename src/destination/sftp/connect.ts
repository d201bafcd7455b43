/** Opens a connection to an SSH server that has proven its identity, with one SFTP session on it. */
import type { Client, ServerHostKeyAlgorithm, SFTPWrapper } from 'ssh2';
import { systemClock } from '../../base/clock.ts';
import { errnoText } from '../../base/errno-words.ts';
import { DestinationError, errnoOf } from '../../base/errors.ts';
import { waitsForAnswer } from '../../base/waits.ts';
import { untilAborted } from '../stall.ts';
import { disconnected } from './answers.ts';
import { textBeforeSftp, textForSftp } from './shell-text.ts';
import { fingerprintOf, judgeHostKey, knownTypes, typeOfKey } from './known-hosts.ts';
import type { Target } from './target.ts';
import { byCommand, straight, through, type Way, type Wire } from './way.ts';

export interface Connection {
  readonly client: Client;
  readonly sftp: SFTPWrapper;
  readonly socket: Wire;
  /** The server's software as it announces itself, such as `OpenSSH_9.2p1 …`. */
  readonly software: string;
}

/** A server that has not completed the sign-in within this time counts as not answering. */
const readyMs = 60_000;
const keepaliveMs = 15_000;

/** The fast ciphers first; the others are those that ssh2 supports and that are not broken. */
const ciphers = [
  'aes128-gcm@openssh.com',
  'aes256-gcm@openssh.com',
  'chacha20-poly1305@openssh.com',
  'aes128-ctr',
  'aes192-ctr',
  'aes256-ctr',
] as const;

const hostKeyTypes: readonly ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
];

/**
 * Connects and signs in. Rejects with `denied` when the server's key is not the known one or the server accepts no key
 * or password, with `unsupported` when it has no SFTP, and with `unreachable` otherwise; with the signal's reason when
 * that is aborted.
 */
export async function connect(target: Target, signal: AbortSignal): Promise<Connection> {
  const { client, wire } = await signIn(target, signal);
  try {
    const sftp = await untilAborted(openSession(client, target.url), signal);
    return { client, sftp, socket: wire, software: softwareOf(client) };
  } catch (error) {
    client.destroy();
    wire.destroy();
    throw error;
  }
}

interface SignedIn {
  readonly client: Client;
  readonly wire: Wire;
}

async function wayTo(target: Target, signal: AbortSignal): Promise<Way> {
  const { host, port, via, command, url } = target;
  if (command !== undefined) return byCommand(command.text, command.environment);
  if (via === undefined) return straight(host, port);
  const between = await signIn(via, signal);
  const end = (): void => between.wire.destroy();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await through({ ...between, shown: via.host }, host, port, { url, patienceMs: readyMs });
  } finally {
    signal.removeEventListener('abort', end);
  }
}

async function signIn(target: Target, signal: AbortSignal): Promise<SignedIn> {
  signal.throwIfAborted();
  const { ssh2, url } = target;
  const { stream, wire } = await wayTo(target, signal);
  if (signal.aborted) wire.destroy();
  signal.throwIfAborted();
  const client = new ssh2.Client();
  let refusal: DestinationError | undefined;
  // Set once the server has proven its identity. A failure after that concerns the sign-in.
  let isKnown = false;
  const outcome = Promise.withResolvers<undefined>();
  const fail = (error: unknown): void => outcome.reject(refusal ?? connectError(error, target, isKnown));
  const abort = (): void => {
    wire.destroy();
    outcome.reject(signal.reason);
  };
  const since = systemClock.monotonic();
  const answered = waitsForAnswer(
    'store',
    () => since,
    () => readyMs,
  );
  signal.addEventListener('abort', abort, { once: true });
  // Never removed: nobody handles errors after the end, and one without a listener would end the process.
  client.on('error', (error) => {
    // When the ssh-agent is gone, sign-in goes on with the next key.
    if (error.level !== 'agent') fail(error);
  });
  client.once('handshake', () => (isKnown = true));
  client.once('close', () =>
    fail(isKnown ? undefined : disconnected(url, 'the server closed the connection')),
  );
  client.once('ready', () => outcome.resolve(undefined));
  try {
    client.connect({
      sock: stream,
      username: target.user,
      readyTimeout: readyMs,
      keepaliveInterval: keepaliveMs,
      keepaliveCountMax: 4,
      algorithms: { cipher: [...ciphers], serverHostKey: hostKeyOrder(target) },
      authHandler: [...target.credentials.methods],
      hostVerifier: (key: Buffer): boolean => {
        refusal = refusalOf(key, target);
        return refusal === undefined;
      },
    });
    await outcome.promise;
    return { client, wire };
  } catch (error) {
    client.destroy();
    wire.destroy();
    throw error;
  } finally {
    answered();
    signal.removeEventListener('abort', abort);
  }
}

/** The server's software, which ssh2 stores but does not expose in its interface. */
function softwareOf(client: Client): string {
  const { _remoteVer: software } = client as { readonly _remoteVer?: unknown };
  return typeof software === 'string' ? software : '';
}

function hostKeyOrder({ known, knownAs: { host, port } }: Target): ServerHostKeyAlgorithm[] {
  const types = new Set(knownTypes(known, host, port));
  const isKnown = (name: string): boolean => types.has(name.startsWith('rsa-') ? 'ssh-rsa' : name);
  return [...hostKeyTypes.filter(isKnown), ...hostKeyTypes.filter((name) => !isKnown(name))];
}

/** Why the connection is refused; undefined when the server's key is the known one. */
function refusalOf(key: Buffer, target: Target): DestinationError | undefined {
  const { known, url, knownFile, knownAs } = target;
  const { host, port } = knownAs;
  const verdict = judgeHostKey(known, host, port, key);
  if (verdict.kind === 'known') return undefined;
  const fingerprint = fingerprintOf(key);
  const shown = `its ${typeOfKey(key)} key ${fingerprint}`;
  const name = port === 22 ? host : `[${host}]:${port}`;
  const scan = `ssh-keyscan${port === 22 ? '' : ` -p ${port}`} ${host} >> ${knownFile}`;
  const add = `Compare it with the server’s own (there: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub). If it is the same: ${scan}`;
  const [what, hint] = ((): readonly [string, string] => {
    switch (verdict.kind) {
      case 'changed':
        return [
          `is not the same server as before: ${shown} differs from the one in ${verdict.at}`,
          `Somebody may be intercepting the connection. Ask whoever runs the server. If its key was changed on purpose: ssh-keygen -R '${name}' -f ${knownFile}, then add the new one.`,
        ];
      case 'revoked':
        return [
          `presents a revoked key: ${shown} is marked in ${verdict.at}`,
          'Do not use this server until whoever runs it has given it a new key.',
        ];
      case 'other-type':
        return [`is known by keys of another type only, not by ${shown}`, add];
      case 'authority':
        return [`is known only by a certificate authority, which is not supported, not by ${shown}`, add];
      case 'unknown':
        return [`is unknown to this machine: it shows ${shown}`, add];
    }
  })();
  return new DestinationError('denied', `${url} ${what}`, {
    op: 'connect',
    hint,
    details: { url, fingerprint, verdict: verdict.kind },
  });
}

/** @param isKnown the server has proven its identity, but has not completed the sign-in */
function connectError(error: unknown, target: Target, isKnown: boolean): DestinationError {
  if (error instanceof DestinationError) return error;
  const { url, user, credentials } = target;
  const { message = '', level } = (error ?? {}) as { readonly message?: string; readonly level?: string };
  if (isKnown && level !== 'client-authentication' && level !== 'client-timeout')
    return signInEnded(error, target);
  if (level === 'client-authentication') {
    const passedOver = credentials.passedOver.map((why) => `; ${why}`).join('');
    const tried =
      credentials.methods.length === 0
        ? 'there is no key or password to try'
        : 'it accepts none of the keys and passwords';
    return new DestinationError('denied', `${url} refused to let ${user} sign in: ${tried}${passedOver}`, {
      op: 'connect',
      hint: 'Add the public key to the account’s authorized_keys on the server, or set the right key or password for the destination.',
      details: { url, user },
      cause: error,
    });
  }
  if (level === 'handshake' && /no matching/i.test(message)) {
    const [, kind = 'cipher'] = /no matching ([a-z A-Z-]+)/i.exec(message) ?? [];
    return new DestinationError('unsupported', `${url} offers only outdated encryption (${kind.trim()})`, {
      op: 'connect',
      hint: 'Update the SSH server.',
      details: { url },
      cause: error,
    });
  }
  if (level === 'client-timeout')
    return disconnected(url, `no answer within ${readyMs / 1000} seconds`, error, true);
  // What cannot be read as SSH at all has no level.
  const isNoSsh = level === undefined && error instanceof Error && errnoOf(error) === undefined;
  if (isNoSsh || level === 'protocol' || level === 'handshake')
    return disconnected(url, 'what answers there is not a proper SSH server', error);
  const errno = errnoOf(error);
  const by = target.command === undefined ? '' : ' by the ProxyCommand of the ssh configuration';
  return disconnected(url, `cannot connect${by}${errno === undefined ? '' : `: ${errnoText(errno)}`}`, error);
}

/** The error for a connection closed during sign-in. Servers count each rejected key, and close after a few. */
function signInEnded(cause: unknown, { url, user, credentials: { methods } }: Target): DestinationError {
  const offered = methods.filter(({ type }) => type === 'publickey' || type === 'agent');
  const mayBeMany = offered.length > 2 || offered.some(({ type }) => type === 'agent');
  if (!mayBeMany)
    return disconnected(url, `the server closed the connection before ${user} could sign in`, cause);
  return new DestinationError(
    'denied',
    `${url} closed the connection before ${user} could sign in: most servers do this after too many wrong keys`,
    {
      op: 'connect',
      hint: 'Set the right key in "keyFile" of the destination, or with IdentityFile and "IdentitiesOnly yes" for this host in ~/.ssh/config.',
      details: { url, user },
      retry: 'later',
      cause,
    },
  );
}

/** Opens another session on the same connection. Each session has its own flow-control window. */
export async function anotherSession(connection: Connection, url: string): Promise<Connection> {
  const sftp = await openSession(connection.client, url);
  return { ...connection, sftp };
}

/**
 * Opens a session within a time limit. A server may sign a user in and never answer, when its SFTP program hangs or the
 * account's home directory does.
 */
async function openSession(client: Client, url: string): Promise<SFTPWrapper> {
  const opened = Promise.withResolvers<SFTPWrapper>();
  const lost = (): void => opened.reject(disconnected(url, 'the server closed the connection'));
  client.once('close', lost);
  const seconds = readyMs / 1000;
  const patience = setTimeout(() => {
    opened.reject(disconnected(url, `no SFTP session started within ${seconds} seconds`, undefined, true));
  }, readyMs);
  const since = systemClock.monotonic();
  const answered = waitsForAnswer(
    'store',
    () => since,
    () => readyMs,
  );
  client.sftp((error, sftp) => {
    if (error === undefined) opened.resolve(sftp);
    else opened.reject(error);
  });
  try {
    return await opened.promise;
  } catch (error) {
    throw error instanceof DestinationError ? error : await noSession(client, url, error);
  } finally {
    answered();
    clearTimeout(patience);
    client.off('close', lost);
  }
}

async function noSession(client: Client, url: string, cause: unknown): Promise<DestinationError> {
  // Where the server refuses to start SFTP at all, it does so again, and nothing is read.
  const said = await textBeforeSftp(client);
  return said === '' ? noSftp(url, cause) : textForSftp(url, said, cause);
}

function noSftp(url: string, cause: unknown): DestinationError {
  return new DestinationError('unsupported', `${url} accepts the sign-in, but offers no SFTP`, {
    op: 'connect',
    hint: 'Enable the sftp subsystem of the SSH server for this account.',
    details: { url },
    cause,
  });
}
