/** Splits URLs of destinations into their parts, and refuses what none of them may contain. */
import { isIP } from 'node:net';
import { RequestError } from '../base/errors.ts';

/**
 * Worded without a user name in a URL and without a query behind one, as the redaction of secrets would cut those out.
 */
const KNOWN_KINDS =
  'A destination is a directory (/mnt/backup, file:///mnt/backup) or one of s3://bucket/prefix, sftp://host/dir (or user@host), ' +
  'webdavs://host/dir, azblob://container/prefix (and ?account=NAME), gs://bucket/prefix, rclone:remote:path.';

/** The parts of a URL, with user, path and parameters decoded but not interpreted. */
export interface Parts {
  readonly user: string | undefined;
  /** As written: bucket names are not host names, and keep their case. */
  readonly authority: string;
  /** Without empty parts, which stores treat differently. */
  readonly path: readonly string[];
  readonly parameters: URLSearchParams;
}

export function partsOf(text: string, allowed: readonly string[]): Parts {
  const found = /^[a-z0-9+.-]+:\/\/(?:([^@/?#]*)@)?([^/?#@]*)([^?#]*)(?:\?([^#]*))?(#.*)?$/is.exec(text);
  if (found === null) throw invalid('The URL of the destination is incomplete.');
  const [, user, authority = '', path = '', search = '', fragment] = found;
  if (fragment !== undefined)
    throw invalid('The URL of a destination cannot have a fragment. Write "#" as %23.');
  const parameters = new URLSearchParams(search);
  for (const name of new Set(parameters.keys())) {
    if (!allowed.includes(name)) throw invalid(`The URL has an unknown parameter "${name.slice(0, 40)}".`);
    if (parameters.getAll(name).length > 1) throw invalid(`The URL has the parameter "${name}" twice.`);
  }
  return {
    user: user === undefined ? undefined : decoded(user),
    authority,
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decoded),
    parameters,
  };
}

function decoded(part: string): string {
  let text;
  try {
    text = decodeURIComponent(part);
  } catch (error) {
    throw invalid('Part of the URL is not encoded correctly.', error);
  }
  refuseControls(text);
  return text;
}

export function refuseControls(text: string): void {
  if (/[\p{Cc}&&\p{ASCII}]/v.test(text)) throw invalid('The URL contains a control character.');
}

export function prefixOf({ path }: Parts): string {
  if (path.some((part) => part === '.' || part === '..' || part.includes('/')))
    throw invalid('A part of the path in the URL is "." or "..", or contains a slash.');
  return path.join('/');
}

export function bucketOf({ authority, user }: Parts, what: string, pattern: RegExp): string {
  if (user !== undefined) throw invalid(`The URL has a user before the ${what}.`);
  const name = decoded(authority);
  if (pattern.test(name)) return name;
  throw invalid(name === '' ? `The URL does not name a ${what}.` : `This is not a valid ${what} name.`);
}

/**
 * The endpoint without a trailing slash. Plain http is accepted, as only signatures and sealed objects are sent there.
 */
export function endpointOf({ parameters }: Parts): string | undefined {
  const text = parameters.get('endpoint') ?? '';
  if (text === '') return undefined;
  const full = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  const url = URL.parse(full);
  if (url === null || !/^https?:$/.test(url.protocol)) throw invalid('The endpoint is not a web address.');
  if (url.username !== '' || url.password !== '') throw secretRefused('a user or password in its endpoint');
  if (url.search !== '' || url.hash !== '') throw invalid('The endpoint has a query or a fragment.');
  return url.href.replace(/\/+$/, '');
}

/** The host as written, without brackets, and the port. */
export function hostOf(
  { authority }: Parts,
  standardPort: number,
): { readonly host: string; readonly port: number } {
  const name = authority.trim();
  // URL parsers take a backslash for a slash.
  if (name === '' || name.includes('\\') || !URL.canParse(`https://${name}`))
    throw invalid('The URL does not name a host.');
  const written = /:(\d+)$/.exec(name)?.[1];
  return {
    host: decoded(name.replace(/:\d*$/, '').replaceAll(/^\[|\]$/g, '')),
    port: written === undefined ? standardPort : Number(written),
  };
}

/** The canonical spelling of a host: lower case, and addresses in their normal form. */
export function canonicalHost(host: string): string {
  return URL.parse(`https://${bracketed(host)}`)?.hostname.replaceAll(/^\[|\]$/g, '') ?? host;
}

/** The host as written in a URL: IPv6 addresses in brackets. */
export function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

export function invalid(what: string, cause?: unknown): RequestError {
  return new RequestError('INVALID_DESTINATION', what, { op: 'open destination', hint: KNOWN_KINDS, cause });
}

export function secretRefused(where: string): RequestError {
  return new RequestError('SECRET_IN_URL', `The URL of the destination contains ${where}.`, {
    op: 'open destination',
    hint: 'URLs end up in logs and shell histories: put the secret in the settings of a named destination, and change it if it is in use.',
  });
}
