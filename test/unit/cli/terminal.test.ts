import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { asByteString, bytesOfText } from '../../../src/base/byte-path.ts';
import {
  createStyles,
  isTerminal,
  jsonLine,
  printable,
  printableBytes,
  terminalWidth,
  textWidth,
  truncateEnd,
  truncateMiddle,
  wantsColor,
} from '../../../src/cli/terminal/terminal.ts';
import type { OutputStream } from '../../../src/cli/terminal/terminal.ts';

const write = () => true;

describe('what the terminal can do', () => {
  const terminal: OutputStream = { isTTY: true, columns: 132, write };

  it('is asked of the stream and of TERM', () => {
    expect(isTerminal(terminal, {})).toBe(true);
    expect(isTerminal(terminal, { TERM: 'dumb' })).toBe(false);
    expect(isTerminal({ write }, {})).toBe(false);
  });

  it.each([
    [{}, true],
    [{ NO_COLOR: '' }, true],
    [{ NO_COLOR: '1' }, false],
    [{ NO_COLOR: '0' }, false],
    [{ TERM: 'dumb' }, false],
  ])('with %j colours: %s', (env, color) => {
    expect(wantsColor(terminal, env)).toBe(color);
    expect(wantsColor({ write }, env)).toBe(false);
  });

  it('has a width only on a terminal, and a usual one where it does not say', () => {
    expect(terminalWidth(terminal)).toBe(132);
    expect(terminalWidth({ isTTY: true, write })).toBe(80);
    expect(terminalWidth({ isTTY: true, columns: 0, write })).toBe(80);
    expect(terminalWidth({ columns: 132, write })).toBeUndefined();
  });

  it('styles text only in colour', () => {
    expect(createStyles(true).red('no')).toBe('\u001b[31mno\u001b[39m');
    expect(createStyles(true).red('')).toBe('');
    expect(createStyles(false).red('no')).toBe('no');
  });
});

describe('printable', () => {
  it.each([
    ['line\nfeed\r\ttab', 'line\\nfeed\\r\\ttab'],
    ['\u001b[31mred\u001b[0m', '\\x1b[31mred\\x1b[0m'],
    ['\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
    ['\u0000\u007f', '\\x00\\x7f'],
    ['\u009b2J', '\\u009b2J'],
    ['photo\u202egpj.exe', 'photo\\u202egpj.exe'],
    ['\u2066x\u2069\u200e\u200f\u061c', '\\u2066x\\u2069\\u200e\\u200f\\u061c'],
    ['a\u200bb\u00adc\ufeff', 'a\\u200bb\\u00adc\\ufeff'],
    ['\u2028\u2029', '\\u2028\\u2029'],
    ['half \ud83d pair', 'half \\ud83d pair'],
    ['\u{e0041}\u{fffff}', '\\u{e0041}\\u{fffff}'],
    ['a\u200db \u200c', 'a\\u200db \\u200c'],
  ])('shows %j escaped', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it.each([
    'C:\\new\\x1b',
    'Ünïcödé',
    'e\u0301',
    '日本語.txt',
    'שלום',
    '👩‍💻 🏳️‍🌈',
    'می‌خواهم',
    '\u00a0',
    '\ufffd',
    '',
  ])('leaves %j as it is', (text) => {
    expect(printable(text)).toBe(text);
  });

  it('lets nothing through that could drive a terminal, and changes nothing when applied again', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)))
        .map((all) => all.join('')),
      fc
        .array(fc.constantFrom('\u200d', '\u200c', '\u001b', '\u202e', 'é', 'a', '\u{1f600}', '\ud83d'))
        .map((all) => all.join('')),
    );
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = printable(text);
        expect(shown).not.toMatch(
          /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/u,
        );
        expect(printable(shown)).toBe(shown);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('printableBytes', () => {
  it.each([
    ['caf\u00e9', 'caf\\xe9'],
    ['a\u00ff\u00feb', 'a\\xff\\xfeb'],
    // Cut off, overlong, a surrogate, beyond Unicode.
    ['\u00e6\u0097', '\\xe6\\x97'],
    ['\u00c0\u00af', '\\xc0\\xaf'],
    ['\u00ed\u00a0\u0080', '\\xed\\xa0\\x80'],
    ['\u00f4\u0090\u0080\u0080', '\\xf4\\x90\\x80\\x80'],
    ['\u009b2J', '\\x9b2J'],
    // U+009B in UTF-8 is a control character of its own.
    ['\u00c2\u009b2J', '\\u009b2J'],
  ])('shows the bytes %j as %s', (bytes, shown) => {
    expect(printableBytes(asByteString(bytes))).toBe(shown);
  });

  it('reads UTF-8, U+FFFD included', () => {
    for (const text of ['Ünïcödé 日本語 😀', '\ufffd', 'plain'])
      expect(printableBytes(bytesOfText(text))).toBe(text);
  });

  it('agrees with a strict decoder on what is UTF-8', () => {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 8 }),
      fc.array(fc.constantFrom(0x41, 0x80, 0x9f, 0xa0, 0xbf, 0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4), {
        maxLength: 6,
      }),
    );
    let valid = 0;
    fc.assert(
      fc.property(bytes, (list) => {
        const raw = Buffer.from(list);
        let text: string | undefined;
        try {
          text = decoder.decode(raw);
        } catch {
          text = undefined;
        }
        const shown = printableBytes(asByteString(raw.toString('latin1')));
        if (text === undefined) expect(shown).toMatch(/\\x[89a-f][0-9a-f]/);
        else expect(shown).toBe(printable(text));
        if (text !== undefined) valid += 1;
      }),
      { numRuns: 3000 },
    );
    expect(valid).toBeGreaterThan(100);
  });
});

