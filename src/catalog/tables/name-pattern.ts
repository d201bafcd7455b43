/** Search for names: part of a name, or a wildcard pattern for all of it, whatever the case of the letters. */

import { isAscii } from '../../base/byte-path.ts';

export interface NamePattern {
  /** What was asked for, folded. */
  readonly folded: string;
  /** The longest text that every name that matches has in it, folded; empty when there is none. */
  readonly literal: string;
  /** Every name that has the text in it matches. */
  readonly isPart: boolean;
  /** Characters that a name must have, and may have, to match. */
  readonly least: number;
  readonly most: number;
  /** Whether a folded name matches. */
  matches(folded: string): boolean;
}

/** Undefined for an empty query, which every name matches. */
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

/** Text in one composed form, without the difference of case. */
export function foldText(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  // A final sigma is the one letter whose lower case depends on what surrounds it.
  return text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

/** The folded form of a name as stored; what is not UTF-8 in it is U+FFFD. */
export function foldName(name: Buffer): string {
  return foldText(name.toString('utf8'));
}

/** Parts with anything between them. Each is taken at its first place: a later one can gain nothing. */
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
