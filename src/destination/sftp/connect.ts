/** One connection to an SSH server that has proven who it is, with one SFTP session on it. */
import { readFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import type { Socket } from 'node:net';
import type { Client, ServerHostKeyAlgorithm, SFTPWrapper } from 'ssh2';
import { systemClock } from '../../base/clock.ts';
import { DestinationError, errnoOf } from '../../base/errors.ts';
import { looseText } from '../../base/people-text.ts';
import { toldAsWait, waitsForAnswer } from '../../base/waits.ts';
import type { SftpPlace } from '../location.ts';
import { canonicalHost } from '../url-parts.ts';
import { disconnected } from './answers.ts';
import { credentialsFor } from './credentials.ts';
import type { Credentials } from './credentials.ts';
import { fingerprintOf, judgeHostKey, knownTypes, parseKnownHosts, typeOfKey } from './known-hosts.ts';
import type { KnownKey } from './known-hosts.ts';
import { sshFile } from './place.ts';
import type { SftpIdentity } from './place.ts';
import { parseSshConfig } from './ssh-config.ts';

/** All that is needed to connect, again and again. */
export interface Target {
  /** For people. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly credentials: Credentials;
  readonly known: readonly KnownKey[];
  /** Where a new server is to be made known. */
  readonly knownFile: string;
  readonly ssh2: Ssh2;
}

export interface Connection {
  readonly client: Client;
  readonly sftp: SFTPWrapper;
  readonly socket: Socket;
  /** What the server calls itself: `OpenSSH_9.2p1 …`. */
  readonly software: string;
}

type Ssh2 = typeof import('ssh2');

/** A server that has not let one in by then does not answer. */
const readyMs = 60_000;
const keepaliveMs = 15_000;

/** The fast ones first; the rest is what ssh2 takes, less what is long broken. */
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

/** Reads keys, `known_hosts` and the person's ssh configuration. Rejects with kind `denied` when they do not do. */
export async function prepareTarget(place: SftpPlace, url: string, access: SftpIdentity): Promise<Target> {
  const { default: ssh2 } = await import('ssh2');
  const { home } = access;
  const config = home === undefined ? '' : await textOf(sshFile(home, 'config'));
  const settings = parseSshConfig(config ?? '', place.host, home ?? '');
  const user = place.user ?? settings.user ?? access.localUser;
  if (user === undefined) {
    const hint = 'Write it before the host: sftp://user@host/dir.';
    throw new DestinationError('denied', `${url} names no user`, { op: 'connect', hint });
  }
  const parse = (text: Buffer, passphrase?: string) => ssh2.utils.parseKey(text, passphrase);
  const credentials = await credentialsFor(user, access, settings.identityFiles, parse);
  return {
    url,
    host: settings.hostName ?? canonicalHost(place.host),
    port: place.port === 22 ? (settings.port ?? 22) : place.port,
    user,
    credentials,
    ...(await knownHosts(access, url)),
    ssh2,
  };
}

async function knownHosts(
  { hostKeyFile, home }: SftpIdentity,
  url: string,
): Promise<Pick<Target, 'known' | 'knownFile'>> {
  if (hostKeyFile !== undefined) {
    const text = await textOf(hostKeyFile);
    const known = parseKnownHosts(text ?? '', hostKeyFile);
    if (known.length > 0) return { known, knownFile: hostKeyFile };
    throw new DestinationError('denied', `${url}: ${hostKeyFile} has no key of a server`, {
      op: 'connect',
      hint: 'Name a file with lines as in known_hosts, or with the server’s public key.',
      details: { file: hostKeyFile },
    });
  }
  const own = home === undefined ? undefined : sshFile(home, 'known_hosts');
  const files = [...(own === undefined ? [] : [own, `${own}2`]), '/etc/ssh/ssh_known_hosts'];
  const known: KnownKey[] = [];
  for (const file of files) known.push(...parseKnownHosts((await textOf(file)) ?? '', file));
  return { known, knownFile: own ?? '/etc/ssh/ssh_known_hosts' };
}

/** Undefined when there is no such file. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return looseText(await readFile(file));
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return undefined;
    throw new DestinationError('denied', `${file} cannot be read (${errno ?? 'unknown error'})`, {
      op: 'connect',
      hint: 'Check its permissions. Without it a server cannot be told from an impostor.',
      details: { file },
      cause: error,
    });
  }
}

/**
 * Connects and signs in. Rejects with `denied` when the server is not the one that is known, or lets nobody in, with
 * `unsupported` when it has no SFTP, and with `unreachable` otherwise; with the signal's reason when that is aborted.
 */
export async function connect(target: Target, signal: AbortSignal): Promise<Connection> {
  signal.throwIfAborted();
  const { ssh2, url } = target;
  const socket = connectSocket({ host: target.host, port: target.port, noDelay: true });
  const client = new ssh2.Client();
  let refusal: DestinationError | undefined;
  const outcome = Promise.withResolvers<SFTPWrapper>();
  const fail = (error: unknown): void => outcome.reject(refusal ?? connectError(error, target));
  const abort = (): void => {
    socket.destroy();
    outcome.reject(signal.reason);
  };
  const since = systemClock.monotonic();
  const answered = waitsForAnswer(
    'the store',
    () => since,
    () => readyMs,
  );
  signal.addEventListener('abort', abort, { once: true });
  // Kept for good: errors after the end are nobody's, and without a listener would end the process.
  client.on('error', (error) => {
    // An agent that is gone is no reason to stop: the next key is tried.
    if (error.level !== 'agent') fail(error);
  });
  client.once('close', () => fail(disconnected(url, 'the server closed the connection')));
  client.once('ready', () => void openSession(client, url).then(outcome.resolve, outcome.reject));
  try {
    client.connect({
      sock: socket,
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
    const sftp = await outcome.promise;
    return { client, sftp, socket, software: softwareOf(client) };
  } catch (error) {
    client.destroy();
    socket.destroy();
    throw error;
  } finally {
    answered();
    signal.removeEventListener('abort', abort);
  }
}

/** What the server calls itself, which ssh2 keeps and does not publish. */
function softwareOf(client: Client): string {
  const { _remoteVer: software } = client as { readonly _remoteVer?: unknown };
  return typeof software === 'string' ? software : '';
}

function hostKeyOrder({ known, host, port }: Target): ServerHostKeyAlgorithm[] {
  const types = new Set(knownTypes(known, host, port));
  const isKnown = (name: string): boolean => types.has(name.startsWith('rsa-') ? 'ssh-rsa' : name);
  return [...hostKeyTypes.filter(isKnown), ...hostKeyTypes.filter((name) => !isKnown(name))];
}

/** Why the server is not talked to; undefined when it is the one that is known. */
function refusalOf(key: Buffer, target: Target): DestinationError | undefined {
  const { known, host, port, url, knownFile } = target;
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
          `is not the server that was met before: ${shown} differs from the one in ${verdict.at}`,
          `Somebody may be listening in. Ask whoever runs the server; if its key was changed on purpose: ssh-keygen -R '${name}' -f ${knownFile}, then add the new one.`,
        ];
      case 'revoked':
        return [
          `presents a revoked key: ${shown} is marked in ${verdict.at}`,
          'Do not use this server until whoever runs it has given it a new key.',
        ];
      case 'other-type':
        return [`is known by keys of another type only, not by ${shown}`, add];
      case 'authority':
        return [
          `is known by a certificate authority only, which is not understood here, not by ${shown}`,
          add,
        ];
      case 'unknown':
        return [`is not known on this machine: it shows ${shown}`, add];
    }
  })();
  return new DestinationError('denied', `${url} ${what}`, {
    op: 'connect',
    hint,
    details: { url, fingerprint, verdict: verdict.kind },
  });
}

