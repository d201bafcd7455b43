/** The Range header of RFC 9110, as far as one range of bytes goes. */

export interface ContentRange {
  readonly start: number;
  /** Of the first byte after it. */
  readonly end: number;
}

/**
 * The range that is asked for of `size` bytes; undefined when the whole is to be sent, which is the answer to other
 * units, to several ranges and to what is malformed too.
 */
export function readRange(
  header: string | undefined,
  size: number,
): ContentRange | 'unsatisfiable' | undefined {
  const match = /^bytes\s*=\s*(?:(\d+)\s*)?-\s*(?:(\d+)\s*)?$/i.exec(header ?? '');
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return undefined;
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}
