/**
 * A terminal as a test sees it: keeps the screen that a stream of text would leave, understands only the few control
 * sequences a progress line may use, and throws at any other, so that text which drives the terminal is found.
 */
import type { OutputStream } from '../../src/cli/terminal/terminal.ts';

const ESCAPE = '\u001b';
const COLOUR = new RegExp(`^${ESCAPE}\\[\\d+m$`);
/** A sequence that a terminal would act on, or one character. */
const PIECE = new RegExp(`${ESCAPE}\\[[\\d;?]*[@-~]|${ESCAPE}.?|[^]`, 'gu');

export interface FakeTerminal extends OutputStream {
  readonly isTTY: true;
  readonly columns: number;
  /** The rows that were written to, without spaces at their ends and empty rows below the last text. */
  screen(): readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
  /** Calls of `write` so far. */
  readonly writes: number;
  readonly resizeListeners: number;
  /** Another width, told to the listeners. A reflowing terminal wraps its rows anew, others cut them. */
  resize(columns: number, options: { readonly reflow: boolean }): void;
}

interface Row {
  text: string[];
  /** The row goes on in the next because the text reached the edge. */
  wrapped: boolean;
}

export function createFakeTerminal(columns: number): FakeTerminal {
  let width = columns;
  let rows: Row[] = [{ text: [], wrapped: false }];
  let row = 0;
  let column = 0;
  let writes = 0;
  const listeners = new Set<() => void>();

  const rowAt = (index: number): Row => {
    while (rows.length <= index) rows.push({ text: [], wrapped: false });
    return rows[index] ?? { text: [], wrapped: false };
  };
  const nextRow = () => {
    row += 1;
    column = 0;
    rowAt(row);
  };
  const put = (character: string) => {
    if (column >= width) {
      rowAt(row).wrapped = true;
      nextRow();
    }
    const { text } = rowAt(row);
    while (text.length < column) text.push(' ');
    text[column] = character;
    column += 1;
  };
  const obey = (sequence: string) => {
    if (sequence === '\n') nextRow();
    else if (sequence === '\r') column = 0;
    else if (sequence === '\u001b[K' || sequence === '\u001b[J') {
      // After a full row the cursor waits on its last character, which is cleared too.
      rowAt(row).text.length = Math.min(rowAt(row).text.length, column, width - 1);
      if (sequence === '\u001b[J') rows.length = row + 1;
    } else if (sequence === '\u001b[1A') row = Math.max(0, row - 1);
    else if (!COLOUR.test(sequence)) throw new Error(`the terminal was sent ${JSON.stringify(sequence)}`);
  };

  /** Rows wrapped at another width; the cursor stays on its character. */
  const reflow = (next: number) => {
    const old = rows;
    rows = [];
    let line = '';
    let cursorIn: number | undefined;
    let at = { row: 0, column: 0 };
    for (const [index, { text, wrapped }] of old.entries()) {
      if (index === row) cursorIn = line.length + column;
      line += text.join('');
      if (wrapped) continue;
      const from = rows.length;
      do {
        rows.push({ text: line.slice(0, next).split(''), wrapped: line.length > next });
        line = line.slice(next);
      } while (line !== '');
      if (cursorIn !== undefined) at = { row: from + Math.floor(cursorIn / next), column: cursorIn % next };
      cursorIn = undefined;
    }
    ({ row, column } = at);
  };

  return {
    isTTY: true,
    get columns() {
      return width;
    },
    get writes() {
      return writes;
    },
    get cursor() {
      return { row, column };
    },
    get resizeListeners() {
      return listeners.size;
    },
    write(text) {
      writes += 1;
      for (const [piece] of text.matchAll(PIECE)) {
        if (/^\p{Cc}/u.test(piece)) obey(piece);
        else put(piece);
      }
    },
    on: (_event, listener) => listeners.add(listener),
    off: (_event, listener) => listeners.delete(listener),
    resize(next, options) {
      if (options.reflow) reflow(next);
      else for (const one of rows) one.text.length = Math.min(one.text.length, next);
      width = next;
      for (const listener of listeners) listener();
    },
    screen() {
      const lines = rows.map(({ text }) => text.join('').trimEnd());
      while (lines.at(-1) === '') lines.pop();
      return lines;
    },
  };
}