describe('jsonLine', () => {
  it('is harmless and reads back as the same value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const line = jsonLine({ path: text });
        expect(JSON.parse(line)).toEqual({ path: text });
        expect(line.endsWith('\n')).toBe(true);
        expect(printable(line.slice(0, -1))).toBe(line.slice(0, -1));
      }),
    );
    expect(jsonLine(['\u009b', '\u{e0041}'])).toBe('["\\u009b","\\udb40\\udc41"]\n');
  });
});

describe('widths', () => {
  it.each([
    ['', 0],
    ['plain', 5],
    ['Ünïcödé', 7],
    ['e\u0301', 1],
    ['日本語', 6],
    ['한글', 4],
    ['ｗｉｄｅ', 8],
    ['ﾊﾝｶｸ', 4],
    ['😀', 2],
    ['שלום', 4],
    ['…', 1],
  ])('of %j is %i', (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  it.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 5, 'abcd…'],
    ['abcdef', 1, '…'],
    ['abcdef', 0, ''],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  ])('cuts the end of %j to %i columns', (text, width, cut) => {
    expect(truncateEnd(text, width)).toBe(cut);
  });

  it.each([
    ['/home/ann/papers/thesis.tex', 27, '/home/ann/papers/thesis.tex'],
    ['/home/ann/papers/thesis.tex', 16, '/home…thesis.tex'],
    ['/home/ann/papers/thesis.tex', 2, '…x'],
    ['/home/ann/papers/thesis.tex', 0, ''],
    ['日本語日本語', 7, '日…本語'],
  ])('cuts the middle of %j to %i columns', (text, width, cut) => {
    expect(truncateMiddle(text, width)).toBe(cut);
  });

  it('never exceeds the width asked for', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 40 }),
        fc.integer({ min: 0, max: 30 }),
        (raw, width) => {
          const text = printable(raw);
          expect(textWidth(truncateEnd(text, width))).toBeLessThanOrEqual(width);
          expect(textWidth(truncateMiddle(text, width))).toBeLessThanOrEqual(width);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
