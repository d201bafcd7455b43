import { describe, expect, it } from 'vitest';
import { OutputLines } from '../../../src/base/output-lines.ts';

/** What is told of output that comes in these pieces; `|` stands before what is told at the end. */
function told(pieces: readonly string[], change: object = {}): readonly string[] {
  const lines: string[] = [];
  const output = new OutputLines((more) => lines.push(...more), {
    first: 3,
    last: 2,
    lineBytes: 10,
    ...change,
  });
  for (const piece of pieces) {
    const bytes = Buffer.from(piece);
    output.take(bytes);
    // It is used again.
    bytes.fill('#');
  }
  lines.push('|');
  output.end();
  return lines;
}

describe('the output of another program', () => {
  it('is told line by line, whatever the pieces', () => {
    expect(told(['a\nb', 'c\r\n', '\n'])).toEqual(['a', 'bc', '', '|']);
    expect(told([])).toEqual(['|']);
    expect(told(['no line end'.slice(0, 5), ' end'])).toEqual(['|', 'no li end']);
    expect(told(['\u00e4'.repeat(2).slice(0, 1), '\u00e4\n'])).toEqual(['\u00e4\u00e4', '|']);
  });

  it('of a program that writes its progress over and over shows the last of it', () => {
    expect(told(['1%\r2%\r3%\r\n'])).toEqual(['3%', '|']);
  });

  it('has its first lines, its last ones, and a word on what is between', () => {
    expect(told(['1\n2\n3\n4\n5\n'])).toEqual(['1', '2', '3', '|', '4', '5']);
    expect(told(['1\n2\n3\n4\n5', '\n6\n7'])).toEqual([
      '1',
      '2',
      '3',
      '|',
      '(4 B of output left out here)',
      '6',
      '7',
    ]);
    const many = Array.from({ length: 30_000 }, (_, index) => `${index}\n`);
    expect(told([many.join('')])).toEqual([
      '0',
      '1',
      '2',
      '|',
      '(164.9 KiB of output left out here)',
      '29998',
      '29999',
    ]);
    expect(told(many)).toEqual(told([many.join('')]));
  });

  it('is cut where a line is too long, and goes on behind it', () => {
    expect(told(['x'.repeat(11), 'y'.repeat(100_000), '\nz\n'])).toEqual(['x'.repeat(10), 'z', '|']);
    expect(told(['1\n2\n3\n', 'x'.repeat(100_000), 'the very end'])).toEqual([
      '1',
      '2',
      '3',
      '|',
      '(97.7 KiB of output left out here)',
      'e very end',
    ]);
  });
});
