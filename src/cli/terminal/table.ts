/**
 * Tables of aligned columns for people. Every cell is made printable here, so a hostile name cannot break out of its
 * row, and on a terminal the rows are cut to its width.
 */
import { printable, textWidth, truncateEnd, truncateMiddle } from './terminal.ts';
import type { Style } from './terminal.ts';
import { thousands } from './wording.ts';

export interface Column {
  readonly title: string;
  /** Default: right when all cells are numbers, else left. */
  readonly align?: 'left' | 'right';
  /** Where text may be cut when the table is wider than the terminal; `never` keeps it whole. Default `end`. */
  readonly cut?: 'end' | 'middle' | 'never';
}

/** A number, or text with an optional style, which is applied after alignment and takes no columns. */
export type Cell = string | number | { readonly text: string | number; readonly style: Style };

export interface TableOptions {
  /** Columns of the terminal; undefined when nothing is to be cut. */
  readonly width: number | undefined;
  readonly titleStyle?: Style;
}

const GAP = '  ';
/** Below this a column says nothing any more, so it is not cut further. Nor is any below its title. */
const NARROWEST = 6;

/** The table, each row ending with a newline. Rows may be shorter than the columns. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions,
): string {
  const titles = columns.map((column) => printable(column.title));
  const texts = rows.map((row) => columns.map((_, index) => cellText(row[index] ?? '')));
  const widths = fitWidths(
    columns,
    columns.map((_, index) => Math.max(...[titles, ...texts].map((row) => textWidth(row[index] ?? '')))),
    options.width,
  );
  const rights = columns.map((column, index) =>
    column.align === undefined ? isNumeric(rows, index) : column.align === 'right',
  );

  const line = (cells: readonly string[], styleOf: (index: number) => Style): string => {
    const parts = columns.map((column, index) => {
      const width = widths[index] ?? 0;
      const cut = column.cut === 'middle' ? truncateMiddle : truncateEnd;
      const text = cut(cells[index] ?? '', width);
      const padding = ' '.repeat(width - textWidth(text));
      const styled = text === '' ? '' : styleOf(index)(text);
      return rights[index] === true ? padding + styled : styled + padding;
    });
    return `${parts.join(GAP).trimEnd()}\n`;
  };

  const head = line(titles, () => options.titleStyle ?? unstyled);
  const body = texts.map((cells, row) => line(cells, (index) => cellStyle(rows[row]?.[index])));
  return [head, ...body].join('');
}

/** Takes columns from the widest that may be cut until the row fits, or all are as narrow as they can be. */
function fitWidths(
  columns: readonly Column[],
  natural: readonly number[],
  available: number | undefined,
): readonly number[] {
  if (available === undefined) return natural;
  const widths = [...natural];
  const gaps = GAP.length * Math.max(0, columns.length - 1);
  let excess = widths.reduce((sum, width) => sum + width, gaps) - available;
  while (excess > 0) {
    let widest = -1;
    for (const [index, width] of widths.entries()) {
      const title = textWidth(printable(columns[index]?.title ?? ''));
      if (columns[index]?.cut === 'never' || width <= Math.max(NARROWEST, title)) continue;
      if (widest === -1 || width > (widths[widest] ?? 0)) widest = index;
    }
    if (widest === -1) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

function isNumeric(rows: readonly (readonly Cell[])[], index: number): boolean {
  const cells = rows.map((row) => row[index]).filter((cell) => cell !== undefined && cell !== '');
  return (
    cells.length > 0 &&
    cells.every((cell) => typeof (typeof cell === 'object' ? cell.text : cell) === 'number')
  );
}

/** Numbers get thousands separators: 12,345. */
function cellText(cell: Cell): string {
  const content = typeof cell === 'object' ? cell.text : cell;
  return typeof content === 'number' ? thousands(content) : printable(content);
}

function cellStyle(cell: Cell | undefined): Style {
  return typeof cell === 'object' ? cell.style : unstyled;
}

const unstyled: Style = (text) => text;
