import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asByteString, bytesOfText, isUtf8, joinBytes, textOfBytes } from '../../../src/base/byte-path.ts';
import { POSIX_PATHS } from '../../../src/base/tree-path.ts';

const anyBytes = fc
  .uint8Array({ maxLength: 40 })
  .map((bytes) => asByteString(Buffer.from(bytes).toString('latin1')));

describe('a byte string', () => {
  it('has one character for each byte that the kernel gets', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), (text) => {
        const wellFormed = text.toWellFormed();
        const bytes = bytesOfText(wellFormed);
        expect(Buffer.from(bytes, 'latin1')).toEqual(Buffer.from(wellFormed, 'utf8'));
        expect(textOfBytes(bytes)).toBe(wellFormed);
        expect(isUtf8(bytes)).toBe(true);
      }),
    );
  });

  it('reaches node:fs with the same bytes, ASCII as it stands', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const path = POSIX_PATHS.toCall(bytes);
        expect(typeof path === 'string' ? Buffer.from(path, 'utf8') : path).toEqual(
          Buffer.from(bytes, 'latin1'),
        );
      }),
    );
    expect(POSIX_PATHS.toCall(asByteString('plain'))).toBe('plain');
  });

  it('that is not UTF-8 says so and can still be shown', () => {
    const bytes = asByteString('a\xff');

    expect(isUtf8(bytes)).toBe(false);
    expect(textOfBytes(bytes)).toBe('a\uFFFD');
  });

  it('sorts by bytes', () => {
    const names = ['\u{1F600}', '\uFFFD', 'z', 'é'].map((name) => bytesOfText(name)).sort();
    const byBuffer = [...names].sort((a, b) =>
      Buffer.compare(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1')),
    );

    expect(names).toEqual(byBuffer);
    expect(names.map((name) => textOfBytes(name))).toEqual(['z', 'é', '\uFFFD', '\u{1F600}']);
  });

  it('joins below the root, below a directory and below nothing', () => {
    const join = (parent: string, name: string): string =>
      joinBytes(asByteString(parent), asByteString(name));

    expect([join('/', 'a'), join('/a', 'b'), join('', 'a')]).toEqual(['/a', '/a/b', 'a']);
  });
});
