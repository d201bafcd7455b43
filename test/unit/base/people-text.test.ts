import { describe, expect, test } from 'vitest';
import {
  isLossy,
  looseText,
  peopleBytes,
  peopleText,
  withoutFinalLineBreak,
} from '../../../src/base/people-text.ts';

const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');

describe('a text that a person wrote', () => {
  test('is the same in each encoding that says what it is', () => {
    for (const bytes of [
      Buffer.from('Zoë 🗝\r\n'),
      Buffer.from('\uFEFFZoë 🗝\r\n'),
      utf16('\uFEFFZoë 🗝\r\n'),
      utf16('\uFEFFZoë 🗝\r\n').swap16(),
    ])
      expect(peopleText(bytes)).toEqual({ text: 'Zoë 🗝\r\n' });
    expect(peopleText(Buffer.of())).toEqual({ text: '' });
    expect(peopleText(Buffer.from('\uFEFF\uFEFFx'))).toEqual({ text: '\uFEFFx' });
  });

  test('is refused where bytes would be lost, cut or guessed', () => {
    for (const bytes of [
      Buffer.from('Zoë', 'latin1'),
      Buffer.from('Zoë').subarray(0, -1),
      utf16('\uFEFFx').subarray(0, -1),
      utf16('\uFEFF\uDC00'),
      Buffer.of(0xff, 0xfe, 0xff),
    ])
      expect(peopleText(bytes)).toEqual({ fault: 'not-utf8' });
    for (const bytes of [utf16('x'), utf16('x').swap16(), utf16('\uFEFFa\0')])
      expect(peopleText(bytes)).toEqual({ fault: 'zero-bytes' });
  });

  test('about names of files keeps bytes that are no text', () => {
    expect(peopleBytes(Buffer.from('\u00ff*\n', 'latin1'))).toBe('\u00ff*\n');
    expect(peopleBytes(Buffer.from('\uFEFFä\n'))).toBe('\u00c3\u00a4\n');
    expect(peopleBytes(utf16('\uFEFFä\n'))).toBe('\u00c3\u00a4\n');
    expect(peopleBytes(utf16('*.key\n'))).toBeUndefined();
  });

  test('of another program may have comments in any encoding', () => {
    expect(looseText(Buffer.from('\uFEFFhost key # M\u00fcller', 'latin1'))).toContain('key # M');
    expect(looseText(utf16('\uFEFFhost'))).toBe('host');
  });
});

test('the line break behind a secret is none of it, and only that one', () => {
  expect(['x', 'x\n', 'x\r\n', 'x\n\r\n\n'].map(withoutFinalLineBreak)).toEqual(['x', 'x', 'x', 'x\n\r\n']);
  expect(withoutFinalLineBreak('x \n')).toBe('x ');
  expect(withoutFinalLineBreak('a\nb')).toBe('a\nb');
});

test('a text that Node.js made of other bytes, or that is half a character, is known', () => {
  expect([Buffer.of(0xe4).toString(), 'a\uD800', 'ä🗝'].map(isLossy)).toEqual([true, true, false]);
});
