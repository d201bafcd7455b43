/** Parses private keys in the usual formats: OpenSSH's current and old ones, and PKCS#8. */
import { createPrivateKey, randomBytes, type KeyObject } from 'node:crypto';
import type { ParsedKey } from 'ssh2';

/** ssh2's own parser of keys. */
export type KeyParser = (text: Buffer | string, passphrase?: string) => ParsedKey | Error;

/** The key, or a text that says why it cannot be used and continues a sentence about its file. */
export function parsePrivateKey(
  text: Buffer,
  passphrase: string | undefined,
  parse: KeyParser,
): ParsedKey | string {
  const found = isPkcs8(text) ? ofPkcs8(text, passphrase, parse) : parse(text, passphrase);
  if (typeof found === 'string') return found;
  const key = Array.isArray(found) ? (found[0] as ParsedKey | undefined) : found;
  if (key === undefined) return 'has no key in it';
  if (!(key instanceof Error)) return key.isPrivateKey() ? key : 'is a public key';
  if (/passphrase|encrypted|integrity|decrypt/i.test(key.message)) return LOCKED;
  if (text.includes('PuTTY-User-Key-File'))
    return 'is a key of PuTTY in a format that Holdfast cannot read (puttygen KEY -O private-openssh -o NEW converts it)';
  return 'has no private key that Holdfast can read (ssh-keygen -p -f KEY converts it)';
}

const LOCKED = 'is encrypted, and its passphrase is missing or wrong';

function isPkcs8(text: Buffer): boolean {
  return /-----BEGIN (?:ENCRYPTED )?PRIVATE KEY-----/.test(text.toString('latin1'));
}

/** Node.js parses it and exports it in a format that ssh2 reads. */
function ofPkcs8(text: Buffer, passphrase: string | undefined, parse: KeyParser): ParsedKey | Error | string {
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: text, format: 'pem', ...(passphrase === undefined ? {} : { passphrase }) });
  } catch {
    // OpenSSL's errors are too various to tell apart.
    return text.includes('BEGIN ENCRYPTED') ? LOCKED : 'has no private key that Holdfast can read';
  }
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return parse(key.export({ type: 'pkcs1', format: 'pem' }));
    case 'ec':
      return parse(key.export({ type: 'sec1', format: 'pem' }));
    case 'ed25519':
      return parse(openSshKey(key));
    default:
      return `holds a key of the kind ${key.asymmetricKeyType ?? 'unknown'}, which SSH does not use`;
  }
}

/** Encodes an Ed25519 key in OpenSSH's `PROTOCOL.key` format. It is not encrypted, as it stays in memory. */
function openSshKey(key: KeyObject): string {
  const { d = '', x = '' } = key.export({ format: 'jwk' });
  const [secret, point] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')];
  const type = Buffer.from('ssh-ed25519');
  const check = randomBytes(4);
  const bare = [
    check,
    check,
    field(type),
    field(point),
    field(Buffer.concat([secret, point])),
    field(Buffer.alloc(0)),
  ];
  const length = bare.reduce((sum, part) => sum + part.byteLength, 0);
  const padding = Buffer.from(Array.from({ length: (8 - (length % 8)) % 8 }, (_, at) => at + 1));
  const none = field(Buffer.from('none'));
  const bytes = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    none,
    none,
    field(Buffer.alloc(0)),
    Buffer.from([0, 0, 0, 1]),
    field(Buffer.concat([field(type), field(point)])),
    field(Buffer.concat([...bare, padding])),
  ]);
  const lines = bytes.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join(
    '\n',
  );
}

function field(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.byteLength);
  return Buffer.concat([length, bytes]);
}
