import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { newSecretText } from '../../../src/api/access/secret-text.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

test('keys and secrets differ each time, use the whole alphabet, and end in their checksum', () => {
  const texts = Array.from({ length: 500 }, () => newSecretText('hfs_'));
  expect(new Set(texts).size).toBe(500);
  expect(new Set(texts.join('').replaceAll('hfs_', '')).size).toBe(62);
  for (const text of texts) {
    expect(text).toMatch(/^hfs_[0-9A-Za-z]{36}$/);
    const value = text
      .slice(34)
      .split('')
      .reduce((sum, digit) => sum * 62 + ALPHABET.indexOf(digit), 0);
    expect(value).toBe(crc32(text.slice(0, 34)));
  }
});
