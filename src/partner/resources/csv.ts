/** Tables as text (RFC 4180), for spreadsheets: these take text that begins like a formula for one, which it must not become. */

export type Cell = string | number;

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

export function csvOf(names: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [names, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('');
}

function cellText(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const safe = /^[=+\-@\t\r\n]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
