import { describe, expect, it } from 'vitest';
import { RepositoryError } from '../../../src/base/errors.ts';
import {
  formatRecoveryCode,
  looksLikeRecoveryCode,
  parseRecoveryCode,
} from '../../../src/codec/recovery-code.ts';
import { secretBytes } from '../../support/test-keys.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function isRefused(code: string): boolean {
  try {
    parseRecoveryCode(code);
    return false;
  } catch (error) {
    return error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE';
  }
}

describe('a recovery code', () => {
  const secret = secretBytes('recovery');
  const code = formatRecoveryCode(secret);

  it('is eight groups of seven that give the secret back', () => {
    expect(code).toMatch(/^([A-Z2-7]{7}-){7}[A-Z2-7]{7}$/);
    expect(parseRecoveryCode(code)).toEqual(secret);
    expect(looksLikeRecoveryCode(` ${code}\n`)).toBe(true);
    expect(looksLikeRecoveryCode('correct-horse-battery-staple')).toBe(false);
  });

  it('is read in lower case, without dashes, with spaces, and with 0, 1 and 8 for O, I and B', () => {
    const sloppy = code.replaceAll('-', ' ').replaceAll('O', '0').replaceAll('I', '1').replaceAll('B', '8');

    expect(parseRecoveryCode(sloppy.toLowerCase())).toEqual(secret);
    expect(parseRecoveryCode(`\t${code.replaceAll('-', '')}\r\n`)).toEqual(secret);
    expect(looksLikeRecoveryCode(sloppy)).toBe(true);
    // With a mistake and no dashes it may be a passphrase.
    expect(looksLikeRecoveryCode(sloppy.replace(/^./, (first) => (first === 'Q' ? 'R' : 'Q')))).toBe(false);
  });

  it('is refused with any single letter another one', () => {
    let tried = 0;
    for (let i = 0; i < code.length; i += 1) {
      if (code[i] === '-') continue;
      for (const letter of LETTERS) {
        if (letter === code[i]) continue;
        expect(isRefused(code.slice(0, i) + letter + code.slice(i + 1))).toBe(true);
        tried += 1;
      }
    }
    expect(tried).toBe(56 * 31);
  });

  it('is refused with two neighbours changed over, a letter missing or one too many', () => {
    const plain = code.replaceAll('-', '');
    for (let i = 0; i + 1 < plain.length; i += 1) {
      const [a, b] = [plain[i] ?? '', plain[i + 1] ?? ''];
      if (a !== b) expect(isRefused(plain.slice(0, i) + b + a + plain.slice(i + 2))).toBe(true);
      expect(isRefused(plain.slice(0, i) + plain.slice(i + 1))).toBe(true);
      expect(isRefused(`${plain.slice(0, i)}A${plain.slice(i)}`)).toBe(true);
    }
  });

  it('is refused when it is something else', () => {
    for (const text of ['', '-', '9'.repeat(56), 'ß'.repeat(28), `${code}A`])
      expect(isRefused(text)).toBe(true);
  });
});
