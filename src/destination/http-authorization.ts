/** Signs requests to a web server: Basic, Digest (RFC 7616) and Bearer. */
import { createHash, randomBytes } from 'node:crypto';

export interface HttpCredentials {
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly token?: string | undefined;
}

export interface Authorization {
  /** The `Authorization` header for a request; undefined as long as the server has not asked for one. */
  header(method: string, path: string): string | undefined;
  /**
   * Handles a `WWW-Authenticate` header. `sent` is the header of the refused request, since another request may have
   * brought a newer challenge in the meantime. Returns `asked`: send the request again with what is known now; `stale`:
   * likewise, and the password was right; `refused`: sending it again would not help.
   */
  challenged(challenge: string, sent: string | undefined): 'asked' | 'stale' | 'refused';
}

interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly hash: 'md5' | 'sha256';
  readonly algorithm: string | undefined;
  readonly hasQop: boolean;
  /** The server refused only because the nonce was too old. */
  readonly isStale: boolean;
}

/** A password is sent only once the server asks for it, and in the least revealing way that the server accepts. */
export function createAuthorization({ user, password, token }: HttpCredentials): Authorization {
  let basic = false;
  let digest: DigestChallenge | undefined;
  let count = 0;

  const challenged: Authorization['challenged'] = (text, sent) => {
    if (token !== undefined || user === undefined || password === undefined) return 'refused';
    const parts = challengesIn(text);
    const [own] = challengesIn(sent ?? '');
    const found = parts.flatMap((part) => digestOf(part) ?? []).toSorted((a, b) => rank(b) - rank(a))[0];
    if (found === undefined) {
      const isWanted = parts.some(({ scheme }) => scheme === 'basic');
      if (!isWanted || digest !== undefined || own?.scheme === 'basic') return 'refused';
      basic = true;
      return 'asked';
    }
    // When several requests are refused at once, only the first answer sets the new nonce; its uses are counted from
    // there.
    const used = own?.parameters.get('nonce');
    if (used === digest?.nonce && found.nonce !== used) [digest, count] = [found, 0];
    if (found.isStale) return 'stale';
    // The same nonce refused again means that the password is wrong.
    return digest?.nonce === used ? 'refused' : 'asked';
  };

  function header(method: string, path: string): string | undefined {
    if (token !== undefined) return `Bearer ${token}`;
    if (user === undefined || password === undefined) return undefined;
    if (digest !== undefined)
      return digestHeader(digest, { user, password, method, path, count: (count += 1) });
    return basic ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` : undefined;
  }

  return { header, challenged };
}

function rank({ hash }: DigestChallenge): number {
  return hash === 'sha256' ? 1 : 0;
}

interface Challenge {
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Parses all challenges of one header. They are separated by commas, and so are the parameters of each. */
function challengesIn(text: string): readonly Challenge[] {
  const found: { scheme: string; parameters: Map<string, string> }[] = [];
  const token = /([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))|([\w!#$%&'*+.^`|~-]+)/g;
  for (const [, name, quoted, plain, scheme] of text.matchAll(token)) {
    if (scheme !== undefined) found.push({ scheme: scheme.toLowerCase(), parameters: new Map() });
    else if (name !== undefined)
      found.at(-1)?.parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? '');
  }
  return found;
}

function digestOf({ scheme, parameters }: Challenge): DigestChallenge | undefined {
  const [realm, nonce] = [parameters.get('realm'), parameters.get('nonce')];
  const algorithm = parameters.get('algorithm');
  const qop = parameters.get('qop');
  const hash = { md5: 'md5', 'sha-256': 'sha256' }[(algorithm ?? 'md5').toLowerCase()];
  if (scheme !== 'digest' || realm === undefined || nonce === undefined) return undefined;
  if (hash !== 'md5' && hash !== 'sha256') return undefined;
  const hasQop = qop !== undefined;
  if (hasQop && !qop.split(',').some((word) => word.trim() === 'auth')) return undefined;
  const isStale = parameters.get('stale')?.toLowerCase() === 'true';
  return { realm, nonce, opaque: parameters.get('opaque'), hash, algorithm, hasQop, isStale };
}

interface DigestRequest {
  readonly user: string;
  readonly password: string;
  readonly method: string;
  readonly path: string;
  /** How often the nonce was used, including this time. */
  readonly count: number;
}

function digestHeader(challenge: DigestChallenge, request: DigestRequest): string {
  const { realm, nonce, opaque, hash, algorithm, hasQop } = challenge;
  const { user, password, method, path, count } = request;
  const digest = (...parts: readonly string[]): string =>
    createHash(hash).update(parts.join(':')).digest('hex');
  const nc = count.toString(16).padStart(8, '0');
  const cnonce = randomBytes(12).toString('hex');
  const secret = digest(user, realm, password);
  const target = digest(method, path);
  const response = hasQop ? digest(secret, nonce, nc, cnonce, 'auth', target) : digest(secret, nonce, target);
  const quote = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  return [
    `Digest username=${quote(user)}`,
    `realm=${quote(realm)}`,
    `nonce=${quote(nonce)}`,
    `uri=${quote(path)}`,
    `response="${response}"`,
    ...(algorithm === undefined ? [] : [`algorithm=${algorithm}`]),
    ...(opaque === undefined ? [] : [`opaque=${quote(opaque)}`]),
    ...(hasQop ? ['qop=auth', `nc=${nc}`, `cnonce="${cnonce}"`] : []),
  ].join(', ');
}
