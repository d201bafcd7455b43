/** Parses a location as people write it into the place that it names, without touching that place. */
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { resolveTyped } from '../base/typed-path.ts';
import { RequestError } from '../base/errors.ts';
import { secretInUrl } from '../base/redact.ts';
import {
  bracketed,
  bucketOf,
  canonicalHost,
  endpointOf,
  hostOf,
  invalid,
  isLoopback,
  partsOf,
  prefixOf,
  secretRefused,
  refuseControls,
} from './url-parts.ts';

export type Location =
  | LocalPlace
  | S3Place
  | SftpPlace
  | WebdavPlace
  | AzurePlace
  | GooglePlace
  | RclonePlace;

export interface LocalPlace {
  readonly kind: 'local';
  /** Absolute path. */
  readonly directory: string;
}

/** `s3://bucket/prefix?endpoint=&region=&path_style=` */
export interface S3Place {
  readonly kind: 's3';
  readonly bucket: string;
  /** Without slashes around it; empty for the whole bucket. */
  readonly prefix: string;
  /** `https://host[:port][/path]`; undefined for Amazon's own. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  /** The bucket is part of the path, not of the host name. */
  readonly pathStyle: boolean;
}

/** `sftp://user@host:22/dir`; `/~/dir` is below the home directory. */
export interface SftpPlace {
  readonly kind: 'sftp';
  readonly user: string | undefined;
  /** As written in the URL, since ssh's configuration may refer to it; IPv6 addresses without brackets. */
  readonly host: string;
  readonly port: number;
  /** Absolute, or relative to the home directory. */
  readonly directory: string;
}

/** `webdavs://user@host/dir`; `webdav://` for this machine only. */
export interface WebdavPlace {
  readonly kind: 'webdav';
  /** `https://host[:port]/dir`, without a trailing slash and without the user. */
  readonly url: string;
  readonly user: string | undefined;
}

/** `azblob://container/prefix?account=&endpoint=` */
export interface AzurePlace {
  readonly kind: 'azblob';
  readonly container: string;
  readonly prefix: string;
  readonly account: string | undefined;
  /** Endpoint of the account; undefined for `https://ACCOUNT.blob.core.windows.net`. */
  readonly endpoint: string | undefined;
}

/** `gs://bucket/prefix?endpoint=` */
export interface GooglePlace {
  readonly kind: 'gs';
  readonly bucket: string;
  readonly prefix: string;
  /** Undefined for Google's own. */
  readonly endpoint: string | undefined;
}

/** `rclone:remote:path` */
export interface RclonePlace {
  readonly kind: 'rclone';
  /** A remote that rclone's own configuration names. */
  readonly remote: string;
  readonly path: string;
}

/**
 * Parses a path, absolute or relative to the working directory, or a URL. No message repeats a location that is not a
 * plain path, as it may hold a secret in an unexpected part.
 * @throws {RequestError} INVALID_DESTINATION, SECRET_IN_URL
 */
export function parseLocation(location: string): Location {
  if (!location.isWellFormed()) throw invalid('The destination contains half of a character.');
  const found = understand(location);
  if (found.kind === 'local' && found.directory.includes('\0'))
    throw invalid('The destination contains a NUL character.');
  return found;
}

/** The directory of a place on this machine; undefined for any other. */
export function directoryOf(location: string): string | undefined {
  const place = parseLocation(location);
  return place.kind === 'local' ? place.directory : undefined;
}

/**
 * The URL that identifies a place, one spelling for each. What only says how the place is reached, such as the region,
 * is left out.
 */
