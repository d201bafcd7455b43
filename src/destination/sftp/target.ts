/**
 * Determines which server to connect to, how, as which user, and how its identity is verified, before the first
 * connection.
 */
import { DestinationError } from '../../base/errors.ts';
import type { SftpPlace } from '../location.ts';
import { canonicalHost } from '../url-parts.ts';
import { credentialsFor, type Credentials } from './credentials.ts';
import { parseKnownHosts, type KnownKey } from './known-hosts.ts';
import { sshFile, type SftpIdentity } from './place.ts';
import { readSshConfig, textOf } from './ssh-config-files.ts';
import { settingsFor, type HostSettings, type SshLine } from './ssh-config.ts';

/** All that is needed to connect, any number of times. */
export interface Target {
  /** For people. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly credentials: Credentials;
  readonly known: readonly KnownKey[];
  /** The name under which its key is looked up. */
  readonly knownAs: { readonly host: string; readonly port: number };
  /** The file to which a new server's key is to be added. */
  readonly knownFile: string;
  /** The server to connect through. */
  readonly via?: Target;
  /** The program to connect through. */
  readonly command?: { readonly text: string; readonly environment: Environment };
  readonly ssh2: typeof import('ssh2');
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The most jumps through other servers; more mean that the configuration leads in a circle. */
const MOST_BETWEEN = 8;

/** Reads keys, `known_hosts` and the user's ssh configuration. Rejects with kind `denied` when they cannot be used. */
export async function prepareTarget(place: SftpPlace, url: string, access: SftpIdentity): Promise<Target> {
  const { home } = access;
  const lines = home === undefined ? [] : await readSshConfig(home);
  return await targetAt(place, url, access, lines, 0);
}

type Asked = Pick<SftpPlace, 'host' | 'port' | 'user'>;

async function targetAt(
  place: Asked,
  url: string,
  access: SftpIdentity,
  lines: readonly SshLine[],
  depth: number,
  way?: Target,
): Promise<Target> {
  const { default: ssh2 } = await import('ssh2');
  const { home, localUser, environment } = access;
  const port = place.port === 22 ? undefined : place.port;
  const settings = settingsFor(lines, {
    host: place.host,
    user: place.user,
    port,
    home: home ?? '',
    localUser,
    environment,
  });
  const user = place.user ?? settings.user ?? localUser;
  if (user === undefined) {
    const hint = 'Put the user before the host: sftp://user@host/dir.';
    throw new DestinationError('denied', `${url} does not name a user`, { op: 'connect', hint });
  }
  const host = settings.hostName ?? canonicalHost(place.host);
  const at = { host, port: port ?? settings.port ?? 22 };
  const { hostKeyAlias, proxyCommand, proxyJump } = settings;
  const via = way ?? (await serversBetween(proxyJump, url, access, lines, depth));
  return {
    url,
    ...at,
    user,
    ssh2,
    credentials: await credentialsFor(user, access, settings, ssh2),
    ...(await knownHosts(access, settings, url)),
    knownAs: hostKeyAlias === undefined ? at : { host: hostKeyAlias, port: 22 },
    ...(via === undefined ? {} : { via }),
    ...(proxyCommand === undefined || way !== undefined
      ? {}
      : { command: { text: proxyCommand, environment: environment ?? {} } }),
  };
}

/**
 * The last server before the final one; it refers to those before itself. Keys, passwords and host keys in the settings
 * are for the final server only: those in between are signed in to and verified as by ssh itself.
 */
async function serversBetween(
  jumps: HostSettings['proxyJump'],
  url: string,
  access: SftpIdentity,
  lines: readonly SshLine[],
  depth: number,
): Promise<Target | undefined> {
  if (jumps === undefined) return undefined;
  if (depth >= MOST_BETWEEN) throw unusable(url, 'forms a loop');
  const own = {
    ...access,
    keyFile: undefined,
    keyPassphrase: undefined,
    password: undefined,
    hostKeyFile: undefined,
  };
  let way: Target | undefined;
  for (const jump of jumps) {
    const place = placeOf(jump.trim());
    if (place === undefined) throw unusable(url, `names an invalid server: ${jump}`);
    way = await targetAt(place, `sftp://${place.host} (on the way to ${url})`, own, lines, depth + 1, way);
  }
  return way;
}

function unusable(url: string, what: string): DestinationError {
  return new DestinationError('unsupported', `${url}: the ProxyJump of the ssh configuration ${what}`, {
    op: 'connect',
    hint: 'Write it as [user@]host[:port], several with commas between them.',
  });
}

function placeOf(jump: string): Asked | undefined {
  const text = jump.replace(/^ssh:\/\//, '').replace(/\/$/, '');
  const [, user, bracketed, plain, port] =
    /^(?:(.+)@)?(?:\[([^\]]+)\]|([^:@\s]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  return host === undefined ? undefined : { host, user, port: port === undefined ? 22 : Number(port) };
}

async function knownHosts(
  { hostKeyFile, home }: SftpIdentity,
  { userKnownHosts, globalKnownHosts }: HostSettings,
  url: string,
): Promise<Pick<Target, 'known' | 'knownFile'>> {
  if (hostKeyFile !== undefined) {
    const text = await textOf(hostKeyFile);
    const known = parseKnownHosts(text ?? '', hostKeyFile);
    if (known.length > 0) return { known, knownFile: hostKeyFile };
    throw new DestinationError('denied', `${url}: ${hostKeyFile} has no key of a server`, {
      op: 'connect',
      hint: 'Use a file with lines like those in known_hosts, or with the server’s public key.',
      details: { file: hostKeyFile },
    });
  }
  const own = home === undefined ? undefined : sshFile(home, 'known_hosts');
  const usual = own === undefined ? [] : [own, `${own}2`];
  const files = [...(userKnownHosts ?? usual), ...(globalKnownHosts ?? ['/etc/ssh/ssh_known_hosts'])];
  const known: KnownKey[] = [];
  for (const file of files) known.push(...parseKnownHosts((await textOf(file)) ?? '', file));
  return { known, knownFile: userKnownHosts?.[0] ?? own ?? '/etc/ssh/ssh_known_hosts' };
}
