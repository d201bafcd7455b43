/**
 * Codes of the second factor (RFC 6238): six digits, a new one every 30 s, with SHA-1, which all authenticator apps
 * support.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { BugError } from '../../base/errors.ts';

const STEP_MS = 30_000;
const DIGITS = 6;
/** RFC 4226 requires at least 16 bytes, and recommends 20. */
const SECRET_BYTES = 20;
/** A code is valid for one more step, for differing clocks and people who type slowly, and one step early. */
const TOLERANCE = [0, -1, 1] as const;

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A new secret in base32, as apps expect it. */
export function newTotpSecret(): string {
  const bits = [...randomBytes(SECRET_BYTES)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32.charAt(Number.parseInt(five, 2))).join('');
}

/** A link for authenticator apps (Key URI format). */
export function totpUri(secret: string, account: string): string {
  const label = encodeURIComponent(`Holdfast Partner:${account}`);
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent('Holdfast Partner')}`;
}

/** The time step that a code belongs to; undefined when it is not valid at this time. */
export function totpStep(secret: string, given: string, nowMs: number): number | undefined {
  const code = given.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(code)) return undefined;
  const current = Math.floor(nowMs / STEP_MS);
  const near = TOLERANCE.map((difference) => current + difference);
  return near.find((step) => timingSafeEqual(Buffer.from(totpCode(secret, step)), Buffer.from(code)));
}

export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const number = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7f_ff_ff_ff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

function fromBase32(text: string): Buffer {
  const bits = Array.from(text, (letter) => {
    const five = BASE32.indexOf(letter);
    if (five === -1) throw new BugError('a secret of a second factor is not in base32');
    return five.toString(2).padStart(5, '0');
  });
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((eight) => Number.parseInt(eight, 2)));
}
