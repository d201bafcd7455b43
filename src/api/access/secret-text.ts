/**
 * Creates API keys and secrets as text: a prefix that names the kind, 30 random characters, and a checksum of 6
 * characters, by which scanners for leaked secrets tell a real one from a similar word.
 */
import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECK_LENGTH = 6;

/** API key and secret of the Desktop API; API key, device key and enrollment token of the Partner API. */
export type SecretPrefix = 'hfk_' | 'hfs_' | 'hfp_' | 'hfd_' | 'hfe_';

export function newSecretText(prefix: SecretPrefix): string {
  let text: string = prefix;
  for (let index = 0; index < RANDOM_LENGTH; index += 1) text += ALPHABET.charAt(randomInt(ALPHABET.length));
  return text + checksum(text);
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < CHECK_LENGTH; index += 1) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
