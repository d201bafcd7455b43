/** Removes secrets from text before it is stored, logged, shown or sent. */

const SHOWN = '[secret]';

/** Shorter secrets occur in ordinary words, and hiding them would not protect whoever chose one. */
const SHORTEST_SECRET = 8;
const MOST_SECRETS = 1_000;

export interface Redactor {
  /** Adds a secret, which is removed in all of its usual spellings. */
  readonly learn: (secret: string) => void;
  readonly redact: (text: string) => string;
}

/** Removes the secrets that it has learned, and what is recognisable as a secret by its form. */
export function createRedactor(): Redactor {
  const known = new Set<string>();
  let spellings: readonly string[] = [];
  return {
    learn(secret) {
      if (secret.length < SHORTEST_SECRET) return;
      // Moved to the end, so that the least recently used secret is dropped first.
      if (known.delete(secret)) {
        known.add(secret);
        return;
      }
      known.add(secret);
      const [oldest] = known;
      if (known.size > MOST_SECRETS && oldest !== undefined) known.delete(oldest);
      // Longest first, as a secret may be part of another one.
      spellings = [...new Set([...known].flatMap(spellingsOf))].sort((a, b) => b.length - a.length);
    },
    redact(text) {
      let shown = text;
      for (const spelling of spellings) {
        if (shown.includes(spelling)) shown = shown.replaceAll(spelling, SHOWN);
      }
      return redactText(shown);
    },
  };
}

/** The secret as it appears in plain text, JSON or URLs, or encoded. */
function spellingsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
    // Without the last characters, which depend on the bytes that follow.
    ...(['base64', 'base64url'] as const).map((encoding) =>
      bytes.subarray(0, bytes.length - (bytes.length % 3)).toString(encoding),
    ),
    bytes.toString('hex'),
  ].filter((spelling) => spelling.length >= SHORTEST_SECRET);
}

const FORMS: readonly (readonly [pattern: RegExp, shown: string])[] = [
  // Access tokens, and secrets that Holdfast itself issues.
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, SHOWN],
  [/\b(hfs|hfp|hfd|hfe|whsec)_[A-Za-z0-9+/=]{16,}/g, `$1_${SHOWN}`],
  [/\bhfw_[\w-]{40,}/g, `hfw_${SHOWN}`],
  [/\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi, `$1 ${SHOWN}`],
  [/\b(#?code=)[\w-]{40,}/g, `$1${SHOWN}`],
  // Assignments in commands and settings of other programs.
  [
    /((?:password|passwd|passphrase|secret|token|api[_-]?key)["']?=)(?:"[^"]*"|'[^']*'|[^\s"'\\,;&]+)/gi,
    `$1${SHOWN}`,
  ],
];

/** Scheme and remainder of a URL. */
const ADDRESS = /\b([a-z][a-z0-9+.-]{1,30}:\/\/)([^\s"'<>\\]*)/gi;

/**
 * Removes what is recognisable as a secret: user info and queries of URLs, tokens, and values that are named as
 * passwords or the like.
 */
export function redactText(text: string): string {
  let shown = text.replace(ADDRESS, (_all, scheme: string, rest: string) => scheme + redactRest(rest));
  for (const [pattern, replacement] of FORMS) shown = shown.replace(pattern, replacement);
  return shown;
}

function redactRest(rest: string): string {
  const slash = rest.search(/[/?#]/);
  const host = slash === -1 ? rest : rest.slice(0, slash);
  const path = slash === -1 ? '' : rest.slice(slash);
  const shownHost = host.slice(host.lastIndexOf('@') + 1);
  const query = path.indexOf('?');
  return shownHost + (query === -1 ? path : `${path.slice(0, query)}?${SHOWN}`);
}

/** Applies `redact` to all texts within plain data; field names stay unchanged. */
export function redactDeep<Value>(value: Value, redact: (text: string) => string): Value {
  if (typeof value === 'string') return redact(value) as Value;
  if (Array.isArray(value)) return value.map((one: unknown) => redactDeep(one, redact)) as Value;
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, redactDeep<unknown>(one, redact)]),
  ) as Value;
}

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

/**
 * Finds secrets in URLs, which would end up in logs and histories, by their position and their names. Which secret the
 * URL contains, in words that do not repeat it; undefined when it contains none.
 */
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
