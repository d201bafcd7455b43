/**
 * Matches a gitignore pattern, cut into path segments, against a path.
 *
 * The meaning is that of gitignore(5), with git's behaviour where that leaves it open (an unclosed bracket never
 * matches, `[]]` contains a bracket, `**` is special only when it fills a segment). Regular expressions are not used,
 * because patterns come from files in the tree: this matcher takes at most pattern length times name length steps for a
 * segment, and segments times segments for a path, whatever the pattern.
 *
 * A string here is a sequence of code points. Given bytes (one character each) a `?` is one byte, as in git; given text
 * it is one character.
 */

/** One path segment of a pattern, in the form that is quickest to match. */
export type Segment =
  /** The name itself. */
  | { readonly kind: 'literal'; readonly text: string }
  /** Literal parts with anything between them: `*.o` is `['', '.o']`. */
  | { readonly kind: 'stars'; readonly parts: readonly string[] }
  /** Anything with `?` or brackets in it. */
  | { readonly kind: 'elements'; readonly elements: readonly Element[] }
  /** `**`: any number of segments, none included. */
  | { readonly kind: 'globstar' };

/** A code point, `*`, `?` or a bracket expression. */
type Element = number | typeof star | typeof anyCharacter | CharacterClass;

const star = 'star';
const anyCharacter = 'any';

interface CharacterClass {
  readonly negated: boolean;
  /** Pairs of first and last code point. */
  readonly ranges: readonly (readonly [number, number])[];
}

export interface GlobOptions {
  /** Applied to literal text; the names to match must have been folded in the same way. */
  readonly fold: ((text: string) => string) | undefined;
}

/** Why a pattern can never match anything. */
export type GlobFault = 'trailing backslash' | 'unclosed bracket' | 'unknown character class';

const anySegment: Segment = { kind: 'stars', parts: ['', ''] };
const globstar: Segment = { kind: 'globstar' };

/**
 * Cuts a pattern, without `!`, leading and trailing `/`, into its segments; or tells why it can never match. The last
 * segment is never a globstar, because a trailing `**` needs something to match.
 */
export function compileGlob(pattern: string, options: GlobOptions): readonly Segment[] | GlobFault {
  const segments: Segment[] = [];
  let elements: Element[] = [];
  /** Characters of the star run that fills the segment so far, or 0. */
  let onlyStars = 0;

  const endSegment = (next: 'slash' | 'escaped slash' | 'end'): void => {
    if (onlyStars < 2) {
      segments.push(segmentOf(elements));
    } else {
      // Only `**/` may match nothing; before an escaped slash or the end it matches at least one name.
      segments.push(globstar);
      if (next !== 'slash') segments.push(anySegment);
    }
    elements = [];
    onlyStars = 0;
  };

  let at = 0;
  while (at < pattern.length) {
    const character = pattern[at];
    if (character === '/') {
      endSegment('slash');
      at += 1;
    } else if (character === '*') {
      const end = endOfStars(pattern, at);
      onlyStars = elements.length === 0 ? end - at : 0;
      elements.push(star);
      at = end;
    } else if (character === '\\') {
      if (at + 1 === pattern.length) return 'trailing backslash';
      if (pattern[at + 1] === '/') {
        endSegment('escaped slash');
        at += 2;
        continue;
      }
      const literal = codePoint(pattern, at + 1);
      pushLiteral(elements, literal, options);
      onlyStars = 0;
      at += 1 + widthOf(literal);
    } else if (character === '[') {
      const bracket = parseBracket(pattern, at + 1);
      if (typeof bracket === 'string') return bracket;
      elements.push(bracket.characters);
      onlyStars = 0;
      at = bracket.end;
    } else if (character === '?') {
      elements.push(anyCharacter);
      onlyStars = 0;
      at += 1;
    } else {
      const literal = codePoint(pattern, at);
      pushLiteral(elements, literal, options);
      onlyStars = 0;
      at += widthOf(literal);
    }
  }
  endSegment('end');
  return segments;
}

function endOfStars(pattern: string, start: number): number {
  let end = start;
  while (pattern[end] === '*') end += 1;
  return end;
}

function pushLiteral(elements: Element[], literal: number, { fold }: GlobOptions): void {
  if (fold === undefined) {
    elements.push(literal);
    return;
  }
  for (const character of fold(String.fromCodePoint(literal))) elements.push(codePoint(character, 0));
}

/** The code point at `at`, which must lie inside the text. */
function codePoint(text: string, at: number): number {
  return text.codePointAt(at) ?? 0;
}

function widthOf(point: number): 1 | 2 {
  return point > 0xff_ff ? 2 : 1;
}

function segmentOf(elements: readonly Element[]): Segment {
  const parts = [''];
  for (const element of elements) {
    if (element === star) parts.push('');
    else if (typeof element === 'number') parts[parts.length - 1] += String.fromCodePoint(element);
    else return { kind: 'elements', elements };
  }
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return { kind: 'literal', text: only };
  return { kind: 'stars', parts };
}

const posixClasses: ReadonlyMap<string, readonly (readonly [number, number])[]> = new Map(
  Object.entries({
    alnum: ['09', 'AZ', 'az'],
    alpha: ['AZ', 'az'],
    blank: ['  ', '\t\t'],
    cntrl: ['\u0000\u001f', '\u007f\u007f'],
    digit: ['09'],
    graph: ['!~'],
    lower: ['az'],
    print: [' ~'],
    punct: ['!/', ':@', '[`', '{~'],
    // Without vertical tab and form feed, as git has it.
    space: ['  ', '\t\n', '\r\r'],
    upper: ['AZ'],
    xdigit: ['09', 'AF', 'af'],
  }).map(([name, pairs]) => [name, pairs.map((pair) => [codePoint(pair, 0), codePoint(pair, 1)] as const)]),
);