function connectError(error: unknown, target: Target): DestinationError {
  if (error instanceof DestinationError) return error;
  const { url, user, credentials } = target;
  const { message = '', level } = error as { readonly message?: string; readonly level?: string };
  if (level === 'client-authentication') {
    const passedOver = credentials.passedOver.map((why) => `; ${why}`).join('');
    const tried =
      credentials.methods.length === 0
        ? 'there is no key or password to offer'
        : 'it accepts none of the keys and passwords';
    return new DestinationError('denied', `${url} does not let ${user} in: ${tried}${passedOver}`, {
      op: 'connect',
      hint: 'Add the public key to the account’s authorized_keys on the server, or name the right key or password for the destination.',
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
  if (level === 'protocol' || level === 'handshake')
    return disconnected(url, 'what answers there does not speak SSH as it should', error);
  const errno = errnoOf(error);
  return disconnected(url, errno === undefined ? 'cannot connect' : `cannot connect (${errno})`, error);
}

/** Another session on the same connection: each has a window of its own for what is under way. */
export async function anotherSession(connection: Connection, url: string): Promise<Connection> {
  const sftp = await toldAsWait('the store', async () => await openSession(connection.client, url));
  return { ...connection, sftp };
}

/** A server that lets one in may still never speak: its program hangs, or what the account's home lies on. */
async function openSession(client: Client, url: string): Promise<SFTPWrapper> {
  const opened = Promise.withResolvers<SFTPWrapper>();
  const lost = (): void => opened.reject(disconnected(url, 'the server closed the connection'));
  client.once('close', lost);
  const seconds = readyMs / 1000;
  const patience = setTimeout(() => {
    opened.reject(disconnected(url, `no SFTP session begins within ${seconds} seconds`, undefined, true));
  }, readyMs);
  client.sftp((error, sftp) => {
    if (error === undefined) opened.resolve(sftp);
    else opened.reject(noSftp(url, error));
  });
  try {
    return await opened.promise;
  } finally {
    clearTimeout(patience);
    client.off('close', lost);
  }
}

function noSftp(url: string, cause: unknown): DestinationError {
  return new DestinationError('unsupported', `${url} lets one in and offers no SFTP there`, {
    op: 'connect',
    hint: 'Enable the sftp subsystem of the SSH server for this account.',
    details: { url },
    cause,
  });
}
