/**
 * Credentials of the Desktop API: an API key, which is listed, and a secret, which is shown once and stored only as a
 * hash.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { RequestError } from '../../base/errors.ts';
import { hasNothingToSee, isOneLine } from '../../base/one-line.ts';
import type { Credential, CredentialStore } from '../../db/credentials.ts';
import { newSecretText } from './secret-text.ts';

export interface CredentialInfo {
  readonly api_key: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
}

export interface NewCredential {
  readonly api_key: string;
  readonly name: string;
  /** Shown only here: it cannot be retrieved again. */
  readonly secret: string;
}

export interface Credentials {
  /** @throws {RequestError} INVALID_REQUEST when the name is empty or too long */
  create(name: string): NewCredential;
  list(): readonly CredentialInfo[];
  /**
   * Gives a key a new secret. The old secret and its tokens become invalid at once.
   * @throws {RequestError} NOT_FOUND
   */
  rotate(apiKey: string): NewCredential;
  /**
   * Revokes a key and its tokens at once.
   * @throws {RequestError} NOT_FOUND
   */
  revoke(apiKey: string): void;
  /**
   * The credential, if the secret is correct and the credential is not revoked. Takes the same time for keys that do
   * not exist.
   */
  verify(apiKey: string, secret: string): Credential | undefined;
  /** The credential of a token, unless it was revoked or its secret has changed since. */
  current(apiKey: string, generation: number): Credential | undefined;
}

const LONGEST_NAME = 100;
/** Precision of `last_used_at`: a login should not wait for the disk each time. */
const USED_STEP_MS = 60_000;

/** @param key keys the hashes of secrets */
export function createCredentials(store: CredentialStore, key: Uint8Array, clock: Clock): Credentials {
  const hash = (secret: string): Buffer => createHmac('sha256', key).update(secret, 'utf8').digest();
  /** Compared with when the key does not exist, so that both cases take the same time. */
  const nobody = hash('');

  return {
    create(name) {
      requireName(name);
      const apiKey = newSecretText('hfk_');
      const secret = newSecretText('hfs_');
      store.add({ apiKey, name, secretHash: hash(secret), createdAt: clock.now() });
      return { api_key: apiKey, name, secret };
    },

    list: () => store.list().map(toInfo),

    rotate(apiKey) {
      const secret = newSecretText('hfs_');
      const credential = store.rotate(apiKey, hash(secret));
      if (credential === undefined) throw noSuchKey();
      return { api_key: credential.apiKey, name: credential.name, secret };
    },

    revoke(apiKey) {
      if (!store.revoke(apiKey, clock.now())) throw noSuchKey();
    },

    verify(apiKey, secret) {
      const credential = store.find(apiKey);
      const right = timingSafeEqual(credential?.secretHash ?? nobody, hash(secret));
      if (credential === undefined || !right || credential.revokedAt !== null) return undefined;
      const nowMs = clock.now();
      if (Math.abs(nowMs - (credential.lastUsedAt ?? 0)) >= USED_STEP_MS) store.used(apiKey, nowMs);
      return credential;
    },

    current(apiKey, generation) {
      const credential = store.find(apiKey);
      if (credential === undefined || credential.revokedAt !== null) return undefined;
      return credential.generation === generation ? credential : undefined;
    },
  };
}

function requireName(name: string): void {
  if (!hasNothingToSee(name) && name.length <= LONGEST_NAME && isOneLine(name)) return;
  throw new RequestError('INVALID_REQUEST', 'The name of the credential is not valid', {
    hint: `Give it a name of 1 to ${LONGEST_NAME} characters on one line.`,
  });
}

function noSuchKey(): RequestError {
  return new RequestError('NOT_FOUND', 'There is no active credential with that API key', {
    hint: 'List the credentials to see the active ones.',
  });
}

function toInfo({ apiKey, name, createdAt, lastUsedAt, revokedAt }: Credential): CredentialInfo {
  return {
    api_key: apiKey,
    name,
    created_at: createdAt,
    last_used_at: lastUsedAt,
    revoked_at: revokedAt,
  };
}
