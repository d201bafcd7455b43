import { createHash } from 'node:crypto';
import { RepositoryError } from '../base/errors.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** 32 secret bytes in the form that people write down: 8 groups of 7 letters and digits, checksum included. */
export function formatRecoveryCode(secret: Uint8Array): string {
  const bytes = Buffer.concat([secret, checksum(secret)]);
  let text = '';
  for (let bit = 0; bit < bytes.length * 8; bit += 5) {
    let value = 0;
    for (let i = 0; i < 5; i += 1)
      value = (value << 1) | (((bytes[(bit + i) >> 3] ?? 0) >> (7 - ((bit + i) & 7))) & 1);
    text += ALPHABET[value];
  }
  return (text.match(/.{7}/g) ?? []).join('-');
}

/**
 * The secret behind a recovery code, however it was typed.
 * @throws {RepositoryError} WRONG_PASSPHRASE when it has a typing mistake
 */
export function parseRecoveryCode(text: string): Buffer {
  const letters = text
    .toUpperCase()
    .replace(/[\s-]/g, '')
    .replaceAll('0', 'O')
    .replaceAll('1', 'I')
    .replaceAll('8', 'B');
  const bytes = Buffer.alloc(35);
  const wellFormed =
    letters.length === 56 && Array.from(letters).every((letter) => ALPHABET.includes(letter));
  if (wellFormed) {
    for (const [i, letter] of Array.from(letters).entries()) {
      const value = ALPHABET.indexOf(letter);
      for (let k = 0; k < 5; k += 1) {
        const bit = i * 5 + k;
        if (((value >> (4 - k)) & 1) === 1) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (7 - (bit & 7)));
      }
    }
  }
  const secret = bytes.subarray(0, 32);
  if (!wellFormed || !checksum(secret).equals(bytes.subarray(32))) {
    throw new RepositoryError('WRONG_PASSPHRASE', 'This recovery code has a typing mistake', {
      hint: 'Compare it letter by letter with the recovery kit; it has 8 groups of 7 letters and digits.',
    });
  }
  return Buffer.from(secret);
}

/**
 * True for text in the shape of a recovery code, which may be given wherever a passphrase is. Without its dashes its
 * checksum must be right as well, since a passphrase may be any text.
 */
export function looksLikeRecoveryCode(text: string): boolean {
  if (/^([A-Z2-70189]{7}-){7}[A-Z2-70189]{7}$/i.test(text.trim())) return true;
  try {
    parseRecoveryCode(text);
    return true;
  } catch {
    return false;
  }
}

function checksum(secret: Uint8Array): Buffer {
  return createHash('sha256').update(secret).digest().subarray(0, 3);
}
