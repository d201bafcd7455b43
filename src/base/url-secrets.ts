/** Finds secrets in URLs, which would end up in logs and histories, by their position and their names. */

/** A parameter is secret when its name, in lower case and without punctuation, contains one of these. */
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

/** Complete names, too short to be searched for inside others. */
const SECRET_NAMES: ReadonlySet<string> = new Set(['key', 'pass', 'sig', 'sas', 'auth', 'jwt']);

/** Which secret the URL contains, in words that do not repeat it; undefined when it contains none. */
export function secretInUrl(url: string): string | undefined {
  return hasPassword(url) ? 'a password before the "@"' : secretParameter(url);
}

/** Searches the text itself: a password with an unescaped "/" or "?" would not be parsed as one. */
function hasPassword(url: string): boolean {
  const rest = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/is.exec(url)?.[1];
  if (rest === undefined) return false;
  const authority = /^[^/?#]*/.exec(rest)?.[0] ?? '';
  if (authority.includes('@')) return /:|%3a/i.test(authority.slice(0, authority.lastIndexOf('@')));
  // A host with a port has no "@" after it. If what follows the colon is not a port, it may be a password.
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
