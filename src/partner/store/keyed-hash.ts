/**
 * Keys, tokens, sessions and who tried to sign in are known by a keyed hash alone: a copy of the database yields none that
 * can be used.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { BugError } from '../../base/errors.ts';

/** Of one text; `purpose` keeps a hash of one table from meaning anything in another. */
export type KeyedHash = (
  purpose: 'api key' | 'device key' | 'enrollment' | 'session' | 'sign-in log' | 'service key',
  text: string,
) => string;

const PEPPER_BYTES = 32;

/** `pepper`: 32 random bytes that are kept outside the database. */
export function createKeyedHash(pepper: Uint8Array): KeyedHash {
  if (pepper.length < PEPPER_BYTES) throw new BugError('the pepper of the store is too short');
  return (purpose, text) => createHmac('sha256', pepper).update(`${purpose}\n${text}`).digest('base64url');
}

export function newPepper(): Buffer {
  return randomBytes(PEPPER_BYTES);
}
