/** URLs in the configuration: their shape, and that they hold no secret. */
import { RequestError } from '../base/errors.ts';

/** What the name of a parameter contains, in small letters and without punctuation, when its value is a secret. */
const SECRET_PARTS = [
  'secret',
  'passw',
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
/** Too short to be looked for inside other names. */
const SECRET_NAMES: ReadonlySet<string> = new Set(['key', 'pass', 'sig', 'sas', 'auth', 'jwt']);

/**
 * The URL of a web address that is called: http or https, and without secret.
 * @throws {RequestError} SECRET_IN_URL, INVALID_URL
 */
export function checkWebUrl(text: string): void {
  refuseSecretInUrl(
    text,
    'Take it out, and give it as a reference such as {"file": "/path"} where the setting has one.',
  );
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new RequestError('INVALID_URL', 'This is not a web address', {
      hint: 'Write it in full: https://host/path.',
    });
  }
}

/**
 * A path or a URL of a destination. Which kinds of URL exist is asked of the destinations themselves.
 * @throws {RequestError} SECRET_IN_URL, INVALID_DESTINATION
 */
export function checkLocation(text: string): void {
  refuseSecretInUrl(
    text,
    'Take it out, and name a place for it in "passphrase" or in the settings of the system.',
  );
  if (isPath(text) || /^[a-z][a-z0-9+.-]*:/i.test(text)) return;
  throw new RequestError('INVALID_DESTINATION', 'This is neither an absolute path nor a URL', {
    hint: 'Write a directory in full (/mnt/backup, ~/backup) or a URL (file:///mnt/backup).',
  });
}

function isPath(text: string): boolean {
  return text.startsWith('/') || /^~(?:\/|$)/.test(text);
}

/** No message repeats the URL. @throws {RequestError} SECRET_IN_URL */
function refuseSecretInUrl(text: string, hint: string): void {
  const where = hasPassword(text) ? 'a password before the "@"' : secretParameter(text);
  if (where !== undefined) throw new RequestError('SECRET_IN_URL', `The URL contains ${where}`, { hint });
}

/** Looked for in the text: a password with a slash in it does not parse as one. */
function hasPassword(text: string): boolean {
  const rest = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/is.exec(text)?.[1];
  if (rest === undefined) return false;
  const authority = /^[^/?#]*/.exec(rest)?.[0] ?? '';
  if (authority.includes('@')) return /:|%3a/i.test(authority.slice(0, authority.lastIndexOf('@')));
  return /^[^[]*:/.test(authority) && !/:\d*$/.test(authority) && rest.includes('@');
}

function secretParameter(text: string): string | undefined {
  if (isPath(text)) return undefined;
  const parameters = new URLSearchParams(text.replace(/^[^?#]*[?#]?/, '').replaceAll('#', '&'));
  const name = [...parameters.keys()].find((key) => {
    const plain = key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
    return SECRET_NAMES.has(plain) || SECRET_PARTS.some((part) => plain.includes(part));
  });
  return name === undefined ? undefined : `the secret "${name.slice(0, 40)}"`;
}
