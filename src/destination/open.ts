/** From a location as people write it to an open destination. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RequestError } from '../base/errors.ts';
import type { Destination } from './destination.ts';
import { openLocalDestination } from './local.ts';

export interface OpenOptions {
  /** Creates the place when it is absent. */
  readonly create?: boolean;
}

/** A location understood, without having touched it. */
export interface Location {
  readonly kind: 'local';
  /** Absolute path. */
  readonly directory: string;
}

const knownKinds =
  'A destination is a directory, written as a path (/mnt/backup) or as a URL (file:///mnt/backup).';

/**
 * Opens `location`: a path, absolute or relative to the working directory, or a `file:` URL. Throws a RequestError
 * with code `INVALID_DESTINATION` or `SECRET_IN_URL`, and whatever the destination's own opening throws.
 */
export async function openDestination(location: string, options: OpenOptions = {}): Promise<Destination> {
  const { directory } = parseLocation(location);
  return openLocalDestination(directory, options);
}

/** No message repeats a location that is not a plain path: it may hold a secret in a place nobody thought of. */
export function parseLocation(location: string): Location {
  const directory = directoryOf(location);
  if (directory.includes('\0')) throw invalid('The destination contains a NUL character.');
  return { kind: 'local', directory };
}

function directoryOf(location: string): string {
  if (location.trim() === '') throw invalid('The destination is empty.');
  if (isPath(location)) return directoryOfPath(location);
  refuseSecrets(location);
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(location)?.[0].toLowerCase();
  if (scheme === 'file:') return directoryOfUrl(location);
  if (scheme === undefined) throw invalid('The destination is neither a path nor a URL.');
  throw invalid(`Destinations of the kind "${scheme}" do not exist here.`);
}

/** A colon before the first slash means a URL, or a host as in host:/dir; ./a:b is how to name such a directory. */
function isPath(location: string): boolean {
  if (process.platform === 'win32' && /^[a-z]:[\\/]/i.test(location)) return true;
  return !/^[^/]*:/.test(location);
}

function directoryOfPath(path: string): string {
  // Only a shell expands it; taken literally it would fill a directory of that name.
  if (/^~[^/]*(\/|$)/.test(path)) throw invalid(`${path} begins with "~". Write the home directory in full.`);
  return resolve(path);
}

function directoryOfUrl(text: string): string {
  if (!/^file:\//i.test(text)) throw invalid('A file: URL has an absolute path.');
  try {
    const url = new URL(text);
    if (url.search !== '' || url.hash !== '') {
      throw invalid('A file: URL has no query and no fragment. Write "?" as %3F and "#" as %23.');
    }
    return resolve(fileURLToPath(url));
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw invalid('The file: URL does not name a directory of this machine. It has three slashes.', error);
  }
}

function invalid(what: string, cause?: unknown): RequestError {
  return new RequestError('INVALID_DESTINATION', what, { op: 'open destination', hint: knownKinds, cause });
}

/** What a parameter's name contains, lower case and without punctuation, when its value is a secret. */
const secretWords = [
  'secret',
  'password',
  'passwd',
  'passphrase',
  'pwd',
  'token',
  'credential',
  'signature',
  'accesskey',
  'accountkey',
  'apikey',
  'privatekey',
  'sharedkey',
  'authorization',
];

/** Whole names that are too short to be looked for inside others. */
const secretNames = new Set(['key', 'pass', 'sig', 'sas', 'auth', 'jwt']);

function refuseSecrets(url: string): void {
  const parameters = new URLSearchParams(url.replace(/^[^?#]*[?#]?/, '').replaceAll('#', '&'));
  const name = [...parameters.keys()].find(isSecretName);
  const where = hasPassword(url)
    ? 'a password before the "@"'
    : name === undefined
      ? ''
      : `the secret "${name}"`;
  if (where === '') return;
  throw new RequestError('SECRET_IN_URL', `The URL of the destination contains ${where}.`, {
    op: 'open destination',
    hint: 'URLs end up in logs and histories: give the secret to a named destination, and change it if it is in use.',
  });
}

/** Looked for in the text: a password with an unescaped "/" or "?" in it does not parse as one. */
function hasPassword(url: string): boolean {
  const rest = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/is.exec(url)?.[1];
  if (rest === undefined) return false;
  const authority = /^[^/?#]*/.exec(rest)?.[0] ?? '';
  if (authority.includes('@')) return /:|%3a/i.test(authority.slice(0, authority.lastIndexOf('@')));
  // Before a host's port there is no "@"; before anything else that is no port there may be a password.
  return /^[^[]*:/.test(authority) && !/:\d*$/.test(authority) && rest.includes('@');
}

function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return secretNames.has(plain) || secretWords.some((word) => plain.includes(word));
}
