/** Encrypts secrets that the service has to read again, before they are stored: a copy of the store alone reveals none. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { StateError } from '../../base/errors.ts';

/** The kind of a sealed text. A text sealed as one kind cannot be opened as another. */
export type SealedKind = 'webhook secret' | 'second factor';

export interface Sealing {
  /** Encrypts a text. `owner` is the id of its record; in another record it cannot be opened. */
  seal(kind: SealedKind, owner: string, text: string): string;
  /** @throws {StateError} STATE_DAMAGED for a text that was not sealed with this key, kind and owner */
  open(kind: SealedKind, owner: string, sealed: string): string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM with a random nonce for each text. A sealed text is nonce, ciphertext and tag in base64url. */
export function createSealing(key: Uint8Array): Sealing {
  return {
    seal(kind, owner, text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(placeOf(kind, owner));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url');
    },
    open(kind, owner, sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      try {
        const nonce = bytes.subarray(0, NONCE_BYTES);
        const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
        decipher.setAAD(placeOf(kind, owner));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        const body = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
        return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new StateError('STATE_DAMAGED', `A ${kind} of the store cannot be opened`, {
          hint: 'The store belongs to another key of the service: restore the key file that belongs to it.',
          cause,
        });
      }
    },
  };
}

function placeOf(kind: SealedKind, owner: string): Buffer {
  return Buffer.from(`${kind}\n${owner}`);
}
