import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { charactersOf, inForm } from '../../../src/exclude/name-forms.ts';
import { asByteString, bytesOfText } from '../../../src/base/byte-path.ts';

const anyBytes = fc
  .uint8Array({ maxLength: 12 })
  .map((bytes) => asByteString(Buffer.from(bytes).toString('latin1')));

test('reads UTF-8 names as the text they are', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(charactersOf(bytesOfText(text))).toBe(text);
    }),
  );
});

test('makes one character of each stray byte', () => {
  expect(Array.from(charactersOf(asByteString('a\u00e9b')))).toHaveLength(3);
  expect(Array.from(charactersOf(asByteString('\u00f0\u009f\u0098')))).toHaveLength(3);
  // A surrogate in UTF-8 and an overlong slash are no characters.
  expect(Array.from(charactersOf(asByteString('\u00ed\u00a0\u0080')))).toHaveLength(3);
  expect(Array.from(charactersOf(asByteString('\u00c0\u00af')))).toHaveLength(2);
});

test('keeps different bytes different', () => {
  const backToBytes = (text: string): string =>
    Array.from(text, (character) =>
      /[\udc80-\udcff]/u.test(character)
        ? String.fromCharCode(character.charCodeAt(0) - 0xdc00)
        : bytesOfText(character),
    ).join('');
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      expect(backToBytes(charactersOf(bytes))).toBe(bytes);
    }),
    { numRuns: 1000 },
  );
});

test('folds characters and not bytes', () => {
  expect(inForm(bytesOfText('Ä'), 'folded')).toBe('ä');
  // 0xc3 and 0xe3 are the two cases of one letter in Latin-1.
  expect(inForm(asByteString('\u00c3'), 'folded')).not.toBe(inForm(asByteString('\u00e3'), 'folded'));
});
