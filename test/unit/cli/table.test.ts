import { describe, expect, it } from 'vitest';

import { renderTable } from '../../../src/cli/terminal/table.ts';
import type { Column } from '../../../src/cli/terminal/table.ts';
import { createStyles, textWidth } from '../../../src/cli/terminal/terminal.ts';

const columns: readonly Column[] = [
  { title: 'ID', cut: 'never' },
  { title: 'Files' },
  { title: 'Path', cut: 'middle' },
];

describe('a table', () => {
  it('aligns text left and numbers right, with thousands apart and no spaces at the end', () => {
    const table = renderTable(
      columns,
      [
        ['a1b2', 12_345, '/home'],
        ['c3', 7, '/srv/mail'],
        ['d4', '', ''],
      ],
      { width: undefined },
    );
    expect(table.split('\n')).toEqual([
      'ID     Files  Path',
      'a1b2  12,345  /home',
      'c3         7  /srv/mail',
      'd4',
      '',
    ]);
  });

  it('aligns as it is told', () => {
    const table = renderTable(
      [
        { title: 'Size', align: 'right' },
        { title: 'N', align: 'left' },
      ],
      [
        ['1 B', 10],
        ['22 KiB', 9],
      ],
      {
        width: undefined,
      },
    );
    expect(table).toBe('  Size  N\n   1 B  10\n22 KiB  9\n');
  });

  it('aligns wide characters by the columns they take', () => {
    const table = renderTable(
      [{ title: 'Name' }, { title: 'N' }],
      [
        ['日本語', 1],
        ['abc', 2],
      ],
      { width: undefined },
    );
    expect(table).toBe('Name    N\n日本語  1\nabc     2\n');
  });

  it('cuts the widest columns to the width of the terminal, but none that must stay whole', () => {
    const table = renderTable(columns, [['0123456789', 5, '/home/ann/papers/2026/thesis.tex']], {
      width: 30,
    });
    const rows = table.trimEnd().split('\n');
    expect(rows[1]).toBe('0123456789      5  /ho…sis.tex');
    expect(rows.every((row) => textWidth(row) <= 30)).toBe(true);
  });

  it('lets rows be too long rather than cutting columns to nothing', () => {
    const rows = renderTable(columns, [['0123456789', 5, '/home/ann/thesis.tex']], { width: 8 })
      .trimEnd()
      .split('\n');
    expect(rows[1]).toBe('0123456789      5  /….tex');
  });

  it('cuts no column below its title, and so no title', () => {
    const wide: readonly Column[] = [{ title: 'Snapshots' }, { title: 'Path', cut: 'never' }];
    const [title] = renderTable(wide, [[3, '/home/ann/thesis.tex']], { width: 20 }).split('\n');
    expect(title).toBe('Snapshots  Path');
  });

  it('keeps a hostile name in its cell', () => {
    const table = renderTable([{ title: 'Na\nme' }], [['a\nb\u001b[2J\u202e']], { width: undefined });
    expect(table).toBe('Na\\nme\na\\nb\\x1b[2J\\u202e\n');
  });

  it('applies styles without moving anything', () => {
    const { red, bold } = createStyles(true);
    const table = renderTable(
      [{ title: 'State' }, { title: 'N' }],
      [
        [
          { text: 'bad', style: red },
          { text: 10, style: bold },
        ],
        ['good', 2],
      ],
      { width: undefined, titleStyle: bold },
    );
    expect(table).toBe(
      [
        '\u001b[1mState\u001b[22m   \u001b[1mN\u001b[22m',
        '\u001b[31mbad\u001b[39m    \u001b[1m10\u001b[22m',
        'good    2',
        '',
      ].join('\n'),
    );
  });

  it('is its titles when there are no rows', () => {
    expect(renderTable(columns, [], { width: 80 })).toBe('ID  Files  Path\n');
  });
});