/** Parses the bracket expression whose first member is at `start`. A `]` as first member does not end it. */
function parseBracket(
  pattern: string,
  start: number,
): { readonly characters: CharacterClass; readonly end: number } | GlobFault {
  const negated = pattern[start] === '!' || pattern[start] === '^';
  const ranges: (readonly [number, number])[] = [];
  const first = negated ? start + 1 : start;
  /** The member at which a `-` would start a range; undefined after a range or a named class. */
  let previous: number | undefined;
  let at = first;
  while (at < pattern.length) {
    const character = pattern[at];
    if (character === ']' && at > first) return { characters: { negated, ranges }, end: at + 1 };

    if (character === '-' && previous !== undefined && at + 1 < pattern.length && pattern[at + 1] !== ']') {
      at += pattern[at + 1] === '\\' ? 2 : 1;
      if (at >= pattern.length) return 'unclosed bracket';
      const last = codePoint(pattern, at);
      // A backward range is empty, but its first end has already been added as a member.
      ranges.push([previous, last]);
      previous = undefined;
      at += widthOf(last);
      continue;
    }

    if (character === '[' && pattern[at + 1] === ':') {
      const close = pattern.indexOf(']', at + 2);
      if (close === -1) return 'unclosed bracket';
      if (close > at + 2 && pattern[close - 1] === ':') {
        const named = posixClasses.get(pattern.slice(at + 2, close - 1));
        if (named === undefined) return 'unknown character class';
        ranges.push(...named);
        previous = undefined;
        at = close + 1;
        continue;
      }
    }

    if (character === '\\') at += 1;
    if (at >= pattern.length) return 'unclosed bracket';
    previous = codePoint(pattern, at);
    ranges.push([previous, previous]);
    at += widthOf(previous);
  }
  return 'unclosed bracket';
}

/**
 * Whether a name (without `/`) matches a segment. `folded`: the name and the pattern are folded, so brackets, which
 * keep the case in which they were written, are tried with both cases.
 */
export function matchSegment(segment: Segment, name: string, folded: boolean): boolean {
  if (segment.kind === 'literal') return name === segment.text;
  if (segment.kind === 'stars') return matchParts(segment.parts, name);
  if (segment.kind === 'elements') return matchElements(segment.elements, name, folded);
  return true;
}

function matchParts(parts: readonly string[], name: string): boolean {
  const last = parts.length - 1;
  const head = parts[0] ?? '';
  const tail = parts[last] ?? '';
  const end = name.length - tail.length;
  if (end < head.length || !name.startsWith(head) || !name.endsWith(tail)) return false;
  let at = head.length;
  for (let index = 1; index < last; index += 1) {
    const part = parts[index] ?? '';
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** Greedy, with backtracking to the latest star only: an earlier star cannot match more than a later one can. */
function matchElements(elements: readonly Element[], name: string, folded: boolean): boolean {
  let element = 0;
  let at = 0;
  let starElement = -1;
  let starAt = 0;
  while (at < name.length) {
    const wanted = elements[element];
    if (wanted === star) {
      starElement = element;
      starAt = at;
      element += 1;
      continue;
    }
    const point = codePoint(name, at);
    if (wanted !== undefined && matchesElement(wanted, point, folded)) {
      element += 1;
      at += widthOf(point);
    } else if (starElement !== -1) {
      starAt += widthOf(codePoint(name, starAt));
      at = starAt;
      element = starElement + 1;
    } else {
      return false;
    }
  }
  while (elements[element] === star) element += 1;
  return element === elements.length;
}

function matchesElement(element: Exclude<Element, typeof star>, point: number, folded: boolean): boolean {
  if (typeof element === 'number') return element === point;
  if (element === anyCharacter) return true;
  const held = inRanges(element.ranges, point) || (folded && inRanges(element.ranges, upperCase(point)));
  return held !== element.negated;
}

function inRanges(ranges: CharacterClass['ranges'], point: number): boolean {
  return ranges.some(([first, last]) => point >= first && point <= last);
}

function upperCase(point: number): number {
  const upper = String.fromCodePoint(point).toUpperCase();
  return upper.length === widthOf(point) ? codePoint(upper, 0) : point;
}

/**
 * Whether the names from `path[from]` on match all segments, with backtracking to the latest globstar as for stars in a name.
 */
export function matchSegments(
  segments: readonly Segment[],
  path: readonly string[],
  from: number,
  folded: boolean,
): boolean {
  let segment = 0;
  let at = from;
  let globstarSegment = -1;
  let globstarAt = 0;
  while (at < path.length) {
    const wanted = segments[segment];
    const name = path[at] ?? '';
    if (wanted?.kind === 'globstar') {
      globstarSegment = segment;
      globstarAt = at;
      segment += 1;
    } else if (wanted !== undefined && matchSegment(wanted, name, folded)) {
      segment += 1;
      at += 1;
    } else if (globstarSegment !== -1) {
      globstarAt += 1;
      at = globstarAt;
      segment = globstarSegment + 1;
    } else {
      return false;
    }
  }
  while (segments[segment]?.kind === 'globstar') segment += 1;
  return segment === segments.length;
}
