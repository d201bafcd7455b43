import { expect, test } from 'vitest';
import { hasNothingToSee, isOneLine } from '../../../src/base/one-line.ts';

test.each(['a\r\nb', 'a\nb', 'a\u0085b', 'a\u2028b', 'a\u2029b', 'a\u0000b', 'a\u001b[31mb', 'a\ud800b'])(
  '%j is no line',
  (text) => expect(isOneLine(text)).toBe(false),
);

test.each(['Bakery Moreau', "Ana's Café – Lyon", '株式会社', 'می\u200cخواهم', '👩\u200d🍳'])(
  '%j is a name',
  (text) => {
    expect([isOneLine(text), hasNothingToSee(text)]).toEqual([true, false]);
  },
);

test.each(['', '  ', '\u00a0\u200b', '\u3164', '\u2800\u200d'])('%j shows nothing', (text) =>
  expect(hasNothingToSee(text)).toBe(true),
);
