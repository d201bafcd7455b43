/** The rules for keys and prefixes, the same for every destination. They are checked before anything is touched. */
import { createHash } from 'node:crypto';
import { DestinationError } from '../base/errors.ts';

const partCharacters = /^[a-z0-9._-]*$/;

/** Whether the text is a valid part of a key: what stands between two `/`. */
export function isKeyPart(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && partCharacters.test(name);
}

/** Throws kind `unsupported` unless `key` is a valid key. */
export function checkKey(key: string): void {
  if (!key.split('/').every(isKeyPart)) throw malformed('key', key);
}

/** Throws kind `unsupported` unless `prefix` could be the beginning of a valid key; the empty prefix is every key. */
export function checkPrefix(prefix: string): void {
  const parts = prefix.split('/');
  const last = parts.pop() ?? '';
  if (!parts.every(isKeyPart) || !partCharacters.test(last)) throw malformed('prefix', prefix);
}

/** Whether the key ends in the SHA-256 of `body`, so that every writer of this key stores the same bytes. */
export function isNamedByBytes(key: string, body: Uint8Array): boolean {
  return key.endsWith(createHash('sha256').update(body).digest('hex'));
}

function malformed(what: string, text: string): DestinationError {
  return new DestinationError('unsupported', `${JSON.stringify(text)} is not a valid ${what}`, {
    op: `check ${what}`,
    hint: 'Keys are parts of a-z, 0-9, ".", "_" and "-" joined by "/". Please report this as a bug.',
  });
}
