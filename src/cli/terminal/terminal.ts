/**
 * What a terminal can do and what may be written to it: colour, width, the cells a text takes, and text made
 * harmless. Every name that comes from a disk or a repository passes through here before it is shown.
 */
import { textAndBytes, type ByteString } from '../../base/byte-path.ts';
import { writtenPath } from '../../base/tree-path.ts';

/** The part of a Node output stream that is used; `process.stdout` and `process.stderr` are such streams. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  on?(event: 'resize', listener: () => void): unknown;
  off?(event: 'resize', listener: () => void): unknown;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Columns where the terminal does not say: the width of the oldest ones. */
const DEFAULT_WIDTH = 80;

/** True when a person watches and the cursor can be moved. */
export function isTerminal(stream: OutputStream, env: Environment): boolean {
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

/** Whether to colour: on terminals, unless NO_COLOR has any text (https://no-color.org). */
export function wantsColor(stream: OutputStream, env: Environment): boolean {
  return isTerminal(stream, env) && (env['NO_COLOR'] ?? '') === '';
}

/** Columns of the terminal; undefined when the output goes elsewhere and nothing needs to be cut. */
export function terminalWidth(stream: OutputStream): number | undefined {
  if (stream.isTTY !== true) return undefined;
  const columns = stream.columns ?? 0;
  return columns > 0 ? columns : DEFAULT_WIDTH;
}

// ---- Styles ---------------------------------------------------------------------------------------------------

/** Marks up text that is already printable; without colour the text itself. */
export type Style = (text: string) => string;

export interface Styles {
  readonly bold: Style;
  readonly dim: Style;
  readonly red: Style;
  readonly green: Style;
  readonly yellow: Style;
  readonly cyan: Style;
}

export function createStyles(color: boolean): Styles {
  const style =
    (on: number, off: number): Style =>
    (text) =>
      color && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: style(1, 22),
    dim: style(2, 22),
    red: style(31, 39),
    green: style(32, 39),
    yellow: style(33, 39),
    cyan: style(36, 39),
  };
}

// ---- Harmless text --------------------------------------------------------------------------------------------

// Control, format (bidi, invisible, tags), surrogate and unassigned characters, and line and paragraph separators.
// The two joiners are left between visible characters beyond ASCII, where scripts and emoji need them.
const harmful =
  /[\p{Cc}\p{Cs}\p{Cn}\p{Zl}\p{Zp}[\p{Cf}--[\u200c\u200d]]]|(?<![^\p{ASCII}\p{C}\p{Z}])[\u200c\u200d]|[\u200c\u200d](?![^\p{ASCII}\p{C}\p{Z}])/gv;
const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * The text with everything that could drive or deceive a terminal shown as an escape: `\n`, `\x1b`, `\u202e`. What is
 * harmless stays as it is, backslashes too, so that the function may be applied again. For names kept as bytes use
 * `printableBytes`.
 */
export function printable(text: string): string {
  return text.replace(harmful, escapeCharacter);
}

/** The same for a byte string: read as UTF-8, and bytes that are not UTF-8 shown as `\xff`. */
export function printableBytes(bytes: ByteString): string {
  const text = textAndBytes(bytes, (byte) => `\\x${byte.toString(16)}`);
  return printable(text);
}

/** The same for a path in a tree, as this system writes it. */
export function printablePath(path: ByteString): string {
  return printableBytes(writtenPath(path));
}

/** One line of NDJSON that is as harmless on a terminal as printable text, and reads back as the same value. */
export function jsonLine(value: unknown): string {
  return `${harmlessJson(JSON.stringify(value))}\n`;
}

/** The same, indented over several lines. */
export function jsonText(value: unknown): string {
  // Line breaks occur only between values: in strings they are escaped.
  return `${JSON.stringify(value, null, 2).split('\n').map(harmlessJson).join('\n')}\n`;
}

function harmlessJson(json: string): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(harmful, (character) => character.split('').map(escapeUnit).join(''));
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  // A surrogate that stands for one byte of a typed path.
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`;
  if (code < 0x80) return shortEscapes[character] ?? `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
}

// ---- Widths ---------------------------------------------------------------------------------------------------

// East Asian Wide and Fullwidth (UAX #11) by block, and characters shown as emoji by default.
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;
const zero = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]$/u;
/** The one-column characters of ASCII. */
const plainAscii = /^[ -~]*$/;

/** Columns a printable text takes on a terminal. */
export function textWidth(text: string): number {
  if (plainAscii.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

function characterWidth(character: string): number {
  if (zero.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** At most `width` columns of a printable text, its end replaced by … when it is longer. */
export function truncateEnd(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  return width < 1 ? '' : `${fitting(shownCharacters(text), width - 1).join('')}…`;
}

/** At most `width` columns of a printable text, its middle replaced by …; more is left of its end, as suits paths. */
export function truncateMiddle(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width < 1) return '';
  const characters = shownCharacters(text);
  const start = fitting(characters, Math.floor((width - 1) / 3)).join('');
  const end = fitting(characters.toReversed(), width - 1 - textWidth(start));
  return `${start}…${end.toReversed().join('')}`;
}

/** Splits a text into characters as they are shown: a letter with its marks, or an emoji of several code points, is one. */
function shownCharacters(text: string): readonly string[] {
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}

/** Made when it is first needed, which for most commands is never. */
let graphemes: Intl.Segmenter | undefined;

function fitting(characters: readonly string[], width: number): readonly string[] {
  let left = width;
  const end = characters.findIndex((character) => {
    left -= textWidth(character);
    return left < 0;
  });
  return end === -1 ? characters : characters.slice(0, end);
}
