/**
 * Hashes of keys, tokens, sessions and sign-in attempts. Only these keyed hashes are stored, so that a copy of the
 * database contains no usable secret.
 */
import { createHmac } from 'node:crypto';
import { BugError } from '../../base/errors.ts';

/** Hashes a text. `purpose` makes a hash from one table useless in another. */
export type KeyedHash = (
  purpose: 'api key' | 'device key' | 'enrollment' | 'session' | 'sign-in log' | 'service key',
  text: string,
) => string;

const PEPPER_BYTES = 32;

/** @param pepper 32 random bytes that are kept outside the database */
export function createKeyedHash(pepper: Uint8Array): KeyedHash {
  if (pepper.length < PEPPER_BYTES) throw new BugError('the pepper of the store is too short');
  return (purpose, text) => createHmac('sha256', pepper).update(`${purpose}\n${text}`).digest('base64url');
}
