/** Compiles searches for names: a part of a name, or a wildcard pattern for a whole name, both case-insensitive. */

import { isAscii } from '../../base/byte-path.ts';

export interface NamePattern {
  /** The query, folded. */
  readonly folded: string;
  /** The longest text that every matching name contains, folded; empty when there is none. */
  readonly literal: string;
  /** Whether every name that contains the literal matches. */
  readonly isPart: boolean;
  /** The least and the most characters of a matching name. */
  readonly least: number;
  readonly most: number;
  /** Whether a folded name matches. */
  matches(folded: string): boolean;
}

/** Compiles a query; undefined for an empty one, which every name matches. */
export function compileNamePattern(query: string): NamePattern | undefined {
  const folded = foldText(query);
  if (folded === '') return undefined;
  if (!/[*?]/.test(folded)) {
    const least = Array.from(folded).length;
    const any = { isPart: true, least, most: Number.POSITIVE_INFINITY };
    return { folded, literal: folded, ...any, matches: (name) => name.includes(folded) };
  }
  const parts = folded.split(/\*+/).map((part) => Array.from(part));
  const literal = folded.split(/[*?]+/).reduce((a, b) => (b.length > a.length ? b : a));
  const least = parts.reduce((sum, part) => sum + part.length, 0);
  const most = parts.length === 1 ? least : Number.POSITIVE_INFINITY;
  return { folded, literal, isPart: false, least, most, matches: (name) => matchesParts(parts, name) };
}

/** Text in one composed form, without differences of case. */
export function foldText(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  // The final sigma is the one letter whose lower case depends on its surroundings.
  return text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

/** The folded form of a name as stored; what is not UTF-8 in it is U+FFFD. */
export function foldName(name: Buffer): string {
  return foldText(name.toString('utf8'));
}

/**
 * Whether a name consists of the parts, with anything between them. Each part is taken at its first place, as a later
 * one would gain nothing.
 */
function matchesParts(parts: readonly (readonly string[])[], name: string): boolean {
  const text = isAscii(name) ? name : Array.from(name);
  const first = parts[0] ?? [];
  const last = parts.at(-1) ?? [];
  if (parts.length === 1) return text.length === first.length && isAt(first, text, 0);
  const end = text.length - last.length;
  if (end < first.length || !isAt(first, text, 0) || !isAt(last, text, end)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    while (at + part.length <= end && !isAt(part, text, at)) at += 1;
    if (at + part.length > end) return false;
    at += part.length;
  }
  return true;
}

function isAt(part: readonly string[], text: string | readonly string[], at: number): boolean {
  return part.every((character, i) => character === '?' || text[at + i] === character);
}
