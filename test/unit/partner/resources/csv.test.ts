import { expect, test } from 'vitest';
import { csvOf } from '../../../../src/partner/resources/usage-figures.ts';

test('lines end as RFC 4180 has them, and what would end a cell is quoted', () => {
  expect(
    csvOf(
      ['a', 'b'],
      [
        ['plain', 1],
        ['x,y', 0],
        ['say "so"', -5],
        ['two\nlines', 2],
      ],
    ),
  ).toBe('a,b\r\nplain,1\r\n"x,y",0\r\n"say ""so""",-5\r\n"two\nlines",2\r\n');
});

const FORMULAS = [
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
  '\uff1d1+1',
  '\uff0b1',
  '\u2212 1',
  '\uff201',
];
const UNSEEN = ['', ' ', '\u00a0', '\u200b', '\ufeff', '\u0000', '\u202e', '"', "'", ' \u3000'];

test.each(UNSEEN.flatMap((before) => FORMULAS.map((text) => before + text)))('%j is no formula', (text) => {
  const [, cell = ''] = csvOf(['a'], [[text]]).split('a\r\n');
  expect(cell.replace(/^"/, '').startsWith("'")).toBe(true);
  const plain = (shown: string): string => shown.replaceAll("'", '').replaceAll('""', '"');
  expect(plain(cell)).toContain(plain(text));
});

test.each([';', '\t', '|', '\n', '\r\n'])('what follows %j is none where that ends a cell', (between) => {
  for (const text of FORMULAS) {
    const line = csvOf(['a'], [[`x${between}${text}`]]);
    expect(line.startsWith(`a\r\n"x`)).toBe(true);
    const cells = line.slice(3).split(between).slice(1);
    expect(cells.filter((cell) => /^[\s\p{C}]*[=+\-@\uff1d\uff0b\u2212\uff20]/u.test(cell))).toEqual([]);
  }
});

test('text that people write is left as it is', () => {
  expect(csvOf(['a'], [["Bakery Moreau - Lyon, 'south'"], ['a=b'], ['1+1']])).toBe(
    `a\r\n"Bakery Moreau - Lyon, 'south'"\r\na=b\r\n1+1\r\n`,
  );
});

test('a formula that would be hidden in a quoted cell is none either', () => {
  expect(csvOf(['a'], [['=HYPERLINK("http://x","y")']])).toBe(`a\r\n"'=HYPERLINK(""http://x"",""y"")"\r\n`);
});
