/** Searches blocks of names for those that match. */
import { mark, type Marks } from '../tables/marks.ts';
import type { NameBlock } from '../tables/name-block.ts';
import { isAscii } from '../../base/byte-path.ts';
import type { NamePattern } from '../tables/name-pattern.ts';

/** Characters that are counted to find the rare ones. */
const SAMPLE = 16_384;
/** Bytes of the longest character in UTF-8. */
const LONGEST = 4;

/** What to look for in blocks of names. */
export interface NameSearch {
  readonly pattern: NamePattern;
  /** The text to find: bytes in UTF-8, as Latin-1. */
  readonly needle: string;
  /** Where in the needle the search begins: it is fastest if its first character is rare. */
  readonly from: number;
}

/** @param sample one of the blocks */
export function prepareNameSearch(pattern: NamePattern, sample: NameBlock | undefined): NameSearch {
  const needle = Buffer.from(pattern.literal).toString('latin1');
  return { pattern, needle, from: rarest(needle, sample?.text ?? '') };
}

/** Marks the nodes of a block whose names match. */
export function findNames(block: NameBlock, search: NameSearch, marks: Marks): void {
  if (search.needle === '') findByPattern(block, search.pattern, marks);
  // Zero bytes separate the names, so no name contains one.
  else if (!search.needle.includes('\0')) findByNeedle(block, search, marks);
}

function findByPattern({ nodes, starts, text }: NameBlock, pattern: NamePattern, marks: Marks): void {
  const [least, most] = [pattern.least, pattern.most * LONGEST];
  for (let i = 0; i < nodes.length; i += 1) {
    const length = (starts[i + 1] ?? 0) - (starts[i] ?? 0) - 1;
    if (length < least || length > most) continue;
    if (pattern.matches(nameAt(text, starts, i))) mark(marks, nodes[i] ?? 0);
  }
}

function findByNeedle(
  { nodes, starts, text }: NameBlock,
  { pattern, needle, from }: NameSearch,
  marks: Marks,
): void {
  const rest = needle.slice(from);
  let i = 0;
  for (let at = text.indexOf(rest, from); at !== -1;) {
    if (from > 0 && !text.startsWith(needle, at - from)) {
      at = text.indexOf(rest, at + 1);
      continue;
    }
    while ((starts[i + 1] ?? Number.POSITIVE_INFINITY) <= at) i += 1;
    if (pattern.isPart || pattern.matches(nameAt(text, starts, i))) mark(marks, nodes[i] ?? 0);
    i += 1;
    at = text.indexOf(rest, (starts[i] ?? text.length) + from);
  }
}

/** The index of the character in a needle that is rarest in a text. Never the last one, which alone would be found too often. */
function rarest(needle: string, text: string): number {
  const counts = new Uint32Array(256);
  for (let i = 0; i < Math.min(SAMPLE, text.length); i += 1) {
    const character = text.charCodeAt(i);
    counts[character] = (counts[character] ?? 0) + 1;
  }
  let best = 0;
  for (let i = 1; i < needle.length - 1; i += 1) {
    if ((counts[needle.charCodeAt(i)] ?? 0) < (counts[needle.charCodeAt(best)] ?? 0)) best = i;
  }
  return best;
}

function nameAt(text: string, starts: Uint32Array, i: number): string {
  const bytes = text.slice(starts[i], (starts[i + 1] ?? 1) - 1);
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}
