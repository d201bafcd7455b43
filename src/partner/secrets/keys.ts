/** Opens the key of the service, which all instances share. Each use gets its own key derived from it. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import { createPrivateFile, readPrivateFile } from '../../api/access/private-file.ts';
import { StateError } from '../../base/errors.ts';
import { createSealing, type Sealing } from './sealing.ts';

export interface PartnerKeys {
  /** Keys the hashes of keys, tokens and sessions (keyed-hash.ts). */
  readonly pepper: Uint8Array;
  readonly cursors: Uint8Array;
  /** Keys the seals that the settings page issues and verifies (console/seals.ts). */
  readonly forms: Uint8Array;
  readonly sealing: Sealing;
  readonly signing: SigningKey;
}

/** Ed25519 key that signs plans and orders, and nothing else. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** Thumbprint of the public key (RFC 7638). */
  readonly kid: string;
}

const KEY_BYTES = 32;
/** The PKCS #8 header before the 32 bytes of an Ed25519 private key (RFC 8410, section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Reads the key file, or creates it.
 * @throws {StateError} when it is open to others, belongs to another user, or is damaged
 */
export async function openPartnerKeys(file: string): Promise<PartnerKeys> {
  const known = await readPrivateFile(file, KEY_BYTES);
  if (known !== undefined) return keysFrom(known);
  await createPrivateFile(file, randomBytes(KEY_BYTES));
  const made = await readPrivateFile(file, KEY_BYTES);
  if (made !== undefined) return keysFrom(made);
  throw new StateError('READ_ERROR', `${file} disappeared right after it was created`, {
    hint: 'Check what else writes to its directory.',
  });
}

export function keysFrom(key: Uint8Array): PartnerKeys {
  return {
    pepper: derive(key, 'hashes of keys'),
    cursors: derive(key, 'cursors'),
    forms: derive(key, 'forms of the settings page'),
    sealing: createSealing(derive(key, 'sealed secrets')),
    signing: signingKey(derive(key, 'signatures')),
  };
}

function derive(key: Uint8Array, use: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, new Uint8Array(), `holdfast partner v1: ${use}`, KEY_BYTES));
}

function signingKey(seed: Uint8Array): SigningKey {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_HEAD, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = createPublicKey(privateKey);
  const { crv, kty, x } = publicKey.export({ format: 'jwk' });
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
  return { privateKey, publicKey, kid };
}
