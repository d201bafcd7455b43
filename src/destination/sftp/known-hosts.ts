/** Reads OpenSSH's known_hosts format and judges whether a server's key is the known one. Pure; it opens no files. */
import { createHash, createHmac } from 'node:crypto';

export interface KnownKey {
  readonly marker: 'none' | 'revoked' | 'cert-authority';
  /** As in the file; undefined for a lone public key, which applies to any host. */
  readonly hosts: string | undefined;
  /** `ssh-ed25519` and so on. */
  readonly type: string;
  /** In the encoding of the SSH protocol. */
  readonly key: Buffer;
  /** File and line, for messages. */
  readonly at: string;
}

/**
 * `changed`: another key of the same type is known. `other-type`: only keys of other types are known. `authority`: only
 * a certificate authority is known for the host, and certificates are not supported here.
 */
export type Verdict =
  | { readonly kind: 'known' }
  | { readonly kind: 'unknown' | 'other-type' | 'authority' }
  | { readonly kind: 'changed' | 'revoked'; readonly at: string };

const keyType = /^(?:ssh-|ecdsa-|sk-)[a-z0-9@.-]+$/;

/**
 * Lines that cannot be parsed are left out, as ssh does.
 * @param file named in messages about a key
 */
export function parseKnownHosts(text: string, file: string): readonly KnownKey[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const found = parseLine(line.trim(), `${file}:${index + 1}`);
    return found === undefined ? [] : [found];
  });
}

function parseLine(line: string, at: string): KnownKey | undefined {
  if (line === '' || line.startsWith('#')) return undefined;
  const words = line.split(/\s+/);
  const marker = words[0]?.startsWith('@') === true ? words.shift()?.slice(1) : 'none';
  if (marker !== 'none' && marker !== 'revoked' && marker !== 'cert-authority') return undefined;
  const isLone = marker === 'none' && keyType.test(words[0] ?? '');
  const [hosts, type = '', encoded = ''] = isLone ? [undefined, ...words] : words;
  const key = Buffer.from(encoded, 'base64');
  if (!keyType.test(type) || typeOfKey(key) !== type) return undefined;
  return { marker, hosts, type, key, at };
}

/** The type at the beginning of a key in the protocol's encoding; empty when it is not a key. */
export function typeOfKey(key: Buffer): string {
  if (key.byteLength < 4) return '';
  const length = key.readUInt32BE(0);
  return length > 100 || key.byteLength < 4 + length ? '' : key.toString('latin1', 4, 4 + length);
}

/** The fingerprint as `ssh-keygen -l` shows it. */
export function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

/** What `known` says about a server that presents `key`. */
export function judgeHostKey(known: readonly KnownKey[], host: string, port: number, key: Buffer): Verdict {
  const about = entriesFor(known, host, port);
  const revoked = about.find((entry) => entry.marker === 'revoked' && entry.key.equals(key));
  if (revoked !== undefined) return { kind: 'revoked', at: revoked.at };
  const plain = about.filter(({ marker }) => marker === 'none');
  if (plain.some((entry) => entry.key.equals(key))) return { kind: 'known' };
  const rival = plain.find(({ type }) => type === typeOfKey(key));
  if (rival !== undefined) return { kind: 'changed', at: rival.at };
  if (plain.length > 0) return { kind: 'other-type' };
  return { kind: about.some(({ marker }) => marker === 'cert-authority') ? 'authority' : 'unknown' };
}

/**
 * Key types to ask the server for first: a server that presents a key of another type cannot be told from an impostor.
 */
export function knownTypes(known: readonly KnownKey[], host: string, port: number): readonly string[] {
  const plain = entriesFor(known, host, port).filter(({ marker }) => marker === 'none');
  return [...new Set(plain.map(({ type }) => type))];
}

/**
 * The entries for a host. A host on another port has entries of its own; as in ssh, those without a port apply where
 * there are none. Revoked keys apply on any port.
 */
function entriesFor(known: readonly KnownKey[], host: string, port: number): readonly KnownKey[] {
  const name = host.toLowerCase();
  const bare = known.filter((entry) => isAbout(entry, name));
  if (port === 22) return bare;
  const exact = known.filter((entry) => isAbout(entry, `[${name}]:${port}`));
  const revoked = bare.filter(({ marker }) => marker === 'revoked');
  return exact.some(({ marker }) => marker === 'none') ? [...exact, ...revoked] : [...exact, ...bare];
}

function isAbout({ hosts }: KnownKey, name: string): boolean {
  if (hosts === undefined) return true;
  if (hosts.startsWith('|1|')) return isHashOf(hosts, name);
  const patterns = hosts.toLowerCase().split(',');
  const denied = patterns.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1), name));
  return !denied && patterns.some((pattern) => !pattern.startsWith('!') && matches(pattern, name));
}

function isHashOf(hosts: string, name: string): boolean {
  const [, , salt = '', hash = ''] = hosts.split('|');
  const own = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest();
  return own.equals(Buffer.from(hash, 'base64'));
}

/**
 * Matches a pattern in which `*` is any text and `?` any character. Takes at most pattern length times name length
 * steps, whatever the pattern.
 */
export function matches(pattern: string, name: string): boolean {
  let [at, index] = [0, 0];
  let star = -1;
  let starIndex = 0;
  while (index < name.length) {
    const wanted = pattern[at];
    if (wanted === '*') {
      [star, starIndex] = [at, index];
      at += 1;
    } else if (wanted === '?' || wanted === name[index]) {
      at += 1;
      index += 1;
    } else if (star === -1) {
      return false;
    } else {
      // It is enough to go back to the latest star: an earlier one cannot match more than a later one.
      starIndex += 1;
      [at, index] = [star + 1, starIndex];
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
