import { expect, test } from 'vitest';
import { csvOf } from '../../../../src/partner/resources/csv.ts';

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

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1'])('%j is no formula', (text) => {
  const [, cell = ''] = csvOf(['a'], [[text]]).split('a\r\n');
  expect(cell.replace(/^"/, '').startsWith("'")).toBe(true);
  expect(cell).toContain(text);
});

test('a formula that would be hidden in a quoted cell is none either', () => {
  expect(csvOf(['a'], [['=HYPERLINK("http://x","y")']])).toBe(`a\r\n"'=HYPERLINK(""http://x"",""y"")"\r\n`);
});