export function placeUrl(place: Location): string {
  switch (place.kind) {
    case 'local':
      return fileUrl(place.directory);
    case 's3':
      return `s3://${place.bucket}${below(place.prefix)}${query({ endpoint: place.endpoint })}`;
    case 'sftp':
      return sftpUrl(place, canonicalHost(place.host));
    case 'webdav': {
      // The same path may lead to a different folder for each user.
      const { user, url } = place;
      const name = user === undefined ? '' : `${encodeURIComponent(user)}@`;
      return url.replace(/^http(s?):\/\//, `webdav$1://${name}`);
    }
    case 'azblob': {
      const { container, prefix, account, endpoint } = place;
      return `azblob://${container}${below(prefix)}${query({ account, endpoint })}`;
    }
    case 'gs':
      return `gs://${place.bucket}${below(place.prefix)}${query({ endpoint: place.endpoint })}`;
    case 'rclone':
      return `rclone:${place.remote}:${place.path}`;
  }
}

function sftpUrl({ user, port, directory }: SftpPlace, host: string): string {
  const name = user === undefined ? '' : `${encodeURIComponent(user)}@`;
  const home = directory.startsWith('/') ? '' : '/~/';
  // Only what ends the path is encoded in addition to what no URL may contain: places must keep the spelling under
  // which they are remembered.
  const path = encodeURI(directory).replaceAll(/[?#]/g, encodeURIComponent);
  return `sftp://${name}${bracketed(host)}:${port}${home}${path}`;
}

/**
 * The URL that identifies a place and the way to reach it: opening it leads to the same place, reached as `place` says.
 */
export function openUrl(place: Location): string {
  if (place.kind === 'sftp') return sftpUrl(place, place.host);
  if (place.kind !== 's3') return placeUrl(place);
  const { bucket, prefix, endpoint, region, pathStyle } = place;
  const style = pathStyle === isPathStyle(endpoint) ? undefined : pathStyle;
  return `s3://${bucket}${below(prefix)}${query({ endpoint, region, path_style: style?.toString() })}`;
}

/**
 * The file URL of a directory. URLs lose a blank or control character at their end, so something is appended first and
 * cut off again.
 */
function fileUrl(directory: string): string {
  if (directory.trimEnd() === directory && !/\p{Cc}$/u.test(directory)) return pathToFileURL(directory).href;
  return pathToFileURL(`${directory}/_`).href.slice(0, -2);
}

/** For people: a directory as its path, anything else as its URL. */
export function shownPlace(place: Location): string {
  if (place.kind === 'local') return place.directory;
  return place.kind === 'sftp' ? openUrl(place) : placeUrl(place);
}

/** The URL for logs and `properties.url`: without user info and query. */
export function plainUrl(place: Location): string {
  const url = openUrl(place).replace(/\?.*$/s, '');
  return withoutUser(url).replace(/^(sftp:\/\/)[^@/]*@/, '$1');
}

/**
 * A WebDAV folder as seen by `user`, unless its own URL names one. A user name with a colon cannot stand in a URL and
 * is ignored.
 */
export function withUser(place: Location, user: string | null | undefined): Location {
  if (place.kind !== 'webdav' || place.user !== undefined) return place;
  return user === undefined || user === null || user.includes(':') ? place : { ...place, user };
}

/** The URL of a WebDAV folder without its user; the URL of any other place unchanged. */
export function withoutUser(url: string): string {
  return url.replace(/^(webdavs?:\/\/)[^@/]*@/, '$1');
}

/**
 * The one of `known` that is at the place `url`. A URL without a user matches the only known place there, whoever its
 * user.
 */
export function findPlace<T>(url: string, known: readonly T[], urlOf: (one: T) => string): T | undefined {
  const found = known.find((one) => urlOf(one) === url);
  if (found !== undefined) return found;
  const [only, ...more] = known.filter((one) => withoutUser(urlOf(one)) === url);
  return more.length === 0 ? only : undefined;
}

function below(prefix: string): string {
  return prefix === '' ? '' : `/${prefix.split('/').map(encodeURIComponent).join('/')}`;
}

function query(values: Readonly<Record<string, string | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) parameters.set(name, value);
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

function understand(location: string): Location {
  if (location.trim() === '') throw invalid('The destination is empty.');
  if (isPath(location)) return { kind: 'local', directory: directoryOfPath(location) };
  refuseSecrets(location);
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(location)?.[0].toLowerCase();
  switch (scheme) {
    case undefined:
      throw invalid('The destination is neither a path nor a URL.');
    case 'file:':
      return { kind: 'local', directory: directoryOfUrl(location) };
    case 's3:':
      return s3Place(location);
    case 'sftp:':
      return sftpPlace(location);
    case 'webdav:':
    case 'webdavs:':
      return webdavPlace(location);
    case 'azblob:':
      return azurePlace(location);
    case 'gs:':
      return googlePlace(location);
    case 'rclone:':
      return rclonePlace(location);
    default:
      throw invalid(`"${scheme}" is not a kind of destination.`);
  }
}

/**
 * Whether this is a path. A colon before the first slash means a URL or a host (host:/dir); a directory with such a
 * name is written ./a:b.
 */
function isPath(location: string): boolean {
  if (process.platform === 'win32' && /^[a-z]:[\\/]/i.test(location)) return true;
  return !/^[^/]*:/.test(location);
}

function directoryOfPath(path: string): string {
  // Only a shell expands "~"; taken literally, backups would fill a directory of that name.
  if (/^~[^/]*(\/|$)/.test(path))
    throw invalid(`${path} begins with "~". Write the full path of the home directory.`);
  return resolveTyped(path);
}

function directoryOfUrl(text: string): string {
  if (!/^file:\//i.test(text)) throw invalid('A file: URL needs an absolute path.');
  try {
    const url = new URL(text);
    if (url.search !== '' || url.hash !== '') {
      throw invalid('A file: URL cannot have a query or fragment. Write "?" as %3F and "#" as %23.');
    }
    return resolve(fileURLToPath(url));
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw invalid('The file: URL does not name a directory on this machine. It needs three slashes.', error);
  }
}

/**
 * Allows more than Amazon's current rules: older buckets and those of other makers have names that Amazon no longer
 * accepts.
 */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/;
const CONTAINER = /^(?:[a-z0-9](?:[a-z0-9]|-(?!-)){1,61}[a-z0-9]|\$root)$/;

function s3Place(text: string): S3Place {
  const parts = partsOf(text, ['endpoint', 'region', 'path_style']);
  const endpoint = endpointOf(parts);
  const region = parts.parameters.get('region') ?? undefined;
  if (region !== undefined && !/^[A-Za-z0-9_-]{1,64}$/.test(region))
    throw invalid('This is not a valid region.');
  const style = parts.parameters.get('path_style');
  if (style !== null && style !== 'true' && style !== 'false')
    throw invalid('The parameter "path_style" must be true or false.');
  return {
    kind: 's3',
    bucket: bucketOf(parts, 'bucket', BUCKET),
    prefix: prefixOf(parts),
    endpoint,
    region,
    pathStyle: style === null ? isPathStyle(endpoint) : style === 'true',
  };
}

/** The default where the URL does not say: few stores other than Amazon's have a host name for every bucket. */
function isPathStyle(endpoint: string | undefined): boolean {
  return endpoint !== undefined;
}

function azurePlace(text: string): AzurePlace {
  const parts = partsOf(text, ['account', 'endpoint']);
  const account = parts.parameters.get('account') ?? undefined;
  if (account !== undefined && !/^[a-z0-9]{3,24}$/.test(account))
    throw invalid('An account name has 3 to 24 lower-case letters and digits.');
  return {
    kind: 'azblob',
    container: bucketOf(parts, 'container', CONTAINER),
    prefix: prefixOf(parts),
    account,
    endpoint: endpointOf(parts),
  };
}

function googlePlace(text: string): GooglePlace {
  const parts = partsOf(text, ['endpoint']);
  return {
    kind: 'gs',
    bucket: bucketOf(parts, 'bucket', BUCKET),
    prefix: prefixOf(parts),
    endpoint: endpointOf(parts),
  };
}

function sftpPlace(text: string): SftpPlace {
  const parts = partsOf(text, []);
  const { host, port } = hostOf(parts, 22);
  const home = parts.path[0] === '~';
  const path = prefixOf(home ? { ...parts, path: parts.path.slice(1) } : parts);
  if (parts.path.length === 0) throw invalid('The sftp: URL does not name a directory.');
  return {
    kind: 'sftp',
    user: parts.user === '' ? undefined : parts.user,
    host,
    port,
    directory: home ? path : `/${path}`,
  };
}

function webdavPlace(text: string): WebdavPlace {
  const parts = partsOf(text, []);
  const isPlain = /^webdav:/i.test(text);
  const { host, port } = hostOf(parts, isPlain ? 80 : 443);
  if (isPlain && !isLoopback(canonicalHost(host)))
    throw invalid('webdav: has no TLS and is allowed only for this machine. Use webdavs:.');
  const url = new URL(`${isPlain ? 'http' : 'https'}://${bracketed(host)}:${port}`);
  return {
    kind: 'webdav',
    url: `${url.origin}${below(prefixOf(parts))}`,
    user: parts.user === '' ? undefined : parts.user,
  };
}

function rclonePlace(text: string): RclonePlace {
  const found = /^rclone:([\p{L}\p{N}_.+@-][\p{L}\p{N}_.+@ -]*):(.*)$/isu.exec(text);
  const [, remote = '', path = ''] = found ?? [];
  // Remotes defined on the spot (:sftp,host=…,pass=…:) would contain their secrets.
  if (found === null)
    throw invalid(
      'An rclone: destination needs a remote from the configuration of rclone, and a path: rclone:remote:path.',
    );
  if (/[?#]/.test(path)) throw invalid('The path of an rclone: destination cannot contain "?" or "#".');
  return { kind: 'rclone', remote, path: checkedPath(path) };
}

function checkedPath(path: string): string {
  refuseControls(path);
  if (path.split('/').includes('..')) throw invalid('The path of the URL cannot contain "..".');
  return path.replace(/\/+$/, '');
}

function refuseSecrets(url: string): void {
  const where = secretInUrl(url);
  if (where !== undefined) throw secretRefused(where);
}
