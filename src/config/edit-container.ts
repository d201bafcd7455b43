/**
 * Inserts an entry into an object or list of a text, or removes one, keeping commas, indentation and comments right.
 */
import { createScanner, type Node } from 'jsonc-parser';
import { TOKEN } from './parse.ts';

export interface NewChild {
  /** The name, for an entry of an object. */
  readonly key?: string;
  readonly value: unknown;
}

/** The value as text for the line that contains `offset`: further lines get that line's indentation. */
export function rendered(text: string, offset: number, value: unknown): string {
  return render(value, lineIndent(text, offset), text);
}

/** Adds a child that gets the position `index`. */
export function insertChild(text: string, container: Node, index: number, child: NewChild): string {
  const children = container.children ?? [];
  const previous = children[index - 1];
  const next = children[index];
  const layout = layoutOf(text, container);
  const written = writtenChild(text, child, layout);
  if (previous !== undefined) return insertAfter(text, container, { previous, next, written, layout });
  if (next !== undefined) {
    return layout.inline
      ? splice(text, next.offset, 0, `${written}, `)
      : splice(text, afterComments(text, container.offset + 1, next.offset), 0, `${layout.break}${written},`);
  }
  return insertFirst(text, container, written, layout);
}

interface Layout {
  /** All entries are on one line. */
  readonly inline: boolean;
  readonly indent: string;
  /** The text between two entries, after the comma. */
  readonly break: string;
}

function layoutOf(text: string, container: Node): Layout {
  const end = container.offset + container.length;
  const inline = !text.slice(container.offset, end).includes('\n');
  const own = (container.children ?? []).find(({ offset }) => isFirstOnLine(text, offset));
  const indent =
    own === undefined ? lineIndent(text, container.offset) + indentUnit(text) : lineIndent(text, own.offset);
  // An empty container is spread over several lines.
  const stays = inline && (container.children ?? []).length > 0;
  return { inline: stays, indent, break: stays ? ' ' : lineBreak(text) + indent };
}

function writtenChild(text: string, { key, value }: NewChild, { inline, indent }: Layout): string {
  const shown = inline ? JSON.stringify(value) : render(value, indent, text);
  return key === undefined ? shown : `${JSON.stringify(key)}: ${shown}`;
}

function render(value: unknown, indent: string, text: string): string {
  return JSON.stringify(value, null, indentUnit(text)).replaceAll('\n', lineBreak(text) + indent);
}

interface Neighbours {
  readonly previous: Node;
  readonly next: Node | undefined;
  readonly written: string;
  readonly layout: Layout;
}

/** A comment after the previous entry belongs to it, so the new entry follows that comment. */
function insertAfter(text: string, container: Node, { previous, next, written, layout }: Neighbours): string {
  const from = endOf(previous);
  const to = next?.offset ?? endOf(container) - 1;
  const anchor = afterComments(text, from, to);
  const comma = findComma(text, from, to);
  if (comma !== undefined && comma < anchor) return splice(text, anchor, 0, `${layout.break}${written},`);
  const added = splice(text, anchor, 0, layout.break + written);
  return splice(added, from, 0, ',');
}

function insertFirst(text: string, container: Node, written: string, layout: Layout): string {
  const open = container.offset + 1;
  const close = endOf(container) - 1;
  const comments = lastComment(text, open, close);
  const closing = lineBreak(text) + lineIndent(text, container.offset);
  if (comments === undefined) return splice(text, open, close - open, layout.break + written + closing);
  const rest = text.slice(comments, close);
  return splice(
    text,
    comments,
    close - comments,
    layout.break + written + (rest.includes('\n') ? rest : closing),
  );
}

/** Removes the child at `index` with its comma, and lines that become empty. */
export function removeChild(text: string, container: Node, index: number): string {
  const children = container.children ?? [];
  const child = children[index];
  if (child === undefined) return text;
  const previous = children[index - 1];
  const until = children[index + 1]?.offset ?? endOf(container) - 1;
  const commaAfter = findComma(text, endOf(child), until);
  let end = endOf(child);
  let changed = text;
  if (commaAfter !== undefined) {
    const close = isSpace(text.slice(end, commaAfter));
    if (close) end = commaAfter + 1;
    else changed = splice(changed, commaAfter, 1, '');
  }
  changed = cutOut(changed, child.offset, end);
  if (commaAfter !== undefined || previous === undefined) return changed;
  const commaBefore = findComma(text, endOf(previous), child.offset);
  return commaBefore === undefined ? changed : splice(changed, commaBefore, 1, '');
}

/** Cuts out a part, together with lines that held nothing else, or the spaces next to it. */
function cutOut(text: string, start: number, end: number): string {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const newline = text.indexOf('\n', end);
  const lineEnd = newline === -1 ? text.length : newline + 1;
  if (isSpace(text.slice(lineStart, start)) && isSpace(text.slice(end, lineEnd)))
    return splice(text, lineStart, lineEnd - lineStart, '');
  const spacesAfter = /^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0;
  const closes = /^[}\]]/.test(text.slice(end + spacesAfter));
  if (!closes) return splice(text, start, end - start + spacesAfter, '');
  const spacesBefore = /[ \t]*$/.exec(text.slice(lineStart, start))?.[0].length ?? 0;
  return splice(text, start - spacesBefore, end - start + spacesBefore, '');
}

/** The position after a comma and the comments that begin on the line of `from`. */
function afterComments(text: string, from: number, to: number): number {
  let anchor = from;
  for (const { token, offset, end } of tokens(text, from, to)) {
    if (token === TOKEN.lineBreak) break;
    if (token !== TOKEN.space) anchor = end;
    // A comment of several lines ends on another line.
    if (token === TOKEN.blockComment && text.slice(offset, end).includes('\n')) break;
  }
  return anchor;
}

function lastComment(text: string, from: number, to: number): number | undefined {
  return tokens(text, from, to)
    .filter(({ token }) => token === TOKEN.lineComment || token === TOKEN.blockComment)
    .at(-1)?.end;
}

function findComma(text: string, from: number, to: number): number | undefined {
  return tokens(text, from, to).find(({ token }) => token === TOKEN.comma)?.offset;
}

interface Token {
  readonly token: number;
  readonly offset: number;
  readonly end: number;
}

/** The tokens between two entries. */
function tokens(text: string, from: number, to: number): readonly Token[] {
  const found: Token[] = [];
  const scanner = createScanner(text.slice(0, to), false);
  scanner.setPosition(from);
  for (;;) {
    const token: number = scanner.scan();
    if (token === TOKEN.end) return found;
    found.push({ token, offset: scanner.getTokenOffset(), end: scanner.getPosition() });
  }
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

function splice(text: string, offset: number, length: number, content: string): string {
  return text.slice(0, offset) + content + text.slice(offset + length);
}

function isSpace(text: string): boolean {
  return /^\s*$/.test(text);
}

function lineBreak(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function lineIndent(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? '';
}

function isFirstOnLine(text: string, offset: number): boolean {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  return lineStart > 0 && isSpace(text.slice(lineStart, offset));
}

/** The first indentation in the text; two spaces when there is none. */
function indentUnit(text: string): string {
  const first = /\n([ \t]+)["{[\]}/]/.exec(text)?.[1];
  return first === undefined || first.length > 10 ? '  ' : first;
}
