/** Secrets in URLs, which end up in logs and histories: told by where they stand and what they are called. */

/** What a parameter's name contains, lower case and without punctuation, when its value is a secret. */
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

/** Whole names that are too short to be looked for inside others. */
const SECRET_NAMES: ReadonlySet<string> = new Set(['key', 'pass', 'sig', 'sas', 'auth', 'jwt']);

/** What of a URL is a secret, in words that do not repeat it; undefined when nothing is. */
export function secretInUrl(url: string): string | undefined {
  return hasPassword(url) ? 'a password before the "@"' : secretParameter(url);
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

function secretParameter(url: string): string | undefined {
  const parameters = new URLSearchParams(url.replace(/^[^?#]*[?#]?/, '').replaceAll('#', '&'));
  const name = [...parameters.keys()].find(isSecretName);
  return name === undefined ? undefined : `the secret "${name.slice(0, 40)}"`;
}

function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return SECRET_NAMES.has(plain) || SECRET_PARTS.some((part) => plain.includes(part));
}
