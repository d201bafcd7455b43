/**
 * Renders tables as CSV (RFC 4180) for spreadsheets. Spreadsheets take text that begins like a formula for one, which
 * must not happen. Some ignore invisible characters before it, take full-width signs for plain ones, or, depending on
 * the country, separate cells by semicolons or tabs, so that a formula begins behind one. Such text gets an apostrophe,
 * which makes it plain text. Quotation marks keep semicolons and tabs within their cell in programs that respect them.
 */

export type Cell = string | number;

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

export function csvOf(names: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [names, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('');
}

function cellText(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const safe = cell.replace(FORMULA, "'").replaceAll(LATER_FORMULA, "'");
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const SIGNS = String.raw`=+\-@\u2212\uff0b\uff0d\uff1d\uff20\ufe63\ufe62\ufe66\ufe6b`;
const UNSEEN = String.raw`[\s\p{C}\p{Z}'"]`;
const FORMULA = new RegExp(String.raw`^(?=${UNSEEN}*[${SIGNS}]|[\t\r\n])`, 'u');
const CELL_END = String.raw`[;|\t\r\n]`;
const LATER_FORMULA = new RegExp(`(?<=${CELL_END})(?=(?:(?!${CELL_END})${UNSEEN})*[${SIGNS}])`, 'gu');
const NEEDS_QUOTES = /[",;|\t\r\n]/;
